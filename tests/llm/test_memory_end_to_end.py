"""The whole server, asked with the official client of OpenAI's API; only the model is scripted."""

import json
import math
import urllib.request

import openai
import pytest
from llm.openai_kit import ScriptedRouter, WholeServer, said

from cloxy_core.services.echo import strip_echo

QUESTION = "Which port does the harbour dashboard use?"
FACT = "The harbour dashboard listens on port 9187."


@pytest.fixture
def server(tmp_path):
    with WholeServer(tmp_path) as server:
        yield server


def client_of(server, key="not-required"):
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=30)


def post(server, path, body):
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(server.url + path, data, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def ask(server, text, **memory):
    with client_of(server) as client:
        return client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "user", "content": text}], extra_body=memory
        )


def prompt(server):
    return [(message.role, message.text) for message in server.router.prompt]


def test_a_fact_that_only_the_memory_has(server):
    (number,) = post(server, "/ingest_text", {"text": FACT})["ids"]
    without = ask(server, QUESTION)
    assert prompt(server) == [("user", QUESTION)]
    assert without.model_extra["cloxy_meta"]["memory"] == []
    given = ask(server, QUESTION, memory=True)
    block, question = prompt(server)
    assert question == ("user", QUESTION)
    assert FACT in block[1] and f"id {number}]" in block[1]
    assert strip_echo(block[1]) == ("", 1)
    assert given.model_extra["cloxy_meta"]["memory"] == [number]


def test_what_was_said_is_remembered_and_what_was_answered_is_never_told_again(server):
    statement = "Remember that our harbour dashboard listens on port 9187."
    server.router.scripts.append(said("Noted: the harbour dashboard of Atlantis is on 9187."))
    kept = ask(server, statement, memory_store=True, memory_project="/srv/demo/shop")
    assert "memory_note" not in kept.model_extra["cloxy_meta"]
    given = ask(server, QUESTION, memory=True)
    assert len(given.model_extra["cloxy_meta"]["memory"]) == 1
    block = prompt(server)[0][1]
    assert statement in block and "Atlantis" not in block
    assert "· shop ·" in block
    (hit,) = post(server, "/recall", {"query": QUESTION, "group": "passage"})["results"]
    assert [passage["text"] for passage in hit["passages"]] == [statement]
    assert hit["session_id"].startswith("chat-")


def test_the_same_turn_is_kept_once(server):
    for _ in range(2):
        server.router.scripts.append(said("Noted."))
        ask(server, FACT, memory_store=True)
    found = post(server, "/recall", {"query": FACT, "group": "passage", "top_k": 10})
    assert len(found["results"]) == 1


def test_a_conversation_is_kept_as_one_session_in_order(server):
    turns = [{"role": "user", "content": "The mill has a red lamp."}]
    with client_of(server) as client:
        for text in ("And the quay a green one.", "And the tower a blue one."):
            answer = client.chat.completions.create(
                model="m", messages=turns, extra_body={"memory_store": True}
            )
            turns.append({"role": "assistant", "content": answer.choices[0].message.content})
            turns.append({"role": "user", "content": text})
        client.chat.completions.create(model="m", messages=turns, extra_body={"memory_store": True})
    found = post(server, "/recall", {"query": "lamp mill quay tower", "top_k": 10})["results"]
    assert len({hit["session_id"] for hit in found}) == 1
    text = "\n".join(hit["content"] for hit in sorted(found, key=lambda hit: hit["id"]))
    assert text.index("red lamp") < text.index("green one") < text.index("blue one")


def test_without_a_key_any_bearer_will_do(server):
    for key in ("not-required", "sk-anything"):
        with client_of(server, key) as client:
            assert [model.id for model in client.models.list()] == ["tiny-1"]


def test_with_a_key_only_that_one_will_do(tmp_path):
    key = "k3y-of-this-server-0123456789-abcdef"
    with WholeServer(tmp_path, key=key) as server:
        with client_of(server, key) as client:
            answer = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            )
            assert answer.choices[0].message.content == "hi"
        for wrong in ("not-required", key + "x"):
            with (
                client_of(server, wrong) as client,
                pytest.raises(openai.AuthenticationError) as no,
            ):
                client.models.list()
            assert (no.value.status_code, no.value.type) == (401, "authentication_error")
        with client_of(server) as client:
            found = client.models.with_raw_response.list(
                extra_headers={"Authorization": openai.Omit(), "X-API-Key": key}
            )
            assert found.status_code == 200


def test_settings_of_the_server(tmp_path):
    settings = {"chat.memory": "1", "chat.memory_place": "system", "model_api.aliases": "gpt-*=big"}
    with WholeServer(tmp_path, **settings) as server:
        post(server, "/ingest_text", {"text": FACT})
        ask(server, QUESTION)
        assert [role for role, _text in prompt(server)] == ["system", "user"]


def test_errors_have_one_form_on_every_path(server):
    with client_of(server) as client:
        with pytest.raises(openai.BadRequestError) as no:
            client.chat.completions.create(model="m", messages=[])
        assert (no.value.param, no.value.body["hint"]) == ("messages", None)
        with pytest.raises(openai.InternalServerError) as missing:
            client.embeddings.create(model="m", input="a")
        assert (missing.value.status_code, missing.value.code) == (503, "model_missing")
        with pytest.raises(openai.NotFoundError) as unknown:
            client.post("/nothing", cast_to=object, body={})
        assert unknown.value.type == "not_found_error"


def test_a_client_that_goes_away_frees_the_model(tmp_path):
    from llm.openai_kit import Wait

    from cloxy_hookspecs import ChatDelta

    router, wait = ScriptedRouter(), Wait()
    router.scripts.append([ChatDelta("a"), wait, *said("never")])
    with WholeServer(tmp_path, router) as server, client_of(server) as client:
        turns = [{"role": "user", "content": "hi"}]
        stream = client.chat.completions.create(model="m", messages=turns, stream=True)
        assert next(chunk for chunk in stream if chunk.choices[0].delta.content)
        assert wait.reached.wait(60) and not router.freed.is_set()
        stream.close()
        assert router.freed.wait(60)


def test_embeddings_are_those_of_the_memory(tmp_path):
    with (
        WholeServer(tmp_path, **{"embed.provider": "words"}) as server,
        client_of(server) as client,
    ):
        texts = ["red lamp", "green quay", "red lamp"]
        found = client.embeddings.create(model="text-embedding-3-small", input=texts)
        assert found.model == "fake/words"
        first, other, again = (item.embedding for item in found.data)
        assert len(first) == 128 and first == again != other
        assert math.hypot(*first) == pytest.approx(1)
