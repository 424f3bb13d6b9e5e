"""The lazy group: static commands, commands of plugins, and how it ends."""

import click
import pytest

from cloxy_core.cli import extensions, main
from cloxy_hookspecs import NotFoundError

MODULE = """
import click

@click.command()
def greet():
    "Greet."
    click.echo("hello from a plugin")

@click.command()
def number():
    return 7

@click.command()
def interrupted():
    raise KeyboardInterrupt

not_a_command = 3
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a distribution with a plugin and commands, as metadata on the path."""
    (tmp_path / "greeter_pkg").mkdir()
    (tmp_path / "greeter_pkg" / "__init__.py").write_text("")
    (tmp_path / "greeter_pkg" / "commands.py").write_text(MODULE)
    info = tmp_path / "greeter-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[cloxy.plugins]\nmy-greeter = greeter_pkg.plugin\n"
        "[cloxy.commands]\n"
        "greet = greeter_pkg.commands:greet\n"
        "seven = greeter_pkg.commands:number\n"
        "interrupted = greeter_pkg.commands:interrupted\n"
        "gone = greeter_pkg.missing:greet\n"
        "odd = greeter_pkg.commands:not_a_command\n"
        "recall = greeter_pkg.commands:greet\n"
        "lonely = somewhere_else:greet\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    return ended.value.code


def test_command_of_a_plugin_runs(installed, capsys):
    assert run("greet") == 0
    assert capsys.readouterr().out == "hello from a plugin\n"


def test_number_that_a_command_returns_is_the_exit_code(installed):
    assert run("seven") == 7


def test_help_lists_it_without_importing_it(installed, capsys, monkeypatch):
    monkeypatch.setattr(main, "import_module", lambda name: pytest.fail(f"imported {name}"))
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert "greet" in shown
    assert "From the plugin module greeter_pkg.commands." in shown
    assert shown.count("recall") == 1
    for name, (_, line) in main.COMMANDS.items():
        assert name in shown
        assert line in shown


@pytest.mark.parametrize(
    ("environment", "config", "present"),
    [
        ({}, "", True),
        ({"CLOXY_PLUGINS_DISABLED": "my_greeter"}, "", False),
        ({"CLOXY_PLUGINS_DISABLED": "other, my-greeter"}, "", False),
        ({"CLOXY_PLUGINS_DISABLED": "other"}, "[plugins]\ndisabled = ['my-greeter']", True),
        ({}, "[plugins]\ndisabled = ['my-greeter']", False),
        ({"CLOXY_PLUGINS": "other"}, "", False),
        ({"CLOXY_PLUGINS": "my_greeter"}, "", True),
        ({}, "plugins = 3", True),
    ],
)
def test_command_of_a_disabled_plugin_is_hidden(installed, environment, config, present):
    (installed / "config.toml").write_text(config)
    found = extensions.plugin_commands({"CLOXY_DATA_DIR": str(installed), **environment})
    assert ("greet" in found) is present
    assert "lonely" in found


@pytest.mark.parametrize(
    ("name", "words"),
    [("gone", "cannot be loaded from greeter_pkg.missing"), ("odd", "is not a click command")],
)
def test_command_that_cannot_be_loaded_is_told(installed, capsys, name, words):
    assert run(name) == 1
    assert words in capsys.readouterr().err


def test_own_commands_win_and_need_no_metadata(installed, monkeypatch):
    monkeypatch.setattr(extensions, "plugin_commands", lambda: pytest.fail("looked for plugins"))
    command = main.cli.get_command(click.Context(main.cli), "recall")
    assert command.name == "recall"
    assert command.params


def test_unknown_command(capsys):
    assert run("no-such-thing") == 2
    assert "No such command 'no-such-thing'" in capsys.readouterr().err


def test_interrupt_is_quiet(installed, capsys):
    assert run("interrupted") == 130
    assert capsys.readouterr().err == "\n"


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == "cloxy 6.0.0.dev0\n"


def test_nothing_at_all_is_help(capsys):
    assert run() == 2
    assert "Commands:" in capsys.readouterr().err


def test_error_of_the_contract_is_told_with_its_exit_code(monkeypatch, capsys):
    @click.command()
    def fails():
        raise NotFoundError("no plugin \x1b[2J", hint="look at `cloxy plugins list`")

    monkeypatch.setitem(main.COMMANDS, "fails", ("x:y", "Fails."))
    monkeypatch.setattr(main, "_load", lambda name, target: fails)
    assert run("fails") == NotFoundError.exit_code
    expected = "cloxy: no plugin \\x1b[2J; look at `cloxy plugins list`\n"
    assert capsys.readouterr().err == expected
