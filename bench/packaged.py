# SPDX-License-Identifier: GPL-2.0
#
# Servers as their packages bring them, whatever they speak: each with so many workers
# and a known service time, and a limit of its own if its manual has one.
"""The servers of the packaged experiment."""

import shutil
from pathlib import Path

from eager import Eager, NginxBefore
from guest import HERE, PORT, inside, sh, stop

PUMA_APP = """\
run ->(_env) {{
  sleep {seconds}
  [200, {{ "Content-Type" => "text/plain" }}, ["x" * 1024]]
}}
"""

# Whoever asks takes one of so many locks, for so long.
POSTGRES_QUERY = "pg_sleep({s}) from pg_advisory_xact_lock(floor(random()*{n})::int)"


def program(pattern, package):
    """The last of the files of that pattern."""
    found = sorted(Path("/").glob(pattern.lstrip("/")))
    if not found:
        stop(f"{package} is missing: run scripts/setup packaged")
    return found[-1]


class Gunicorn(Eager):
    """gunicorn with sync workers; gunicorn_app.py."""

    name = "gunicorn"

    def words(self, address, backlog):
        """Its command."""
        s = self.service
        return ["env", f"SERVICE_MS={s.ms}", "gunicorn", "--worker-class", "sync",
                "--workers", s.workers, "--bind", address, "--backlog", backlog,
                "--chdir", HERE, "gunicorn_app:page"]

    def main(self):
        return self.words(f"[::]:{PORT}", self.service.backlog)


class NginxGunicorn(NginxBefore, Gunicorn):
    """nginx before it, as its manual wants it."""

    name = "nginx-gunicorn"
    ready = "gunicorn.sock"

    def helper(self):
        return self.words(f"unix:{self.tmp}/{self.ready}", 2048)

    def location(self):
        return f"proxy_pass http://unix:{self.tmp}/{self.ready};"


class Uwsgi(Eager):
    """uWSGI with processes."""

    name = "uwsgi"

    def main(self):
        s = self.service
        return ["env", f"SERVICE_MS={s.ms}", "uwsgi", "--plugin", "python3",
                "--http-socket", f"[::]:{PORT}", "--listen", s.backlog, "--master",
                "--processes", s.workers, "--chdir", HERE, "--module", "gunicorn_app:page",
                "--disable-logging"]


class Puma(Eager):
    """Puma with threads."""

    name = "puma"

    def main(self):
        s = self.service
        app = self.tmp / "config.ru"
        app.write_text(PUMA_APP.format(seconds=s.ms / 1e3))
        return ["puma", "-C", "-", "-e", "production", "-t", f"{s.workers}:{s.workers}",
                "-b", f"'tcp://[::]:{PORT}?backlog={s.backlog}'", app]


class Postgres(Eager):
    """PostgreSQL; a process for each connection."""

    name = "postgresql"

    def talk(self, costly=False):
        s = self.service
        return ("postgres", POSTGRES_QUERY.format(s=s.ms / 1e3, n=s.workers))

    def main(self):
        s = self.service
        bin_dir = program("/usr/lib/postgresql/*/bin/postgres", "PostgreSQL").parent
        # It does not run as root.
        sh(*inside("server", "sysctl", "-qw", "net.ipv4.ip_unprivileged_port_start=0"))
        data = self.tmp / "data"
        data.mkdir()
        shutil.chown(data, "postgres")
        sh("runuser", "-u", "postgres", "--", str(bin_dir / "initdb"), "-A", "trust",
           "-N", "-D", str(data))
        with (data / "pg_hba.conf").open("a", encoding="ascii") as hba:
            hba.write("host all all all trust\n")
        most = 2 * s.workers if s.limited else 100
        return ["runuser", "-u", "postgres", "--", "env", "LC_ALL=C", bin_dir / "postgres",
                "-D", data, "-p", PORT, "-c", "'listen_addresses=*'",
                "-c", "unix_socket_directories=", "-c", "fsync=off",
                "-c", f"max_connections={most}", "-c", "superuser_reserved_connections=0",
                "-c", "max_wal_senders=0", "-c", "log_min_messages=panic"]


SERVERS = {c.name: c for c in (Gunicorn, NginxGunicorn, Uwsgi, Puma, Postgres)}
