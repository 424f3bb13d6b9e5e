"""Dockerfile, compose file and .dockerignore: what a linter would look at, and our promises."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from container.dockerfile import ROOT, health_command, ignored, read


@pytest.fixture(scope="module")
def stages():
    return read()


@pytest.fixture(scope="module")
def image(stages):
    return stages[-1]


@pytest.fixture(scope="module")
def service():
    composed = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert set(composed) == {"services", "volumes"}
    return composed["services"]["cloxy"]


def test_every_base_has_a_version_and_is_slim(stages):
    for stage in stages:
        name, _, tag = stage.image.partition(":")
        assert name == "python"
        assert re.fullmatch(r"3\.\d+(\.\d+)?-slim-[a-z]+", tag), f"{stage.image} is not pinned"
    assert len({stage.image for stage in stages}) == 1  # the environment is moved between them


def test_the_image_has_a_python_that_the_package_wants(image):
    minor = int(re.search(r"3\.(\d+)", image.image)[1])
    wanted = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    assert minor >= int(wanted[1])


def test_it_runs_as_a_fixed_user_that_is_not_root(image):
    arguments = image.arguments()
    user = image.one("USER")
    for name, value in arguments.items():
        user = user.replace(f"${{{name}}}", value)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert image.order("RUN") < image.order("USER") < image.order("ENTRYPOINT")
    assert not [key for key, _value in image.instructions[image.order("USER") :] if key == "RUN"]


def test_the_environment_is_what_is_promised(image):
    environment = image.environment()
    assert environment["CLOXY_HOST"] == "0.0.0.0"
    assert environment["CLOXY_DATA_DIR"] == "/data"
    assert environment["CLOXY_WATCH"] == "0"
    assert environment["CLOXY_WATCH_DIRS"] == "/sessions"
    assert environment["PATH"].startswith("/opt/cloxy/bin:")
    # A key in an image is everybody's; this one gets it when it is run.
    assert not [name for name in environment if "KEY" in name or "TOKEN" in name]
    assert not [name for name in image.arguments() if "KEY" in name or "TOKEN" in name]


def test_volume_port_and_signals(image):
    assert image.exec_form("VOLUME") == ["/data"]
    assert image.one("EXPOSE") == "9055"
    assert image.one("STOPSIGNAL") == "SIGTERM"
    assert image.exec_form("ENTRYPOINT") == ["cloxy"]
    assert image.exec_form("CMD") == ["start"]


def test_the_data_folder_is_private_before_it_becomes_a_volume(image):
    (made,) = [run for run in image.all("RUN") if "/data" in run]
    assert "--owner=cloxy --group=cloxy --mode=0700 /data" in made
    assert image.order("RUN") < image.order("VOLUME")


def test_the_health_check_uses_only_what_is_in_the_image(image):
    options, command = health_command(image)
    assert command == "cloxy status --quiet || exit 1"
    assert set(options) == {"interval", "timeout", "start-period", "retries"}


def test_nothing_is_downloaded_by_hand_and_no_cache_is_left(stages):
    commands = " ".join(run for stage in stages for run in stage.all("RUN"))
    assert "pip install --no-cache-dir" in commands
    assert not re.search(r"\b(curl|wget|sudo|ADD|apt-get)\b", commands)
    for stage in stages:
        assert stage.all("ADD") == []


def test_only_the_environment_goes_into_the_last_stage(stages, image):
    assert image.all("COPY") == ["--from=build /opt/cloxy /opt/cloxy"]
    assert stages[0].name == "build"


def test_ignored_are_secrets_history_and_tests(stages):
    for path in (".git/config", ".env", "tests/conftest.py", "docs/index.md", "x.pem"):
        assert ignored(path), path
    assert ignored("cloxy_core/__pycache__/app.cpython-311.pyc")
    for copied in sources(stages):
        assert not ignored(copied), copied
    assert not ignored("cloxy_core/cli/main.py")
    assert not ignored("plugins/cloxy_plugins/minilm/plugin.py")


def sources(stages):
    """What the build stage copies out of the checkout."""
    return [
        word.removeprefix("./") for value in stages[0].all("COPY") for word in value.split()[:-1]
    ]


@pytest.mark.slow
def test_what_is_copied_suffices_to_build_the_package(stages, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    leave = shutil.ignore_patterns("__pycache__")
    for name in sources(stages):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=leave)
        else:
            shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel"]
    run = subprocess.run(
        [*build, "--outdir", tmp_path / "wheel", source], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = (tmp_path / "wheel").glob("cloxy-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packages = {name.partition("/")[0] for name in archive.namelist()}
    # A package whose folder is missing is left out without a word.
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    expected = {Path(path).name for path in wanted["targets"]["wheel"]["packages"]}
    assert {name for name in packages if not name.endswith(".dist-info")} == expected


def test_compose_wants_a_key_and_has_none(service):
    key = service["environment"]["CLOXY_API_KEY"]
    assert key.startswith("${CLOXY_API_KEY:?")  # compose refuses to start without it
    assert "16 random characters" in key


def test_compose_is_open_to_this_machine_only(service):
    assert service["ports"] == ["127.0.0.1:9055:9055"]


def test_compose_takes_away_what_the_server_does_not_need(service):
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp"]
    assert "privileged" not in service
    assert service["init"] is True
    assert service["restart"] == "unless-stopped"


def test_compose_keeps_the_memory_in_a_volume(service):
    assert service["volumes"] == ["memory:/data"]


def test_compose_checks_as_the_image_does(service, image):
    options, command = health_command(image)
    check = service["healthcheck"]
    assert check["test"] == ["CMD-SHELL", command]
    assert {
        name.replace("_", "-"): str(value) for name, value in check.items() if name != "test"
    } == (options)


def test_the_names_in_compose_are_settings_of_the_server(service, image):
    from cloxy_core.core_settings import CORE_SETTINGS

    known = {setting.env for setting in CORE_SETTINGS if setting.env}
    named = {n for n in {**image.environment(), **service["environment"]} if n.startswith("CLOXY_")}
    assert named <= known
