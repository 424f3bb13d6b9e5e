"""Damages each file of a folder of an agent's logs, and sees that its sources bear it.

    python benchmarks/agents/mutations.py AGENT FOLDER [--times 500] [--plugin NAME] [--all]

A copy of the folder is damaged, one file at a time, as many times; each time the sources look for
what is there, read it and parse it. Nothing but an `OSError` or a `ForeignDatabaseError`, which the
engine tells as a failure of that file, may come out.

A run that yields fewer messages than the undamaged files did is a loss. It is told when bad lines,
unknown kinds or failures of files, of any reason, are more than before. What is not told is
undetectable when the damaged file is still well-formed: as `forms.py` says, of the keys that
`AGENT_count.py` has as `MATTERS` (all, where it has none), or as `well_formed(path, data)` there
says. All others are silent. Both numbers are printed; `--all` lists each such run, with its seed,
what was done to the file, and what is missing.
"""

import argparse
import importlib
import os
import re
import shutil
import sys
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from forms import Forms
from scratch import scratch

from cloxy_core.testing.harness import App
from cloxy_core.testing.mutations import kinds_of_damage, mutate
from cloxy_hookspecs import ForeignDatabaseError

SHOWN = 5
WORDS = 60


def readers(plugin, folder, counting):
    """An application, and source and parser of each source of the plugin."""
    environment = counting.environment(folder) if hasattr(counting, "environment") else None
    more = counting.settings(folder) if hasattr(counting, "settings") else {}
    place = scratch("mutations")
    home = place / "home"
    home.mkdir()
    os.environ.update({"HOME": str(home), "USERPROFILE": str(home), "XDG_CONFIG_HOME": ""})
    os.environ.update(environment or {})
    module = importlib.import_module(f"cloxy_plugins.{plugin}.plugin")
    settings = {"watch.dirs": "", "embed.provider": "none", **more}
    app = App(place / "cloxy", plugins={plugin: module}, settings=settings)
    names = {record.name for record in module.cloxy_sources()} | {"tried"}
    found = [each for each in app.engine.ingest.readers if each.feed.plugin in names]
    if environment is None and not more:
        found = [(each.source.of(folder), each.parser) for each in found]
        return app, found
    return app, [(each.source, each.parser) for each in found]


def look(found):
    """Messages by role and words, and what was told, by reason, with numbers."""
    messages, told = Counter(), Counter()
    for source, parser in found:
        failures = []
        try:
            items = list(source.discover(failures))
        except ForeignDatabaseError as error:
            told[str(error)] += 1
            continue
        told.update(failure.reason for failure in failures)
        for item in items:
            try:
                result = parser.parse(item, list(source.read(item, 0)), {})
            except (OSError, ForeignDatabaseError) as error:
                told[f"{type(error).__name__} {error}"] += 1
                continue
            messages.update((message.role, message.text) for message in result.messages)
            told.update(re.sub(r"\d+", "#", bad.reason) for bad in result.bad_lines)
            told.update({f"unknown {name}": count for name, count in result.unknown.items()})
    return messages, told


def described(before, after):
    """What is missing, and what is there instead."""
    lost = [f"-{role} {text[:WORDS]!r}" for role, text in (before - after).elements()]
    new = [f"+{role} {text[:WORDS]!r}" for role, text in (after - before).elements()]
    return "".join(f"\n    {each}" for each in (*lost[:4], *new[:3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--plugin")
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--all", action="store_true", help="list every loss that is not told")
    given = parser.parse_args()
    copy = scratch("damaged") / given.folder.name
    shutil.copytree(given.folder, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    try:
        counting = importlib.import_module(f"{given.agent}_count")
    except ModuleNotFoundError:
        counting = None
    app, found = readers(given.plugin or given.agent, copy, counting)
    whole, noise = look(found)
    files = {path: path.read_bytes() for path in sorted(copy.rglob("*")) if path.is_file()}
    forms = Forms(files, getattr(counting, "MATTERS", None))
    well_formed = getattr(counting, "well_formed", lambda path, data: None)
    crashes, silent, undetectable, runs, losses = [], [], [], 0, 0
    for path, data in files.items():
        for seed in range(given.times):
            damaged = mutate(data, seed)
            path.write_bytes(damaged)
            runs += 1
            name = f"{path.relative_to(copy)} {seed} {'+'.join(kinds_of_damage(data, seed))}"
            try:
                messages, told = look(found)
            except Exception:
                crashes.append(f"{name}: {traceback.format_exc()}")
                continue
            if messages.total() >= whole.total():
                continue
            losses += 1
            if not told - noise:
                sound = well_formed(path, damaged)
                sound = forms.well_formed(path, damaged) if sound is None else sound
                which = undetectable if sound else silent
                fewer = whole.total() - messages.total()
                which.append(f"{name}: {fewer} fewer{described(whole, messages)}")
        path.write_bytes(data)
    app.stop()
    shutil.rmtree(copy.parent)
    for each in crashes if given.all else crashes[:SHOWN]:
        print("CRASH", each)
    for each in silent if given.all else silent[:SHOWN]:
        print("SILENT", each)
    for each in undetectable if given.all else []:
        print("undetectable", each)
    print(f"{given.agent}: {len(files)} files, {whole.total()} messages, {runs} runs,"
          f" {len(crashes)} crashes, {losses} losses,"
          f" of them {losses - len(silent) - len(undetectable)} told,"
          f" {len(undetectable)} undetectable, {len(silent)} silent")  # fmt: skip
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
