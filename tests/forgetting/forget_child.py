"""For every line on standard input, a forked process that forgets until it is killed.

Arguments: folder. It forgets one session after the other, then notes that it makes itself.
"""

import itertools
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
        for (key,) in server.rows("SELECT key FROM sessions ORDER BY key"):
            server.do(server.engine.memories.forget_session(key))
        for number in itertools.count():
            server.remember(f"note {number} with the word kuckuckslichtnelke " * 20, "keepsake")
            server.remember(f"note {number} of harbours, ledgers and train tables " * 9)
            server.forget_source("keepsake")
