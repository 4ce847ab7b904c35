# SPDX-License-Identifier: GPL-2.0
#
# The servers that are overloaded, each with a known number of workers and a known
# service time, and each limiting what it accepts: that is what makes connections
# wait in the accept queue.  All run in the namespace "server".
"""Start and stop the servers of a measurement."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from guest import HERE, PORT, inside, monotonic, sh, stop

SECOND_PORT = 81
MODULES = Path("/usr/lib/apache2/modules")


@dataclass(frozen=True)
class Service:
    """What is asked of a server."""

    workers: int = 1
    ms: float = 10.0        # service time
    backlog: int = 128
    requests: int = 1       # on one connection
    banner: bool = False    # the server talks first
    second: bool = False    # a second listener, polled first
    limited: bool = False   # the server takes no more than a few at a time
    costly: float = 0.0     # a request says what it costs: so many service times
    log: bool = False       # write down what was agreed on with each client


class Server:
    """A server process with nothing but its own files."""

    name = "server"
    processes = 0           # of each worker, besides the first
    computes = False        # requests share a CPU
    path = "/"

    def __init__(self, service):
        self.service = service

    def prepare(self):
        """Write files to self.tmp; return the command line."""
        raise NotImplementedError

    def log(self):
        """What a person needs to see when it does not start."""
        path = self.tmp / "error.log"
        return path.read_text() if path.exists() else ""

    def talk(self, costly=False):
        """The generator's words for what is spoken with this server."""
        if self.service.banner:
            return ("banner",)
        if costly and self.service.costly:
            return ("http", f"/{self.service.costly:g}")
        if self.service.requests > 1:
            return ("http", self.path, "requests", self.service.requests)
        return ("http", self.path)

    def __enter__(self):
        self.tmp = Path(tempfile.mkdtemp(prefix="synq-server-"))
        self.tmp.chmod(0o755)
        words = self.prepare()
        # A session of its own: on SIGTERM Apache signals its process group.
        with (self.tmp / "error.log").open("w") as log:
            self.process = subprocess.Popen(
                inside("server", *map(str, words)), stdin=subprocess.PIPE,
                stdout=log, stderr=log, text=True, start_new_session=True)
        self.wait_ready()
        return self

    def children(self):
        """Process ids of the workers."""
        pid = self.process.pid
        path = Path(f"/proc/{pid}/task/{pid}/children")
        return path.read_text().split() if path.exists() else []

    def wait_ready(self):
        """Wait until it listens and all workers are there."""
        until = monotonic() + 60
        while monotonic() < until:
            if self.process.poll() is not None:
                break
            if len(self.children()) >= self.processes * self.service.workers \
                    and f":{PORT} " in sh(*inside("server", "ss", "-Hltn")):
                return
            time.sleep(0.05)
        stop(f"{self.name} does not start:\n{self.log()}")

    def set_time(self, ms):
        """Another service time from now on."""
        stop(f"{self.name} cannot change its service time")

    def options(self):
        """(client's address, what was agreed on) of each connection."""
        path = self.tmp / "connections.log"
        if not path.exists():
            return []
        return [line.split("\t") for line in path.read_text().splitlines()]

    def answers(self):
        """How many it has given, by its own log; None if it has none."""
        return None

    def __exit__(self, *exc):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process.stdin.close()
        # Some end a moment later.
        shutil.rmtree(self.tmp, ignore_errors=True)


class AcceptLoop(Server):
    """The blocking accept loop of accept_server.c."""

    name = "accept-loop"
    processes = 1

    def prepare(self):
        s = self.service
        # The generators are other machines in truth, which would not hold it up: hence
        # a priority above theirs.
        words = ["chrt", "-f", "2", "accept_server", "port", PORT, "backlog", s.backlog,
                 "workers", s.workers, "time", s.ms]
        words += ["second", SECOND_PORT] if s.second else []
        words += ["banner"] if s.banner else []
        words += ["keepalive"] if s.requests > 1 or s.costly else []
        words += ["log", self.tmp / "connections.log"] if s.log else []
        return words

    def set_time(self, ms):
        self.process.stdin.write(f"time {ms}\n")
        self.process.stdin.flush()


