"""A service manager that only notes what it is asked, and answers as it is told."""

from pathlib import Path

from cloxy_core.os_service.boundary import Machine, Outcome


class Recorder:
    """Notes commands; `answers` maps the beginning of a command line to outcomes, the last kept."""

    def __init__(self, **answers):
        self.commands = []
        self.answers = {}

    def answer(self, beginning, *outcomes):
        self.answers[beginning] = list(outcomes)

    def run(self, command):
        line = " ".join(command)
        self.commands.append(line)
        for beginning, outcomes in self.answers.items():
            if line.startswith(beginning):
                return outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        return Outcome(0)


def machine(home, platform="linux", runner=None, python="/opt/cloxy/bin/python", **environ):
    """A machine of one platform."""
    if platform == "win32":
        environ = {"USERNAME": "Ana", "USERDOMAIN": "DESK", **environ}
    return Machine(
        platform=platform,
        home=Path(home),
        environ=environ,
        uid=501,
        python=Path(python),
        runner=runner or Recorder(),
    )
