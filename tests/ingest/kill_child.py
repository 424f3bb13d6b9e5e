"""For every line on standard input, a forked process that ingests until it is killed."""

import os
import sys

from ingest_support import Server

for _line in sys.stdin:
    if child := os.fork():
        os.waitpid(child, 0)
        print("ended", flush=True)
        continue
    with Server(sys.argv[1]) as server:
        print(os.getpid(), flush=True)
        server.ingest()
        while True:
            server.ingest(force=True)
