"""The check of the keyword index against a real store."""

from cloxy_plugins.fts5.check import KeywordIndexCheck


def findings(world):
    return [
        (finding.severity, finding.message)
        for finding in world._runner.run(KeywordIndexCheck(world.store).run())
    ]


def execute(world, statement):
    world.write(lambda connection: connection.exec_driver_sql(statement))


def test_all_is_well(world):
    world.say("the ledger", "is locked")
    assert findings(world) == [("ok", "keyword index: 2 passages, in step")]


def test_missing_and_stray_rows_are_found(world):
    world.say("the ledger", "is locked")
    execute(world, "UPDATE fts_passages SET passage_id = 99 WHERE passage_id = 1")
    said = findings(world)
    assert {severity for severity, _ in said} == {"error"}
    assert any("1 passages cannot be found" in message for _, message in said)
    assert any("1 rows belong to no passage" in message for _, message in said)
    assert all("/reindex" in message for _, message in said)


def test_a_damaged_index_is_found(world):
    world.say("the ledger", "is locked")
    execute(world, "DELETE FROM passages_fts_data WHERE id > 10")
    assert any(severity == "error" for severity, _ in findings(world))
