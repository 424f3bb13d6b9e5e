"""Installed packages, made on the spot: a folder with modules and metadata."""

import json
import os
import subprocess
import sys

import pytest

RUN = "from cloxy_core.cli.main import main; main()"


class Site:
    """A folder like site-packages."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def install(
        self, distribution, entry_points, *, requires=(), version="1.2", summary="", **code
    ):
        """Install a package with entry points `{name: target}` and modules `module=source`."""
        for module, source in code.items():
            (self.folder / f"{module}.py").write_text(source)
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {distribution}", f"Version: {version}"]
        lines += [f"Summary: {summary}"] if summary else []
        lines += [f"Requires-Dist: {each}" for each in requires]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        points = [f"{name} = {target}" for name, target in entry_points]
        (info / "entry_points.txt").write_text("[cloxy.plugins]\n" + "\n".join(points) + "\n")
        (info / "RECORD").write_text("".join(f"{module}.py,,\n" for module in code))
        return info

    def plugin(self, name, source, *, distribution=None, **more):
        """Install a package with one plugin in a module of its own; returns its metadata."""
        distribution = distribution or f"cloxy-{name.replace('_', '-')}"
        module = distribution.replace("-", "_") + "_module"
        return self.install(distribution, [(name, module)], **more, **{module: source})


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "site")


@pytest.fixture(scope="session")
def make_site():
    return Site


@pytest.fixture(scope="session")
def cloxy():
    """Run the command line in a process of its own; returns code, output, errors."""

    def run(*arguments, site, data, **variables):
        path = [str(site.folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CLOXY_DATA_DIR": str(data),
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-c", RUN, "plugins", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="session")
def listed(cloxy):
    """`plugins list --json` as a list of (name, package) -> row."""

    def run(**more):
        code, out, err = cloxy("list", "--json", **more)
        assert code == 0, err
        return {(row["name"], row["distribution"]): row for row in json.loads(out)["plugins"]}

    return run
