"""The `cloxy` command: a group that imports a command only when it runs."""

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from cloxy_core import __version__
from cloxy_core.cli import output
from cloxy_core.client_config import ClientError

PROGRAM = "cloxy"
COMPLETE_VARIABLE = "_CLOXY_COMPLETE"
BROKEN_PIPE = 141
INTERRUPTED = 130

# name: (module:function, one line of help)
COMMANDS: dict[str, tuple[str, str]] = {
    "backup": ("cloxy_core.cli.backup:backup", "Keep a checked copy of the memory."),
    "chat": ("cloxy_core.cli.chat:chat", "Talk to the language model, with your memory."),
    "connect": ("cloxy_core.cli.connect:connect", "Let editors and agents use this memory."),
    "demo": ("cloxy_core.cli.demo:demo", "See it work on invented sessions, in half a minute."),
    "doctor": ("cloxy_core.cli.doctor:doctor", "Look for damage, and repair it."),
    "export": ("cloxy_core.cli.exchange:export", "Write the memory, or a part, as JSON Lines."),
    "fetch": ("cloxy_core.cli.web:fetch", "Read a page of the web as text."),
    "forget": ("cloxy_core.cli.forget:forget", "Take something out of the memory, for good."),
    "hook": ("cloxy_core.cli.hook:hook", "What agents run at moments of their own."),
    "ignore": ("cloxy_core.cli.ignore:ignore", "Remember nothing of a project."),
    "import": ("cloxy_core.cli.exchange:import_", "Take in what `cloxy export` wrote."),
    "ingest": ("cloxy_core.cli.ingest:ingest", "Read the session logs now."),
    "init": ("cloxy_core.cli.init:init", "Set up a language model on this machine."),
    "install-service": (
        "cloxy_core.cli.service:install_service",
        "Start the server at every login.",
    ),
    "key": ("cloxy_core.cli.key:key", "Make the key that requests must bring."),
    "list": ("cloxy_core.cli.list:list_", "Show language models that can be set up."),
    "mcp": ("cloxy_core.cli.mcp:mcp", "Speak MCP on the standard streams, for an editor."),
    "plugins": ("cloxy_core.cli.plugins:plugins", "Show, switch on and switch off plugins."),
    "recall": ("cloxy_core.cli.recall:recall", "Find what was said in earlier sessions."),
    "reembed": ("cloxy_core.cli.reembed:reembed", "Make all vectors anew, with the model set now."),
    "restore": ("cloxy_core.cli.backup:restore", "Put a backup in the place of the memory."),
    "retention": ("cloxy_core.cli.ignore:retention", "Keep a project for some days only."),
    "search-page": ("cloxy_core.cli.web:search_page", "Find lines in a page of the web."),
    "sessions": ("cloxy_core.cli.sessions:sessions", "List, read and export what was said."),
    "show": ("cloxy_core.cli.show:show", "Show the language model that is set up."),
    "sources": ("cloxy_core.cli.sources:sources", "Show which agents' logs are read, and how."),
    "start": ("cloxy_core.cli.start:start", "Run the server, here or in the background."),
    "status": ("cloxy_core.cli.status:status", "Show what the server holds and how it is."),
    "stop": ("cloxy_core.cli.stop:stop", "Stop the server."),
    "uninstall-service": (
        "cloxy_core.cli.service:uninstall_service",
        "Stop the service and remove it.",
    ),
    "verify": ("cloxy_core.cli.web:verify", "Find what pages of the web say about a claim."),
}


class LazyGroup(click.Group):
    """Commands of the static table first; those of plugins only for a name that is not in it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, of plugins too."""
        return sorted({*COMMANDS, *_extensions()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None when no such command is known."""
        target = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else _extensions().get(cmd_name)
        return None if target is None else _load(cmd_name, target)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the tables, without importing any of them."""
        rows = [(name, line) for name, (_, line) in COMMANDS.items()]
        rows += [
            (name, f"From the plugin module {target.partition(':')[0]}.")
            for name, target in sorted(_extensions().items())
        ]
        with formatter.section("Commands"):
            formatter.write_dl([(output.escape(name), output.escape(line)) for name, line in rows])


def _extensions() -> dict[str, str]:
    # Looked for only here: reading package metadata takes longer than all the rest of a command.
    from cloxy_core.cli.extensions import plugin_commands

    return {name: target for name, target in plugin_commands().items() if name not in COMMANDS}


def _load(name: str, target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    try:
        command = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ClientError(
            f"the command {name} cannot be loaded from {target}: {error}",
            code="command",
            hint="reinstall the package that brings it, or disable its plugin",
        ) from error
    if not isinstance(command, click.Command):
        raise ClientError(f"{target} is not a click command", code="command")
    return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="cloxy %(version)s")
def cli() -> None:
    """Memory of your AI coding sessions, kept on this machine."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 error, 2 no server or wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if _speaks_protocol(given):
        _keep_streams_clean()
    output.prepare_streams()
    _leave(_run(given))


def _leave(code: int) -> NoReturn:
    """End the process; at once where a thread was left at its work, as all else is closed."""
    workers = sys.modules.get("cloxy_core.runtime.workers")
    if workers is not None and workers.someone_is_left():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _speaks_protocol(arguments: Sequence[str]) -> bool:
    return arguments[:1] == ["mcp"] and not {"-h", "--help"} & set(arguments)


def _keep_streams_clean() -> None:
    """Take the streams before anything that was printed already could be flushed into them."""
    from cloxy_core.relay.streams import claim

    with contextlib.suppress(OSError):  # the command itself says that they are closed
        claim()


def _run(arguments: Sequence[str]) -> int:
    try:
        result = _invoke(list(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except (KeyboardInterrupt, click.Abort):
        output.print_line(error=True)
        return INTERRUPTED
    except click.ClickException as error:
        return _usage(error)
    except _reported_errors() as error:
        output.fail(error)  # type: ignore[arg-type]  # both classes have the parts
        return int(getattr(error, "exit_code", 1))
    return result


def _invoke(arguments: list[str]) -> int:
    # Not click's own `main`, which turns a closed pipe into exit code 1, that of an error.
    complete = os.environ.get(COMPLETE_VARIABLE)
    if complete:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, COMPLETE_VARIABLE, complete)
    try:
        with cli.make_context(PROGRAM, arguments) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as request:
        return request.exit_code
    return result if isinstance(result, int) else 0


def _reported_errors() -> tuple[type[Exception], ...]:
    """Errors that are told in words; the contract's only if something has imported it."""
    contract = sys.modules.get("cloxy_hookspecs.errors")
    return (ClientError,) if contract is None else (ClientError, contract.CloxyError)


def _reader_left() -> int:
    """End quietly when the program at the other end of the pipe has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # Python flushes once more at exit, which must not fail again.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nowhere, stream.fileno())
    return BROKEN_PIPE


def _usage(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    context = getattr(error, "ctx", None)
    if context is not None:
        output.print_line(output.escape(context.get_usage(), lines=True), error=True)
    output.print_line(f"cloxy: {output.escape(error.format_message())}", error=True)
    if isinstance(error, click.NoSuchOption):
        output.print_line("A text that begins with a dash goes after `--`.", error=True)
    return error.exit_code
