# SPDX-License-Identifier: GPL-2.0
#
# Servers that accept whatever comes and queue inside themselves: first come, first
# served by a few workers.  Each can be told to limit itself, as its manual has it.
"""The servers of the eager experiment."""

import os
import signal
from pathlib import Path

from guest import HERE, PORT, sh, stop
from servers import MODULES, Server

WORKER_PORT = 8000

FPM_CONF = """\
[global]
error_log = {tmp}/fpm.log
daemonize = no
[www]
user = www-data
group = www-data
listen = {tmp}/fpm.sock
listen.owner = www-data
listen.backlog = 65535
pm = static
pm.max_children = {children}
"""

PAGE = """\
<?php
usleep({us});
echo str_repeat("x", 1024);
"""

# So much time of a CPU, however many share it.
PAGE_CPU = """\
<?php
function used_us() {{
    $r = getrusage();
    return 1e6 * ($r["ru_utime.tv_sec"] + $r["ru_stime.tv_sec"])
        + $r["ru_utime.tv_usec"] + $r["ru_stime.tv_usec"];
}}
$until = used_us() + {us};
while (used_us() < $until);
echo str_repeat("x", 1024);
"""

NGINX_CONF = """\
user www-data;
pid {tmp}/nginx.pid;
error_log {tmp}/error.log crit;
worker_processes 1;
events {{ worker_connections 16384; {events} }}
http {{
    log_format status $status;
    access_log {tmp}/access.log status;
    {limit_zone}
    server {{
        listen {port} backlog={backlog}{listen};
        listen [::]:{port} backlog={backlog} ipv6only=on{listen};
        {certificate}
        {limit}
        location / {{
            {location}
        }}
    }}
}}
"""

APACHE_CONF = """\
ServerRoot {tmp}
ServerName server
PidFile {tmp}/apache.pid
Mutex file:{tmp}
ErrorLog {tmp}/error.log
LogLevel crit
LoadModule mpm_event_module {mods}/mod_mpm_event.so
LoadModule authz_core_module {mods}/mod_authz_core.so
LoadModule proxy_module {mods}/mod_proxy.so
LoadModule proxy_fcgi_module {mods}/mod_proxy_fcgi.so
User www-data
Group www-data
Listen {port}
ListenBacklog {backlog}
KeepAlive {keep}
StartServers {children}
ServerLimit {children}
ThreadsPerChild {threads}
MaxRequestWorkers {most}
DocumentRoot {tmp}
<Directory {tmp}>
    Require all granted
    SetHandler "proxy:unix:{tmp}/fpm.sock|fcgi://localhost"
</Directory>
"""

HAPROXY_CONF = """\
global
    maxconn 20000
defaults
    mode http
    timeout client 30s
    timeout connect 30s
    timeout server 30s
    timeout queue 30s
frontend page
    bind :::{port} v4v6 backlog {backlog}
    {limit}
    default_backend workers
backend workers
    server one 127.0.0.1:{worker_port}
"""


class Eager(Server):
    """One that can be told how many requests it may take, as its manual has it."""

    ready = None            # the file that says that the helper is

    def helper(self):
        """Command of a process that it needs, or None."""
        return None

    def main(self):
        """Write files to self.tmp; return the command of the server itself."""
        raise NotImplementedError

    def answers(self):
        """How many it has given by its own log, or None; 499: the client had left."""
        log = self.tmp / "access.log"
        if not log.exists():
            return None
        return sum(status != "499" for status in log.read_text().split())

    def prepare(self):
        script = self.tmp / "start"
        # A shell gives what it starts in the background no input, and accept_server ends
        # with its input.
        words = ["#!/bin/sh", "trap 'kill 0' TERM", "exec 3<&0"]
        for command in (self.helper(), self.main()):
            if command:
                words.append(" ".join(map(str, command)) + " <&3 &")
            if command and self.ready:
                words.append(f"until [ -e {self.tmp}/{self.ready} ]; do sleep .1; done")
                self.ready = None
        script.write_text("\n".join([*words, "wait", "wait"]) + "\n")
        return ["sh", script]

    def __exit__(self, *exc):
        os.killpg(self.process.pid, signal.SIGKILL)
        super().__exit__(*exc)


class Fpm(Eager):
    """In front of php-fpm with so many processes."""

    path = "/index.php"
    ready = "fpm.sock"
    page = PAGE
    per_worker = 1          # processes
    on_cpu = ()

    def helper(self):
        (self.tmp / "index.php").write_text(self.page.format(us=round(1e3 * self.service.ms)))
        (self.tmp / "fpm.conf").write_text(FPM_CONF.format(
            tmp=self.tmp, children=self.per_worker * self.service.workers))
        found = sorted(Path("/usr/sbin").glob("php-fpm*"))
        if not found:
            stop("php-fpm is missing: run scripts/setup bench")
        return [*self.on_cpu, found[-1], "-n", "-F", "-y", self.tmp / "fpm.conf"]


