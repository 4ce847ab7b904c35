# SPDX-License-Identifier: GPL-2.0
#
# Event-driven servers that run out of CPU time: each answer is compressed anew.
# The server has one of the guest's CPUs to itself, so that the clients are not
# starved.  Such a server accepts as fast as it can and queues inside itself, unless
# it is given a limit of connections: Service.workers, 0 for none.
"""Servers at CPU saturation."""

import random

from guest import PORT
from servers import MODULES, Server

PAGE_BYTES = 1 << 16


class Saturated(Server):
    """One that serves a page of text that does not compress well."""

    path = "/index.html"

    def conf(self):
        """Its configuration."""
        raise NotImplementedError

    def command(self, conf):
        """Its command line."""
        raise NotImplementedError

    def prepare(self):
        docs = self.tmp / "htdocs"
        docs.mkdir()
        letters = random.Random(1)
        (docs / "index.html").write_text("<!doctype html>" + "".join(
            letters.choices("abcdefghijklmnop \n", k=PAGE_BYTES)))
        conf = self.tmp / "server.conf"
        conf.write_text(self.conf())
        return ["taskset", "-c", "1", *self.command(conf)]


class Nginx(Saturated):
    """nginx, two workers; the limit is in its worker_connections."""

    name = "nginx"
    processes = 0       # there are as many whatever the limit

    def conf(self):
        # Each worker needs some for itself, and leaves an eighth free.
        limit = self.service.workers
        connections = 4 + limit * 4 // 7 if limit else 8192
        # Its own directories may not be there, or not be for writing.
        places = "".join(f"    {what}_temp_path {self.tmp}/{what};\n" for what in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return f"""\
daemon off;
user www-data;
pid {self.tmp}/nginx.pid;
worker_processes 2;
worker_rlimit_nofile 16384;
error_log {self.tmp}/error.log;
events {{
    worker_connections {connections};
    accept_mutex {"on" if limit else "off"};
    accept_mutex_delay 5ms;
}}
http {{
    access_log off;
{places}    types {{ text/html html; }}
    gzip on;
    gzip_comp_level 9;
    keepalive_timeout 0;
    server {{
        listen [::]:{PORT} ipv6only=off backlog={self.service.backlog};
        root {self.tmp}/htdocs;
    }}
}}
"""

    def command(self, conf):
        return ["nginx", "-c", conf, "-e", self.tmp / "error.log"]


class ApacheEvent(Saturated):
    """Apache with the event module; the limit is in its threads."""

    name = "apache-event"
    processes = 0

    def conf(self):
        limit = self.service.workers
        size = f"""\
ServerLimit 1
StartServers 1
ThreadsPerChild {limit}
MaxRequestWorkers {limit}
AsyncRequestWorkerFactor 0.1
MinSpareThreads 1
MaxSpareThreads {limit}
""" if limit else ""
        return f"""\
ServerRoot {self.tmp}
ServerName server
PidFile {self.tmp}/apache.pid
Mutex file:{self.tmp}
ErrorLog {self.tmp}/error.log
LogLevel warn
LoadModule mpm_event_module {MODULES}/mod_mpm_event.so
LoadModule authz_core_module {MODULES}/mod_authz_core.so
LoadModule filter_module {MODULES}/mod_filter.so
LoadModule deflate_module {MODULES}/mod_deflate.so
User www-data
Group www-data
Listen {PORT}
ListenBacklog {self.service.backlog}
KeepAlive Off
DeflateCompressionLevel 9
{size}DocumentRoot {self.tmp}/htdocs
<Directory {self.tmp}/htdocs>
    Require all granted
    SetOutputFilter DEFLATE
</Directory>
"""

    def command(self, conf):
        return ["apache2", "-f", conf, "-DFOREGROUND"]


SERVERS = {c.name: c for c in (Nginx, ApacheEvent)}
