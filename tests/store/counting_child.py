"""Reads a counter and writes it back raised by one, through the store's writer connection.

Arguments: database, how many times. Prints how many transactions failed.
"""

import sys
from pathlib import Path

from sqlalchemy import text

from cloxy_core.store.connections import writer_engine

path, times = Path(sys.argv[1]), int(sys.argv[2])
engine = writer_engine(path)
failed = 0
with engine.connect() as connection:
    for _ in range(times):
        try:
            with connection.begin():
                value = connection.execute(text("SELECT value FROM counters")).scalar()
                connection.execute(text("UPDATE counters SET value = :v"), {"v": value + 1})
        except Exception as error:
            failed += 1
            print(error, file=sys.stderr)
print(failed, "failed")
engine.dispose()
