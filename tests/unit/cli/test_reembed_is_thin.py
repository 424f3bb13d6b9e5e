"""`cloxy reembed` beside a server loads neither the contract nor the engine."""

import subprocess
import sys

HEAVY = ("cloxy_hookspecs", "cloxy_core.engine", "cloxy_core.services", "sqlalchemy", "pydantic")


def test_nothing_heavy_is_loaded_before_it_is_known_that_no_server_runs():
    program = (
        "import sys, cloxy_core.cli.reembed as command;"
        "assert command.AtServer;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("[]\n", "")
