#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""load.py serve | load SERVER SECONDS | watch SECONDS

serve: a slow server of one thread, which takes 5 ms for a request and has a queue when
there are several clients.  load: each client connects, sends a request, waits for the
answer and begins anew; one more keeps a connection for all that time.  At the end a line
says how many requests were served and lost, and why.  watch: asks "synq save" again and
again, and says at the end for how long at most nothing was in force: the longest time
from the beginning of a request that found something to the end of the next that did, if one
between them found nothing.  A pause without any request says nothing.
Each ends when the file /run/load-stop is there.
"""
import os
import socket
import subprocess
import sys
import threading
import time

PORT = 80
CLIENTS = 12
STOP = "/run/load-stop"


def serve():
    listener = socket.create_server(("", PORT), backlog=64)
    while True:
        connection, _ = listener.accept()
        if connection.recv(1) == b"k":
            connection.sendall(b"k")
            threading.Thread(target=echo, args=(connection,), daemon=True).start()
        else:
            answer(connection)


def answer(connection):
    time.sleep(0.005)
    try:
        connection.sendall(b"served")
    except OSError:
        pass
    connection.close()


def echo(connection):
    while data := connection.recv(1):
        connection.sendall(data)
    connection.close()


class Load:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.lock = threading.Lock()
        self.served = 0
        self.lost = []

    def over(self):
        return time.monotonic() > self.end or os.path.exists(STOP)

    def count(self, error):
        with self.lock:
            if error:
                self.lost.append(error)
            else:
                self.served += 1

    def client(self, server):
        while not self.over():
            error = None
            try:
                with socket.create_connection((server, PORT), timeout=30) as sock:
                    sock.sendall(b"r")
                    if sock.recv(16) != b"served":
                        error = "closed without an answer"
            except OSError as problem:
                error = str(problem)
            self.count(error)

    def keeper(self, server):
        try:
            with socket.create_connection((server, PORT), timeout=30) as sock:
                while not self.over():
                    sock.sendall(b"k")
                    if sock.recv(1) != b"k":
                        raise OSError("the kept connection was closed")
                    time.sleep(0.2)
        except OSError as problem:
            self.count(str(problem))

    def watch(self):
        """The longest time, in ms, from one moment at which synq was in force to the next."""
        longest = 0
        last = time.monotonic()
        missed = False
        while not self.over():
            begin = time.monotonic()
            found = subprocess.run(["synq", "save"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, check=False).stdout
            if b"listener" not in found:
                missed = True
            else:
                if missed:
                    longest = max(longest, time.monotonic() - last)
                last = begin
                missed = False
            time.sleep(0.01)
        return round(longest * 1000)


def load(server, seconds):
    todo = Load(seconds)
    threads = [threading.Thread(target=todo.client, args=(server,))
               for _ in range(CLIENTS)]
    threads.append(threading.Thread(target=todo.keeper, args=(server,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"served {todo.served} lost {len(todo.lost)}", *set(todo.lost), flush=True)


def main():
    if sys.argv[1] == "serve":
        serve()
    elif sys.argv[1] == "load":
        load(sys.argv[2], float(sys.argv[3]))
    elif sys.argv[1] == "watch":
        print("without", Load(float(sys.argv[2])).watch(), "ms", flush=True)


main()