class NginxBefore(Eager):
    """nginx with one worker process, before something."""

    events = ""
    listen = ""
    certificate = ""

    def location(self):
        """What it does with a request."""
        raise NotImplementedError

    def main(self):
        s = self.service
        limit = {"limit_zone": "limit_conn_zone $server_port zone=all:1m;",
                 "limit": f"limit_conn all {2 * s.workers};"} if s.limited else \
                {"limit_zone": "", "limit": ""}
        conf = self.tmp / "nginx.conf"
        conf.write_text(NGINX_CONF.format(
            tmp=self.tmp, port=PORT, backlog=s.backlog, events=self.events,
            listen=self.listen, certificate=self.certificate,
            location=self.location(), **limit))
        return ["nginx", "-c", conf, "-g", "'daemon off;'"]


class Nginx(NginxBefore, Fpm):
    """Before php-fpm."""

    name = "nginx-fpm"

    def location(self):
        return "include /etc/nginx/fastcgi_params; " \
            f"fastcgi_param SCRIPT_FILENAME {self.tmp}/index.php; " \
            f"fastcgi_pass unix:{self.tmp}/fpm.sock;"


class NginxMulti(Nginx):
    """Which accepts all that there are at once."""

    name = "nginx-fpm-multi"
    events = "multi_accept on;"


class NginxReuseport(Nginx):
    """With a listening socket of its own for its worker."""

    name = "nginx-fpm-reuseport"
    listen = " reuseport"


class NginxShared(Nginx):
    """Before many processes that compute, and share one CPU, which is one worker."""

    name = "nginx-fpm-cpu"
    computes = True
    page = PAGE_CPU
    per_worker = 64
    on_cpu = ("taskset", "-c", "1")


class NginxTls(Nginx):
    """With TLS, and a certificate of its own."""

    name = "nginx-fpm-tls"
    listen = " ssl"

    def talk(self, costly=False):
        return ("https", *super().talk(costly)[1:])

    def main(self):
        key, cert = self.tmp / "key.pem", self.tmp / "cert.pem"
        sh("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
           "-nodes", "-subj", "/CN=server", "-keyout", str(key), "-out", str(cert))
        # Both, as in the configuration that Debian brings.
        self.certificate = "ssl_protocols TLSv1.2 TLSv1.3; " \
            f"ssl_certificate {cert}; ssl_certificate_key {key};"
        return super().main()


class ApacheEvent(Fpm):
    """Apache with mpm_event."""

    name = "apache-event-fpm"

    def main(self):
        s = self.service
        children, threads = (1, 2 * s.workers) if s.limited else (4, 100)
        conf = self.tmp / "apache.conf"
        conf.write_text(APACHE_CONF.format(
            tmp=self.tmp, mods=MODULES, port=PORT, backlog=s.backlog,
            keep="On" if s.requests > 1 else "Off", children=children,
            threads=threads, most=children * threads))
        return ["apache2", "-f", conf, "-DFOREGROUND"]


class Node(Eager):
    """Node with a pool of workers."""

    name = "node"

    def main(self):
        s = self.service
        return ["node", HERE / "node_server.js", PORT, s.backlog, s.workers, s.ms,
                2 * s.workers if s.limited else 0]


class Go(Eager):
    """Go's net/http with so many workers; go_server.go."""

    name = "go"

    def main(self):
        s = self.service
        return ["go_server", "-port", PORT, "-workers", s.workers, "-time", f"{s.ms}ms",
                "-limit", 2 * s.workers if s.limited else 0]


class HAProxyOpen(Eager):
    """HAProxy without maxconn, before an accept loop with so many workers."""

    name = "haproxy"

    def helper(self):
        return ["accept_server", "port", WORKER_PORT, "backlog", 4096, "workers",
                self.service.workers, "time", self.service.ms]

    def main(self):
        s = self.service
        conf = self.tmp / "haproxy.cfg"
        conf.write_text(HAPROXY_CONF.format(
            port=PORT, backlog=s.backlog, worker_port=WORKER_PORT,
            limit=f"maxconn {2 * s.workers}" if s.limited else ""))
        return ["haproxy", "-db", "-f", conf]


class Uvicorn(Eager):
    """uvicorn, with an application of so many workers; uvicorn_app.py."""

    name = "uvicorn"

    def main(self):
        s = self.service
        return ["python3", HERE / "uvicorn_app.py", PORT, s.backlog, s.workers, s.ms,
                2 * s.workers if s.limited else 0]


SERVERS = {c.name: c for c in (Nginx, NginxMulti, NginxReuseport, NginxShared, NginxTls,
                               ApacheEvent, Node, Go, HAProxyOpen, Uvicorn)}
