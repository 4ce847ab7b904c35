# SPDX-License-Identifier: GPL-2.0
#
# Servers as their packages bring them, whatever they speak: each with so many workers
# and a known service time, and a limit of its own if its manual has one.
"""The servers of the packaged experiment."""

import os
import pwd
import shutil
import subprocess
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


def unpack(package):
    """Into this machine, which is thrown away: scripts/servers says why."""
    for deb in sorted(Path(os.environ["SERVERS"]).glob("*.deb")):
        if deb.name.startswith((f"{package}_", "lib")):
            # /lib may be a link.
            sh("sh", "-c", 'dpkg-deb --fsys-tarfile "$0" |'
               "tar -C / --keep-directory-symlink -xf -", str(deb))


SSHD_CONF = """\
HostKey {key}
Port {port}
PidFile none
UsePAM no
LogLevel QUIET
MaxStartups {most}
"""


def add_user(name):
    """Whom a maintainer script would add, with a group of the same name."""
    if name not in (user.pw_name for user in pwd.getpwall()):
        sh("useradd", "-r", "-U", name)


class OpenSSH(Eager):
    """OpenSSH: a process for each connection, which signs a key exchange.

    Its own limit is the one that it has by default, which refuses at random.
    """

    name = "openssh"

    def talk(self, costly=False):
        return ("ssh",)

    def main(self):
        if not Path("/usr/sbin/sshd").exists():
            unpack("openssh-server")
        add_user("sshd")
        Path("/run/sshd").mkdir(exist_ok=True)
        key = self.tmp / "key"
        sh("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
        conf = self.tmp / "sshd_config"
        conf.write_text(SSHD_CONF.format(
            key=key, port=PORT, most="10:30:100" if self.service.limited else 1000))
        words = ["/usr/sbin/sshd", "-D", "-e", "-f", str(conf)]
        # Not all versions punish clients that do not log in.
        penalties = ["-o", "PerSourcePenalties=no"]
        known = subprocess.run([*words, "-t", *penalties], check=False, capture_output=True)
        return words if known.returncode else [*words, *penalties]


POSTFIX_MAIN = """\
compatibility_level = 3.6
queue_directory = {tmp}/queue
data_directory = {tmp}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
shlib_directory = /usr/lib/postfix
mail_owner = postfix
setgid_group = postdrop
myhostname = server.example
mydestination =
alias_maps =
local_recipient_maps =
maillog_file = {tmp}/error.log
maillog_file_prefixes = {tmp}
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
smtpd_delay_reject = no
smtpd_client_restrictions = sleep {seconds}
"""

POSTFIX_MASTER = """\
{port} inet n - n - {workers} smtpd
anvil unix - - n - 1 anvil
rewrite unix - - n - - trivial-rewrite
cleanup unix n - n - 0 cleanup
proxymap unix - - n - - proxymap
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix(Eager):
    """Postfix: so many processes, each of which looks something up before it greets."""

    name = "postfix"

    def talk(self, costly=False):
        return ("banner",)

    def main(self):
        s = self.service
        if not Path("/usr/lib/postfix/sbin/master").exists():
            unpack("postfix")
        sh("groupadd", "-f", "-r", "postdrop")
        add_user("postfix")
        for name in ("", "pid", "private", "public", "maildrop", "incoming", "active",
                     "deferred", "defer", "bounce", "hold", "corrupt", "saved", "flush",
                     "trace"):
            (self.tmp / "queue" / name).mkdir()
            if name and name != "pid":
                shutil.chown(self.tmp / "queue" / name, "postfix")
        (self.tmp / "data").mkdir()
        shutil.chown(self.tmp / "data", "postfix")
        conf = self.tmp / "postfix"
        conf.mkdir()
        (conf / "main.cf").write_text(POSTFIX_MAIN.format(
            tmp=self.tmp, seconds=round(s.ms / 1e3)))
        (conf / "master.cf").write_text(POSTFIX_MASTER.format(
            port=PORT, workers=s.workers))
        # Of descriptors it closes all that it might have.
        return ["prlimit", "--nofile=4096", "/usr/lib/postfix/sbin/master", "-d", "-c", conf]

    def wait_ready(self):
        """It starts its processes one by one, when they are wanted."""
        super().wait_ready()
        sh(*inside("server", "bash", "-c",
                   f"for i in $(seq {self.service.workers}); do"
                   f" (head -n 1 </dev/tcp/127.0.0.1/{PORT}) & done; wait"))


SERVERS = {c.name: c for c in (Gunicorn, NginxGunicorn, Uwsgi, Puma, Postgres, OpenSSH,
                               Postfix)}
