"""What our own model said stays apart from what a person said, also in the memory it moves to."""

from exchange.exchange_kit import HEADER, Place, answer, end, message, session, write_lines

QUESTION = "Which crate holds the brass heron of the harbour master?"
OWN = "The brass heron stands in crate 17, below the tide tables."


def test_a_memory_never_holds_both(tmp_path):
    own = message("m2", OWN, role="assistant", author="own")
    file = write_lines(
        tmp_path / "moved.jsonl", HEADER, session(), message("m1", QUESTION), own, end(1, 2)
    )
    place = Place(tmp_path / "there")
    place.take(file)
    with place.server() as live:
        (found,) = answer(live, QUESTION)
    assert QUESTION in found["content"]
    assert OWN not in found["content"]
