"""Session logs for measurements: conversations between lines of noise, the same for a seed.

As in real logs, most bytes are results of tools, snapshots and progress; what people and the
assistant said is a small part of them.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "un")]
WORDS = [a + b for a in SYLLABLES for b in SYLLABLES]
"""Words of the conversations; low numbers are frequent."""

TALK_SHARE = 0.06
MESSAGE_WORDS = (12, 140)
SESSIONS_PER_FOLDER = 25


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a generated folder holds.

    Attributes:
        seed: what it is made from.
        files: how many session files.
        file_bytes: about how long each is.
    """

    seed: int
    files: int
    file_bytes: int

    def write(self, logs: Path) -> int:
        """Write all files below a folder; how many bytes there are."""
        noise = _noise_bodies(random.Random(self.seed))
        total = 0
        for number in range(self.files):
            path = session_path(logs, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for record in self._records(number, noise):
                    total += file.write(record)
        return total

    def said(self, number: int) -> Iterator[tuple[str, str, str]]:
        """Id, role and text of each message of a session."""
        chooser = random.Random(self.seed * 1_000_003 + number)
        average = sum(MESSAGE_WORDS) / 2 * (sum(map(len, WORDS[:99])) / 99 + 1)
        for place in range(max(2, round(self.file_bytes * TALK_SHARE / average))):
            role = "assistant" if place % 2 else "user"
            # Cubed, so that few words are frequent and most are rare.
            length = chooser.randint(*MESSAGE_WORDS)
            words = [WORDS[int(len(WORDS) * chooser.random() ** 3)] for _ in range(length)]
            yield f"{session_key(number)}-{place}", role, " ".join(words)

    def _records(self, number: int, noise: list[str]) -> Iterator[bytes]:
        chooser = random.Random(number)
        messages = list(self.said(number))
        room = self.file_bytes / len(messages)
        left = 0.0
        for uid, role, text in messages:
            content = text if role == "user" else [{"type": "text", "text": text}]
            said = record(role, uid, number, message={"role": role, "content": content})
            yield said
            left += room - len(said)
            while left > 0:
                line = _noise(chooser, number, f"{uid}-{int(left)}", chooser.choice(noise))
                left -= len(line)
                yield line


def session_key(number: int) -> str:
    """Key of the session with this number."""
    return f"session-{number:06d}"


def session_path(logs: Path, number: int) -> Path:
    """The file of the session with this number."""
    folder = f"-srv-demo-project-{number // SESSIONS_PER_FOLDER}"
    return logs / folder / f"{session_key(number)}.jsonl"


def record(kind: str, uid: str, number: int, **more) -> bytes:
    """One line of a session's log."""
    head = {
        "type": kind,
        "uuid": uid,
        "parentUuid": None,
        "sessionId": session_key(number),
        "cwd": f"/srv/demo/project-{number // SESSIONS_PER_FOLDER}",
        "gitBranch": "main",
        "timestamp": "2026-05-08T13:56:00.000Z",
        "isSidechain": False,
    }
    return json.dumps(head | more).encode() + b"\n"


def _noise_bodies(chooser: random.Random) -> list[str]:
    """What tools answered, of many lengths; a few are very long."""
    lengths = [int(200 * 2 ** (chooser.random() * 7)) for _ in range(120)] + [120_000]
    return [
        "\n".join(
            f"{line:4d}  def {chooser.choice(WORDS)}(self, {chooser.choice(WORDS)}): "
            f'return "{chooser.choice(WORDS)}" # {chooser.random()}'
            for line in range(1 + length // 60)
        )[:length]
        for length in lengths
    ]


def _noise(chooser: random.Random, number: int, uid: str, body: str) -> bytes:
    """A line of a log in which nobody says anything."""
    kind = chooser.randrange(4)
    if kind == 0:
        return record("progress", uid, number, data={"type": "bash_progress", "output": body})
    if kind == 1:
        snapshot = {"trackedFileBackups": {"src/app.py": {"version": 1, "content": body}}}
        return record("file-history-snapshot", uid, number, snapshot=snapshot)
    if kind == 2:
        use = {"type": "tool_use", "id": uid, "name": "Edit", "input": {"new_string": body}}
        return record("assistant", uid, number, message={"role": "assistant", "content": [use]})
    answer = {"type": "tool_result", "tool_use_id": uid, "content": body}
    message = {"role": "user", "content": [answer]}
    return record("user", uid, number, message=message, toolUseResult={"stdout": body})
