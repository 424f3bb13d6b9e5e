"""The plugin at work: what an application finds with it."""

import pytest
from tiny_models import tiny_cross_encoder

from cloxy_hookspecs import Draft, MemoryWriter, Query, Recaller

QUESTION = "crane firmware overheats"
TEXTS = (
    "The crane has new firmware since May, and nobody knows why it overheats so often in summer.",
    "The crane overheats: firmware.",
    "Crane, crane, crane, firmware, firmware, overheats; all of it is in the list of last year.",
)


@pytest.fixture
def ask(cloxy_app, tmp_path, clock):
    """Asks an application that remembers some texts, with a cross-encoder in a folder."""

    def found(**how):
        folder = tiny_cross_encoder(tmp_path / f"tiny-{len(how)}", **how)
        settings = {"recall.rerank_model": str(folder), "embed.provider": "none"}
        app = cloxy_app(settings=settings)
        writer, recaller = app.context.service(MemoryWriter), app.context.service(Recaller)
        for number, text in enumerate(TEXTS):
            app.do(writer.remember(Draft(text=text, origin="note", source=f"t{number}")))
        query = Query(text=QUESTION, top_k=5, now=clock.now_ms(), rerank=True)
        answer = app.do(recaller.recall(query))
        assert answer.notes == ()
        return [(hit.passages[0].text, hit.passages[0].parts["rerank"]) for hit in answer.hits]

    return found


def test_best_results_are_read_again(ask):
    straight, turned = ask(), ask(turned=True)
    assert sorted(text for text, _score in straight) == sorted(TEXTS)
    assert [text for text, _score in straight] == [text for text, _score in turned][::-1]
    assert [score for _text, score in straight] == sorted(
        (score for _text, score in straight), reverse=True
    )
