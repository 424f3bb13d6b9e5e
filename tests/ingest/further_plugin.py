"""A plugin that names its sources only once settings are known: one for each name in a setting."""

from cloxy_hookspecs import (
    LogReader,
    LogTree,
    Message,
    ParseResult,
    ParserProvider,
    SessionFacts,
    Setting,
    SourceProvider,
    hookimpl,
)

NAMES: Setting[str] = Setting(name="further.names", default="", parse=str, help="Names.")


@hookimpl
def cloxy_settings():
    yield NAMES


@hookimpl
def cloxy_sources():
    yield source("further", further=named)


@hookimpl
def cloxy_parsers():
    yield parser("further")


def named(context):
    names = context.settings[NAMES]
    if names == "broken":
        raise RuntimeError("no names today")
    if names == "endless":
        return endless()
    return [
        record
        for name in names.split()
        for record in (parser(name), source(name, own_folders=name.startswith("own")))
    ]


def endless():
    number = 0
    while True:
        yield parser(f"n{number}")
        number += 1


def source(name, **more):
    def create(context):
        folder = context.paths.data.parent / "agents" / name
        return context.service(LogReader).lines([LogTree(folder, lambda parts: True)])

    return SourceProvider(
        name=name,
        summary="A source",
        agent=name,
        parser=name,
        chunker="messages",
        origin="transcript",
        create=create,
        **more,
    )


def parser(name):
    return ParserProvider(name=name, summary="A parser", create=lambda context: WholeLines(name))


class WholeLines:
    """Each line is what somebody said; the parser says which one it is."""

    def __init__(self, name):
        self.name = name

    def parse(self, item, lines, state):
        messages = [
            Message(
                uid=f"{self.name}-{line.start}",
                session="talk",
                role="user",
                author="human",
                text=line.data.decode(),
                at=1_790_000_000_000,
                start=line.start,
                end=line.end,
            )
            for line in lines
        ]
        return ParseResult(messages, {"talk": SessionFacts("talk")}, records=len(messages))
