#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# uvicorn_app.py PORT BACKLOG WORKERS MS LIMIT: uvicorn with an application that has a pool
# of workers.  LIMIT: of connections and requests at the same time, 0: none.
"""The server that uvicorn is in the benchmarks."""

import asyncio
import socket
import sys

import uvicorn

PORT, BACKLOG, WORKERS, MS, LIMIT = map(float, sys.argv[1:])
BODY = b"x" * 1024
workers = asyncio.Semaphore(int(WORKERS))


async def page(scope, _receive, send):
    """The ASGI application."""
    if scope["type"] != "http":
        return
    async with workers:
        await asyncio.sleep(MS / 1e3)
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-type", b"text/plain"),
                            (b"content-length", str(len(BODY)).encode())]})
    await send({"type": "http.response.body", "body": BODY})


listener = socket.create_server(("::", int(PORT)), family=socket.AF_INET6,
                                backlog=int(BACKLOG), dualstack_ipv6=True)
uvicorn.Server(uvicorn.Config(page, backlog=int(BACKLOG), log_level="error",
                              limit_concurrency=int(LIMIT) or None)
               ).run(sockets=[listener])
