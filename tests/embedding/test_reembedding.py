"""A second space is filled while the first answers; then it answers, without a gap or a mix."""

import asyncio
from functools import partial

import pytest
from embedding_support import Words
from two_models import FORMER, LATER, Turned, TwoModels

from cloxy_core.services.embedding import backlog, moving, spaces
from cloxy_hookspecs import ConflictError, Draft, ModelMissingError, StoreFullError

TEXTS = [f"note {n} tells of thing{n * 7} and place{n * 11}" for n in range(30)]


@pytest.fixture(autouse=True)
def small_and_soon(monkeypatch):
    """Steps of a few passages, and no long rest."""
    monkeypatch.setattr(backlog, "MOST_TEXTS", 4)
    monkeypatch.setattr(spaces, "REMOVED_AT_ONCE", 7)
    for name in ("RETRY_SECONDS", "STORE_SECONDS", "PAUSE_SECONDS"):
        monkeypatch.setattr(moving, name, 0.01)


@pytest.fixture
def two(tmp_path):
    with TwoModels(tmp_path) as place:
        yield place.filled(*TEXTS)


def is_found(place, text):
    found, similarity = place.ask(text)
    return found == text and similarity > 0.99


def test_the_new_vectors_answer_at_the_end_and_the_former_ones_go(two):
    assert is_found(two, TEXTS[3])
    two.choose(LATER)
    told = two.reembed()
    assert (told.run, told.model) == (1, LATER)
    two.until_moved()
    two.until_tidy()
    assert two.spaces() == {LATER: ("active", 30)}
    assert two.rows("SELECT model FROM embedding_spaces") == [(LATER,)]
    assert all(is_found(two, text) for text in TEXTS)
    two.sound()
    status = two.do(two.engine.reembedding.status())
    assert (status.state, status.done, status.total, status.failed) == ("done", 30, 30, 0)
    assert two.embedding.model == LATER
    # And so after a restart, with the settings that chose it.
    two.stop()
    two.start()
    two.until_full()
    assert is_found(two, TEXTS[5])


def test_the_former_vectors_answer_until_then(two):
    two.hold()
    two.choose(LATER)
    two.reembed()
    two.until_moved("paused")
    assert is_found(two, TEXTS[3])
    assert two.spaces() == {FORMER: ("active", 30), LATER: ("filling", 0)}
    assert two.later.questions == [two.later.questions[0]], "no question was put to the new one"
    two.release()
    two.until_moved()


def test_questions_in_a_loop_never_fail_and_never_mix(two):
    two.choose(LATER)

    async def ask_all():
        answers, asked = [], 0
        while two.moving.state != "done" or asked < 40:
            text = TEXTS[asked % len(TEXTS)]
            answers.append((text, *await two.nearest(text)))
            asked += 1
        return answers

    async def both():
        asking = [asyncio.create_task(ask_all()) for _ in range(3)]
        await two.engine.reembedding.start()
        return [answer for task in asking for answer in await task]

    answers = two.do(both())
    assert len(two.former.questions) > 0
    assert len(two.later.questions) > 1
    for text, found, similarity in answers:
        assert found == text
        assert similarity > 0.99


def test_a_question_that_is_under_way_at_the_switch_is_asked_again(two, monkeypatch):
    """The vector is of the former space, and the store has gone over by the time of the search."""
    two.choose(LATER)
    held, go_on = asyncio.Event(), asyncio.Event()
    real = two.engine.recaller._answered

    async def late(query, names, asked):
        if not held.is_set():
            held.set()
            await go_on.wait()
        return await real(query, names, asked)

    monkeypatch.setattr(two.engine.recaller, "_answered", late)

    async def scene():
        asking = asyncio.create_task(two.nearest(TEXTS[4]))
        await held.wait()
        await two.engine.reembedding.start()
        while two.moving.state != "done":
            await asyncio.sleep(0.002)
        go_on.set()
        return await asking

    found, similarity = two.do(scene())
    assert found == TEXTS[4]
    assert similarity > 0.99
    assert TEXTS[4] in two.later.questions


def test_what_comes_is_edited_or_is_forgotten_meanwhile_is_in_step(two):
    two.hold()
    two.choose(LATER)
    two.reembed()
    two.until_moved("paused")
    two.remember("a late note of a quince")
    memories = two.rows("SELECT id, content FROM memories WHERE content IN (?, ?)", *TEXTS[:2])
    gone = {text: memory for memory, text in memories}
    two.forget(gone[TEXTS[0]])
    two.until(partial(answers, two, "a late note of a quince"))
    two.release()
    two.until_moved()
    two.until_full()
    two.until_tidy()
    assert two.spaces() == {LATER: ("active", 30)}
    assert is_found(two, "a late note of a quince")
    assert two.ask(TEXTS[0])[0] != TEXTS[0]
    two.sound()
    index = two.indexing.index("dense")
    assert sorted(index.ids()) == sorted(two.vectors())


async def answers(place, text):
    return (await place.nearest(text))[0] == text


def test_what_comes_while_the_index_is_built_is_in_it(two, monkeypatch):
    two.choose(LATER)
    real = two.moving._go_over

    async def late(side, beside):
        note = Draft("a note between index and switch", "note", "manual")
        await two.engine.memories.remember(note)
        await real(side, beside)

    monkeypatch.setattr(two.moving, "_go_over", late)
    two.reembed()
    two.until_moved()
    assert is_found(two, "a note between index and switch")
    assert sorted(two.indexing.index("dense").ids()) == sorted(two.vectors())


