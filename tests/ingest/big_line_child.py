"""Ingests a folder in a process of its own; prints messages added and the growth of memory."""

import resource
import sys

from ingest_support import Server


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


with Server(sys.argv[1]) as server:
    before = peak()
    added = server.ingest().messages_added
    print(added, peak() - before, server.status().bad_lines)
