"""`cloxy init`: sets up a language model on this machine."""

import click


@click.command()
@click.option(
    "--model",
    metavar="MODEL",
    help="A name of `cloxy list`, a Hugging Face id (org/name or org/name:file), or a path.",
)
@click.option(
    "--server",
    metavar="URL",
    help="Use a server with an OpenAI-style API instead, such as http://127.0.0.1:11434/v1.",
)
@click.option("--yes", is_flag=True, help="Do not ask; take the recommended model.")
@click.option("--dry-run", is_flag=True, help="Only show what would be downloaded and written.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what is wrong.")
def init(
    model: str | None, server: str | None, yes: bool, dry_run: bool, as_json: bool, quiet: bool
) -> int:
    """Set up a language model on this machine, for `cloxy chat` and for programs that use Cloxy.

    Without options it looks at chip and memory, shows what fits, and asks. Files come from Hugging
    Face (HF_ENDPOINT for a mirror, HF_TOKEN for gated models), are checked, and lie in `models` of
    the data directory. A download that was stopped goes on when the command is run again.

    MODEL may also be a .gguf file or a folder with an MLX model; it stays where it is. With
    --server, MODEL is one of that server's models.
    """
    from cloxy_core.cli.init_run import InitSession, Wishes
    from cloxy_core.runtime.paths import private_umask

    if yes and dry_run:
        raise click.UsageError("--yes and --dry-run do not go together")
    for name, value in (("--model", model), ("--server", server)):
        if value is not None and not value.strip():
            raise click.UsageError(f"{name} is empty")
    private_umask()
    wishes = Wishes(model=model, server=server, yes=yes, dry_run=dry_run, quiet=quiet or as_json)
    return InitSession(wishes).run(as_json=as_json)
