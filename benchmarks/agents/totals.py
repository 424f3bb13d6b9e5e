"""Numbers of messages by session and role, as `AGENT_count.py` give and print them."""

import json
import sys
from collections import Counter
from pathlib import Path


def by_session(said):
    """Add up what was said.

    Args:
        said: session and role of each message.

    Returns:
        `{session: {role: number}}`.
    """
    totals = {}
    for session, role in said:
        totals.setdefault(session, Counter())[role] += 1
    return {session: dict(numbers) for session, numbers in totals.items()}


def main(count):
    """Print the numbers of the folder that the command line names.

    Args:
        count: gives the numbers of a folder.
    """
    totals = count(Path(sys.argv[1]).resolve())
    for session, numbers in sorted(totals.items()):
        print(session, json.dumps(numbers))
    print("all", json.dumps(dict(sum(map(Counter, totals.values()), Counter()))))
