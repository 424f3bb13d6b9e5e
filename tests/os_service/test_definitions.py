"""Definition files: what stands in them, and that no path of a person can break them."""

import plistlib
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from os_service import unit_file
from os_service.recording import machine

from cloxy_core.os_service.boundary import ServiceError
from cloxy_core.os_service.managers.windows import NAMESPACE
from cloxy_core.os_service.planning import plan

AWKWARD = [
    "plain",
    "Ana & Bob's <files>",
    'a "quoted" name',
    "100% of $HOME ${PATH} %h",
    "back\\slash",
    "данные 密钥 ünï",
    "two  blanks; and # more",
    "~",
]
ARGUMENTS = ["-P", "-m", "cloxy_core.cli.background"]


def planned(platform, home, folder="plain", given=None, data_dir=None):
    here = machine(home, platform, python=f"/opt/{folder}/bin/python")
    return plan(data_dir or Path(home) / ".cloxy", given or {}, here)


@pytest.mark.parametrize("folder", AWKWARD)
def test_plist_says_exactly_what_is_run(home, folder):
    data_dir = home / folder / "memory"
    made = planned("darwin", home, folder, {"CLOXY_WATCH_DIRS": f"/srv/{folder}"}, data_dir)
    found = plistlib.loads(made.definition)
    assert found["ProgramArguments"] == [f"/opt/{folder}/bin/python", *ARGUMENTS]
    assert found["EnvironmentVariables"] == {
        "PATH": f"/opt/{folder}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "CLOXY_DATA_DIR": str(data_dir),
        "CLOXY_WATCH_DIRS": f"/srv/{folder}",
    }
    assert found["WorkingDirectory"] == str(data_dir)
    assert made.path == home / "Library/LaunchAgents" / f"{found['Label']}.plist"


def test_plist_of_the_usual_data_directory(home):
    made = planned("darwin", home)
    assert plistlib.loads(made.definition) == {
        "Label": "com.cloxy.server",
        "ProgramArguments": ["/opt/plain/bin/python", *ARGUMENTS],
        "EnvironmentVariables": {
            "PATH": "/opt/plain/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        },
        "WorkingDirectory": str(home / ".cloxy"),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 30,
        "ExitTimeOut": 20,
        "ProcessType": "Adaptive",
        "Umask": 0o077,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": "/dev/null",
    }
    assert [step.command for step in made.steps()] == [
        ("launchctl", "enable", "gui/501/com.cloxy.server"),
        ("launchctl", "bootstrap", "gui/501", str(made.path)),
    ]


@pytest.mark.parametrize("folder", AWKWARD)
def test_unit_says_exactly_what_is_run(home, folder):
    data_dir = home / folder / "memory"
    made = planned("linux", home, folder, {"CLOXY_WATCH_DIRS": f"/srv/{folder}"}, data_dir)
    text = made.definition.decode()
    # Quotes and backslashes are what systemd refuses in the path of the program itself.
    through = ["/usr/bin/env"] if set(folder) & set("\"'\\") else []
    assert unit_file.command(text) == [*through, f"/opt/{folder}/bin/python", *ARGUMENTS]
    assert unit_file.environment(text) == {
        "CLOXY_DATA_DIR": str(data_dir),
        "CLOXY_WATCH_DIRS": f"/srv/{folder}",
    }


def test_unit_of_the_usual_data_directory(home):
    made = planned("linux", home)
    assert made.path == home / ".config/systemd/user/cloxy.service"
    sections = unit_file.read(made.definition.decode())
    assert ("StartLimitBurst", "5") in sections["Unit"]
    assert dict(sections["Service"]) == {
        "Type": "exec",
        "ExecStart": '"/opt/plain/bin/python" "-P" "-m" "cloxy_core.cli.background"',
        "UMask": "0077",
        "Restart": "on-failure",
        "RestartSec": "5",
        "TimeoutStopSec": "20",
    }
    assert sections["Install"] == [("WantedBy", "default.target")]


@pytest.mark.parametrize("folder", AWKWARD)
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_accepts_the_unit(home, tmp_path, folder):
    # The program must be there, or systemd-analyze complains of that.
    python = tmp_path / folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    made = plan(home / folder, {}, machine(home, "linux", python=str(python)))
    unit = tmp_path / "cloxy.service"
    unit.write_bytes(made.definition)
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True
    )
    complaints = [line for line in run.stderr.splitlines() if "cloxy" in line]
    assert (run.returncode, complaints) == (0, [])


def test_xdg_configuration_folder_is_honoured_only_when_absolute(home):
    for given, expected in ((str(home / "xdg"), home / "xdg"), ("rel", home / ".config")):
        made = plan(home / ".cloxy", {}, machine(home, "linux", XDG_CONFIG_HOME=given))
        assert made.path == expected / "systemd/user/cloxy.service"