def test_cancelled_it_leaves_nothing_behind(two):
    two.hold()
    two.choose(LATER)
    two.reembed()
    two.until_moved("paused")
    assert two.do(two.engine.reembedding.cancel()) is True
    assert two.moving.state == "cancelled"
    two.until_tidy()
    assert two.spaces() == {FORMER: ("active", 30)}
    assert is_found(two, TEXTS[9])
    assert two.do(two.engine.reembedding.cancel()) is False
    # And once more, to the end.
    two.release()
    two.reembed()
    two.until_moved()
    assert is_found(two, TEXTS[9])


def test_without_the_model_the_former_one_answers_and_it_is_tried_again(two):
    two.later.missing = "its file is gone"
    two.choose(LATER)
    two.reembed()
    two.until_moved("failed")
    assert "its file is gone" in two.moving.reason
    assert is_found(two, TEXTS[2])
    assert two.status().state == "ready"
    two.later.missing = None
    two.until_moved()
    assert is_found(two, TEXTS[2])


@pytest.mark.parametrize("durable", [False, True])
def test_on_a_full_disk_it_waits_and_then_goes_on(two, monkeypatch, durable):
    """Of the steps in between, and of the switch itself."""
    two.choose(LATER)
    real, refused = two.engine.store.write, []

    async def write(work, **more):
        # The first durable write is the beginning, which is answered to whoever asked.
        if two.moving.side is not None and bool(more.get("durable")) is durable:
            refused.append(work)
            if len(refused) <= 3:
                raise StoreFullError("the disk is full")
        return await real(work, **more)

    monkeypatch.setattr(two.engine.store, "write", write)
    two.reembed()
    two.until(lambda: refused)
    assert is_found(two, TEXTS[1])
    two.until_moved()
    assert len(refused) > 3
    assert all(is_found(two, text) for text in TEXTS)
    two.sound()


@pytest.mark.parametrize("set_again", [True, False])
def test_stopped_in_the_middle_it_goes_on_with_the_same_settings_alone(tmp_path, set_again):
    with TwoModels(tmp_path) as place:
        place.filled(*TEXTS)
        place.choose(LATER)
        real = place.later.fake.embed_passages

        def until_some(texts):
            if len(place.later.passages) >= 12:
                place.later.missing = "gone"
            return real(texts)

        place.later.fake.embed_passages = until_some
        place.reembed()
        place.until_moved("failed")
    begun = 30 - 12
    later = Turned(dim=64)
    with TwoModels(tmp_path, later=later) as place:
        place.choose(LATER if set_again else FORMER)
        place.hold()
        place.start()
        place.until_full()
        assert is_found(place, TEXTS[7])
        assert place.spaces()[FORMER] == ("active", 30)
        state, half = place.spaces()[LATER]
        assert (state, half) == ("filling", half)
        assert 0 < half <= begun
        place.release()
        if set_again:
            place.until_moved()
            assert len(later.passages) == 30 - half
            place.until_tidy()
            assert place.spaces() == {LATER: ("active", 30)}
            assert is_found(place, TEXTS[7])
        else:
            assert place.moving.state == "idle"
            assert place.do(place.engine.reembedding.cancel()) is True
            place.until_tidy()
            assert place.spaces() == {FORMER: ("active", 30)}
        place.sound()


def test_with_the_same_model_there_is_nothing_to_do(two):
    told = two.reembed()
    assert (told.state, told.run, told.model) == ("idle", 0, FORMER)
    assert two.later.passages == []


def test_a_second_start_joins_the_first_and_a_third_model_is_refused(two):
    two.hold()
    two.choose(LATER)
    first = two.reembed()
    assert two.reembed().run == first.run
    two.choose(FORMER)
    with pytest.raises(ConflictError, match=r"vectors of fake/others are being made already"):
        two.reembed()
    two.release()
    two.until_moved()


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("embed.model", "Others", True),
        ("embed.model", "words", False),
        ("embed.passage_prefix", "x", False),
        ("embed.dim", "0", True),
        ("embed.dim", "nonsense", False),
    ],
)
def test_settings_that_the_server_does_not_have_are_named(two, name, text, same):
    two.choose(LATER)
    if same:
        assert two.reembed(**{name: text}).run == 1
        two.until_moved()
        return
    with pytest.raises(ConflictError) as refused:
        two.reembed(**{name: text})
    assert text in refused.value.message
    assert name in refused.value.message
    assert "config.toml" in refused.value.hint
    assert two.spaces() == {FORMER: ("active", 30)}


def test_without_any_model_it_is_refused(two):
    (two.data / "config.toml").write_text('[embed]\nprovider = "none"\n')
    with pytest.raises(ModelMissingError, match=r"there is no model to embed with"):
        two.reembed()
    assert two.spaces() == {FORMER: ("active", 30)}


def test_the_former_model_gives_its_memory_back(two):
    closed = []
    two.former.close = lambda: closed.append(two.embedding.model)
    two.choose(LATER)
    two.reembed()
    two.until_moved()
    two.until(lambda: closed)
    assert closed == [LATER]


def test_a_model_with_longer_vectors(tmp_path):
    with TwoModels(tmp_path, Words(dim=64), Turned(dim=96)) as place:
        place.filled(*TEXTS)
        place.choose(LATER)
        place.reembed()
        place.until_moved()
        assert all(is_found(place, text) for text in TEXTS)
        place.sound()
