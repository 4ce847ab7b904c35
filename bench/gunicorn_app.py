# SPDX-License-Identifier: GPL-2.0
"""The page that gunicorn serves in the benchmarks; takes SERVICE_MS."""

import os
import time

SERVICE_S = float(os.environ.get("SERVICE_MS", "10")) / 1e3
BODY = b"x" * 1024


def page(_environ, start_response):
    """The WSGI application."""
    time.sleep(SERVICE_S)
    start_response("200 OK", [("Content-Type", "text/plain"),
                              ("Content-Length", str(len(BODY)))])
    return [BODY]
