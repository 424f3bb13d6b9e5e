"""Filters against rows in a real database, compared with what they mean."""

import pytest
from sqlalchemy import insert, select
from store_kit import memory_row, passage_row, with_store

from cloxy_core.store.project_keys import key_matches, project_key
from cloxy_hookspecs.tables import memories, passages, projects
from cloxy_hookspecs.types.recall import Filters, Window

PATHS = [
    "/srv/demo/shop",
    "/srv/demo/shop/api",
    "/srv/demo/shop-old",
    "/srv/demo/sh_p",
    r"C:\Work\Shop",
    "/home/pat/100%",
]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/srv/demo/shop", "/srv/demo/shop"),
        ("/srv/demo//shop/./x/../", "/srv/demo/shop"),
        ("/", "/"),
        ("/..", "/"),
        (" /srv/a ", "/srv/a"),
        (r"C:\Work\Shop", "c:/work/shop"),
        ("c:/work/shop/", "c:/work/shop"),
        (r"c:\WORK\\shop\.", "c:/work/shop"),
        ("/mnt/c/Work/Shop", "c:/work/shop"),
        ("/mnt/C/Work/Shop/", "c:/work/shop"),
        (r"\\?\C:\Work\Shop", "c:/work/shop"),
        (r"\\?\UNC\Host\Share\a", "//host/share/a"),
        (r"\\Host\Share\a", "//host/share/a"),
        ("C:", "c:/"),
        ("/mnt/data/Work", "/mnt/data/Work"),
        ("/mnt/c", "c:/"),
        ("/srv/Demo/Shop", "/srv/Demo/Shop"),
        ("relative/Path", "relative/Path"),
        ("", ""),
        ("/srv/日本/プロジェクト", "/srv/日本/プロジェクト"),
    ],
)
def test_project_keys(path, key):
    assert project_key(path) == key
    assert project_key(key) == key


@pytest.mark.parametrize(
    ("wanted", "matching"),
    [
        ("shop", [0, 1, 4]),
        ("SHOP", [0, 1, 4]),
        ("sho", []),
        ("demo", [0, 1, 2, 3]),
        ("sh_p", [3]),
        ("100%", [5]),
        ("%", []),
        ("_", []),
        ("*", []),
        ("/srv/demo/shop", [0, 1]),
        ("/srv/demo/shop/", [0, 1]),
        ("/srv/demo/sh", []),
        ("/srv/demo/sh_p", [3]),
        ("/srv/%/shop", []),
        ("/SRV/demo/shop", []),
        ("/", [0, 1, 2, 3, 5]),
        (r"C:\Work\Shop", [4]),
        ("c:/work/shop/", [4]),
        ("/mnt/c/Work/Shop", [4]),
        (r"c:\work", [4]),
        ("C:", [4]),
        ("c:/wor", []),
        ("work", [4]),
        ("demo/shop", []),
        ("nowhere", []),
        ("' OR 1=1 --", []),
    ],
)
def test_projects(tmp_path, wanted, matching):
    keys = [project_key(path) for path in PATHS]
    assert [n for n, key in enumerate(keys) if key_matches(wanted, key)] == matching
    assert found(tmp_path, Filters(project=wanted)) == matching


def rows():
    sources = ["convo:abc:0", "convo:abc-1", "convo:abcd:0", "Convo:abc:0", "convo", "note_1"]
    times = [1000, 2000, 3000, None, 2000, 2001]
    roles = ["user", "assistant", "summary", "note", "user", "assistant"]
    authors = ["human", "assistant", "summary", "program", "human", "subagent"]
    return list(zip(sources, times, roles, authors, strict=True))


def found(tmp_path, filters):
    def fill(connection):
        connection.execute(
            insert(projects), [{"key": project_key(path), "path": path} for path in PATHS]
        )
        for number, (source, time, role, author) in enumerate(rows()):
            memory = memory_row(number, source=source, project_id=number + 1)
            connection.execute(insert(memories), memory)
            passage = passage_row(number + 1, role=role, author=author, occurred_at=time)
            connection.execute(insert(passages), passage)

    def look(connection, store):
        joined = passages.join(memories, memories.c.id == passages.c.memory_id)
        conditions = store.filter_clause(connection, filters)
        statement = select(memories.c.ordinal).select_from(joined).where(*conditions)
        return sorted(connection.execute(statement).scalars())

    async def work(store):
        await store.write(fill)
        return await store.read(lambda connection: look(connection, store))

    return with_store(tmp_path / "d", work)


@pytest.mark.parametrize(
    ("filters", "matching"),
    [
        (Filters(), [0, 1, 2, 3, 4, 5]),
        (Filters(project="  "), [0, 1, 2, 3, 4, 5]),
        (Filters(window=Window(since=2000)), [1, 2, 4, 5]),
        (Filters(window=Window(until=2000)), [0]),
        (Filters(window=Window(since=2000, until=2001)), [1, 4]),
        (Filters(window=Window(since=0)), [0, 1, 2, 4, 5]),
        (Filters(window=Window(since=3, until=3)), []),
        (Filters(source="convo:abc"), [0]),
        (Filters(source="convo:abc:"), [0]),
        (Filters(source="convo:abc:0"), [0]),
        (Filters(source="convo"), [0, 1, 2, 4]),
        (Filters(source="conv"), []),
        (Filters(source="note_1"), [5]),
        (Filters(source="note%"), []),
        (Filters(roles=("user",)), [0, 4]),
        (Filters(roles=("user", "note")), [0, 3, 4]),
        (Filters(authors=("human",)), [0, 4]),
        (Filters(authors=("human",), roles=("assistant",)), []),
        (Filters(project="shop", roles=("user",), window=Window(since=2000)), [4]),
    ],
)
def test_the_other_filters(tmp_path, filters, matching):
    assert found(tmp_path, filters) == matching