def task(made):
    root = ET.fromstring(made.definition.decode("utf-16"))
    assert root.tag == f"{{{NAMESPACE}}}Task"
    return lambda path: root.findtext(
        "/".join(f"{{{NAMESPACE}}}{part}" for part in path.split("/"))
    )


@pytest.mark.parametrize("folder", [name for name in AWKWARD if "\\" not in name])
def test_task_says_exactly_what_is_run(home, folder):
    python = f"C:\\Users\\{folder}\\venv\\Scripts\\python.exe"
    here = machine(home, "win32", python=python)
    made = plan(home / folder, {"CLOXY_WATCH_DIRS": f"D:\\{folder}\\"}, here)
    told = task(made)
    assert told("Actions/Exec/Command") == python.replace("python.exe", "pythonw.exe")
    assert windows_words(told("Actions/Exec/Arguments")) == [
        *ARGUMENTS,
        f"CLOXY_DATA_DIR={home / folder}",
        f"CLOXY_WATCH_DIRS=D:\\{folder}\\",
    ]
    assert told("Actions/Exec/WorkingDirectory") == str(home / folder)


def windows_words(line):
    """Split a command line as the C runtime of Windows does."""
    found, word, quoted, i = [], None, False, 0
    while i < len(line):
        slashes = 0
        while i < len(line) and line[i] == "\\":
            slashes, i = slashes + 1, i + 1
        at_quote = i < len(line) and line[i] == '"'
        if slashes:
            word = (word or "") + "\\" * (slashes // 2 if at_quote else slashes)
        if at_quote:
            if slashes % 2:
                word += '"'
            else:
                quoted, word = not quoted, word or ""
            i += 1
        elif i < len(line) and line[i] in " \t" and not quoted:
            if word is not None:
                found.append(word)
            word, i = None, i + 1
        elif i < len(line):
            word, i = (word or "") + line[i], i + 1
    return found if word is None else [*found, word]


def test_task_of_the_usual_data_directory(home):
    made = plan(home / ".cloxy", {}, machine(home, "win32", python="C:\\py\\python.exe"))
    told = task(made)
    expected = {
        "Triggers/LogonTrigger/Enabled": "true",
        "Triggers/LogonTrigger/UserId": "DESK\\Ana",
        "Principals/Principal/UserId": "DESK\\Ana",
        "Principals/Principal/LogonType": "InteractiveToken",
        "Principals/Principal/RunLevel": "LeastPrivilege",
        "Settings/MultipleInstancesPolicy": "IgnoreNew",
        "Settings/DisallowStartIfOnBatteries": "false",
        "Settings/StopIfGoingOnBatteries": "false",
        "Settings/ExecutionTimeLimit": "PT0S",
        "Settings/RestartOnFailure/Interval": "PT1M",
        "Settings/RestartOnFailure/Count": "5",
        "Settings/IdleSettings/StopOnIdleEnd": "false",
        "Actions/Exec/Arguments": "-P -m cloxy_core.cli.background",
    }
    assert {path: told(path) for path in expected} == expected
    # What `schtasks` wants: UTF-16 with its mark.
    assert made.definition[:2] in (b"\xff\xfe", b"\xfe\xff")
    assert made.wanted.name == "Cloxy-Ana"
    assert [step.command for step in made.steps()] == [
        ("schtasks", "/Create", "/TN", "Cloxy-Ana", "/XML", str(made.path), "/F"),
        ("schtasks", "/Run", "/TN", "Cloxy-Ana"),
    ]


@pytest.mark.parametrize("platform", ["darwin", "linux", "win32"])
def test_each_data_directory_has_a_service_of_its_own(home, platform):
    names = {
        planned(platform, home, data_dir=folder).wanted.name
        for folder in (home / ".cloxy", home / "one", home / "two")
    }
    assert len(names) == 3


@pytest.mark.parametrize(
    "variables",
    [
        {"CLOXY_API_KEY": "abcdefghijklmnop"},
        {"CLOXY_LLM_API_KEY": "x"},
        {"HF_TOKEN": "x"},
        {"CLOXY_DATA_DIR": "/elsewhere"},
        {"LD_PRELOAD": "/x.so"},
        {"cloxy_port": "1"},
        {"CLOXY_PORT": "1\nExecStart=/bin/sh"},
    ],
)
@pytest.mark.parametrize("platform", ["darwin", "linux", "win32"])
def test_secrets_and_foreign_variables_are_refused(home, platform, variables):
    with pytest.raises(ServiceError) as refusal:
        planned(platform, home, given=variables)
    for value in variables.values():
        assert f"'{value}'" not in refusal.value.message


def test_an_unknown_system_is_told_how_to_go_on(home):
    with pytest.raises(ServiceError) as refusal:
        planned("freebsd14", home)
    assert "freebsd14" in refusal.value.message
    assert "cloxy start" in refusal.value.hint


def test_a_path_that_systemd_cannot_run_at_all_is_refused(home):
    with pytest.raises(ServiceError) as refusal:
        planned("linux", home, "it's=me")
    assert "plainer name" in refusal.value.hint
