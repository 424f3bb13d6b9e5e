"""`cloxy show`: the model that is set up."""

import click


@click.command()
@click.option("--check", is_flag=True, help="Read all files and compare their digests.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def show(check: bool, as_json: bool) -> int:
    """Show the model that `cloxy init` set up: its files, whether they are whole, what runs it.

    Exits with 1 when none is set up, or its files are not whole.
    """
    from cloxy_core.cli import output
    from cloxy_core.cli.init_places import find_places
    from cloxy_core.cli.show_state import look
    from cloxy_core.cli.show_text import as_object, state_lines

    places = find_places()
    state = look(places, check=check)
    if as_json:
        output.print_json(as_object(state, places))
    else:
        for line in state_lines(state, places):
            output.print_line(line)
    for problem in state.problems:
        output.print_line(f"cloxy: {output.escape(problem)}", error=True)
    return 1 if state.choice is None or state.problems else 0