APACHE_CONF = """\
ServerRoot {tmp}
ServerName server
PidFile {tmp}/apache.pid
Mutex file:{tmp}
ErrorLog {tmp}/error.log
LogLevel warn
LogFormat "%h %>s %D" short
CustomLog {tmp}/access.log short
LoadModule mpm_prefork_module {mods}/mod_mpm_prefork.so
LoadModule authz_core_module {mods}/mod_authz_core.so
LoadModule php_module {mods}/{php}
User www-data
Group www-data
Listen {port}
ListenBacklog {backlog}
KeepAlive Off
StartServers {workers}
MinSpareServers 1
MaxSpareServers {workers}
ServerLimit {workers}
MaxRequestWorkers {workers}
MaxConnectionsPerChild 0
DocumentRoot {tmp}/htdocs
<Directory {tmp}/htdocs>
    Require all granted
    SetHandler application/x-httpd-php
</Directory>
"""

PAGE = """\
<?php
usleep({us});
echo "<!doctype html><title>demo</title>", str_repeat("<p>page</p>\\n", 80);
"""


class ApachePrefork(Server):
    """Apache, prefork, with a page that sleeps in PHP."""

    name = "apache-prefork"
    processes = 1
    path = "/index.php"

    def prepare(self):
        docs = self.tmp / "htdocs"
        docs.mkdir()
        (docs / "index.php").write_text(
            PAGE.format(us=round(1e3 * self.service.ms)))
        php = sorted(MODULES.glob("libphp*.so"))
        if not php:
            stop("libapache2-mod-php is missing: run scripts/setup demo")
        conf = self.tmp / "apache.conf"
        conf.write_text(APACHE_CONF.format(
            tmp=self.tmp, mods=MODULES, php=php[-1].name, port=PORT,
            backlog=self.service.backlog, workers=self.service.workers))
        return ["apache2", "-f", conf, "-DFOREGROUND"]


HAPROXY_CONF = """\
global
    nbthread 1
    lua-load {tmp}/wait.lua
    maxconn 1000
defaults
    mode http
    timeout client 10s
frontend page
    bind :::{port} v4v6
    maxconn {workers}
    backlog {backlog}
    option httpclose
    http-request lua.wait
    http-request return status 200 content-type text/plain string "{body}"
"""


HAPROXY_LUA = """\
core.register_action("wait", {{"http-req"}}, function(txn)
    core.msleep({ms})
end, 0)
"""


class HAProxy(Server):
    """HAProxy, which stops accepting at maxconn."""

    name = "haproxy-maxconn"

    def prepare(self):
        (self.tmp / "wait.lua").write_text(
            HAPROXY_LUA.format(ms=round(self.service.ms)))
        conf = self.tmp / "haproxy.cfg"
        conf.write_text(HAPROXY_CONF.format(
            tmp=self.tmp, port=PORT, workers=self.service.workers,
            body="x" * 1024, backlog=self.service.backlog))
        return ["haproxy", "-db", "-f", conf]


class GoLimit(Server):
    """A Go program behind netutil.LimitListener; go_server.go.

    Go asks for a backlog of somaxconn, always; the driver sets that.
    """

    name = "go-limitlistener"

    def prepare(self):
        return ["go_server", "-port", PORT, "-limit", self.service.workers,
                "-time", f"{self.service.ms}ms"]


class Gunicorn(Server):
    """gunicorn with sync workers; gunicorn_app.py."""

    name = "gunicorn-sync"
    processes = 1

    def prepare(self):
        return ["env", f"SERVICE_MS={self.service.ms}", "gunicorn",
                "--worker-class", "sync", "--workers", self.service.workers,
                "--bind", f"[::]:{PORT}", "--backlog", self.service.backlog,
                "--chdir", HERE, "gunicorn_app:page"]


SERVERS = {c.name: c for c in (AcceptLoop, ApachePrefork, HAProxy, GoLimit,
                               Gunicorn)}
