"""Reads a Dockerfile: its stages, instructions, environment and commands."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_JSON_FORMS = {"ENTRYPOINT", "CMD", "VOLUME", "SHELL"}


@dataclass
class Stage:
    """One FROM and what follows."""

    image: str
    name: str
    instructions: list = field(default_factory=list)

    def all(self, name):
        return [value for key, value in self.instructions if key == name]

    def one(self, name):
        (value,) = self.all(name)
        return value

    def order(self, name):
        return next(i for i, (key, _value) in enumerate(self.instructions) if key == name)

    def environment(self):
        words = [word for value in self.all("ENV") for word in shlex.split(value)]
        return dict(word.split("=", 1) for word in words)

    def arguments(self):
        return dict(value.partition("=")[::2] for value in self.all("ARG"))

    def exec_form(self, name):
        found = json.loads(self.one(name))
        assert isinstance(found, list), f"{name} is not in exec form, so no signal reaches it"
        return found


def read(path=ROOT / "Dockerfile"):
    """Stages of a Dockerfile, by the rules of its reference: comments, continued lines."""
    text = "\n".join(
        line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#"
    )
    stages = []
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if not line.strip():
            continue
        name, _, value = line.strip().partition(" ")
        value = value.strip()
        if name == "FROM":
            image, _, alias = value.partition(" AS ")
            stages.append(Stage(image, alias))
        else:
            assert name.isupper(), f"{name} is no instruction"
            stages[-1].instructions.append((name, value))
    return stages


def health_command(stage):
    """Options of HEALTHCHECK, and the words after CMD."""
    options, _, command = stage.one("HEALTHCHECK").partition("CMD ")
    return dict(re.findall(r"--([a-z-]+)=(\S+)", options)), command.strip()


def ignored(path):
    """Whether `.dockerignore` keeps a file of the checkout out of the build."""
    found = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        wanted = pattern.removeprefix("!").removeprefix("/")
        if _matches(path, wanted):
            found = not pattern.startswith("!")
    return found


def _matches(path, pattern):
    """A pattern fits a path or one of the folders above it; `**/` stands for any folders."""
    expression = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    expression = expression.replace(r"\[", "[").replace(r"\]", "]")
    parts = Path(path).parts
    return any(
        re.fullmatch(expression, "/".join(parts[: count + 1])) for count in range(len(parts))
    )
