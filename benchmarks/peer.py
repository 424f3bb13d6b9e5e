"""Side by side with Cloxy 5.1: the command line of the peer harness, filled in.

    python benchmarks/peer.py HARNESS --models MODELS --other BIN --work SCRATCH [-- MORE]

HARNESS is `peer_bench.py`, MODELS what its `make_models.py` has made, BIN the folder with the
programs of an environment that has Cloxy 5.1, SCRATCH a folder for corpora and data directories.
What follows `--` goes to the harness, for example `--phases recall,restart --reps 2`. The programs
of this environment are the other side. Our server fills the large data directories with the
harness's tiny model in the name of its real one, which it allows because of `CLOXY_BENCH=1`.
"""

import argparse
import os
import sys
from pathlib import Path

OURS = {
    "CLOXY_BENCH": "1",
    "CLOXY_EMBED_MODEL_DIR": "{model}",
    "CLOXY_EMBED_SPACE_ID": "bench",
}
NOT_FOR_SERVERS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def server(name, programs, settings):
    """The options of one server."""
    given = ["--server", name, "--start", f"{programs / 'cloxy'} start"]
    given += ["--cli", str(programs / "cloxy"), "--mcp", f"{programs / 'cloxy'} mcp"]
    given += ["--freeze", f"{programs / 'python'} -m pip freeze"]
    for key, value in settings.items():
        given += ["--env", f"{key}={value}"]
    return given


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("harness", type=Path)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--other", type=Path, required=True, metavar="BIN")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--label", default="cloxy51-vs-ours")
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:end])
    work = options.work.absolute()
    command = [sys.executable, str(options.harness), "--work", str(work)]
    command += ["--models", str(options.models.absolute()), "--label", options.label]
    command += ["--out", str(work / "results" / f"{options.label}.json"), *given[end + 1 :]]
    command += server("cloxy51", options.other.absolute(), {})
    command += server("ours", Path(sys.executable).absolute().parent, OURS)
    environment = {key: value for key, value in os.environ.items() if key not in NOT_FOR_SERVERS}
    os.execve(sys.executable, command, environment)


if __name__ == "__main__":
    main()
