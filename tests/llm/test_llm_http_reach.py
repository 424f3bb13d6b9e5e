"""What leaves the machine, and what never does."""

import asyncio
import ssl

import pytest
import trustme
from llm.http_bench import Names, ask, deltas_of, make, text_of
from llm.stub_server import Fail, Hang, Model, Raw, StubModelServer

from cloxy_hookspecs import (
    ConfigError,
    ModelChoice,
    ModelError,
    ModelMissingError,
    RemoteModelError,
)
from cloxy_plugins.llm_http.address import is_loopback, parse_address
from cloxy_plugins.llm_http.catalogue import has_cloud_name


@pytest.fixture
def server():
    with StubModelServer() as running:
        yield running


def models_of(model):
    return asyncio.run(model.models())


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        (" http://LOCALHOST:1234/v1/ ", "http://localhost:1234/v1"),
        ("http://127.0.0.1:8080/api/v1/chat/completions", "http://127.0.0.1:8080/api/v1"),
        ("https://models.example", "https://models.example/v1"),
        ("http://[0:0::1]:80/v1", "http://[::1]/v1"),
    ],
)
def test_addresses_are_read(text, whole):
    assert str(parse_address(text)) == whole


@pytest.mark.parametrize(
    "text",
    [
        *("localhost:11434", "ftp://localhost", "http://", "http://a b/v1", "http://u:p@h/v1"),
        *("http://h/v1?key=x", "http://h/v1#x", "http://h:99999/v1", "http://hü/v1"),
        *("http://[::x]/v1", "http://h/v1\r\nx: y", "http://-/v1"),
    ],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError):
        parse_address(text)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        *((one, True) for one in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")),
        *((one, False) for one in ("0.0.0.0", "10.0.0.1", "::", "::ffff:10.0.0.1", "fe80::1%lo")),
        *((one, False) for one in ("64:ff9b::7f00:1", "::127.0.0.1", "127.0.0.1.example", "")),
    ],
)
def test_loopback(address, loopback):
    assert is_loopback(address) is loopback


@pytest.mark.parametrize(
    "addresses",
    [
        *(["192.0.2.7"], ["127.0.0.1", "192.0.2.7"], ["::1", "fe80::1"], ["0.0.0.0"]),
        *(["::ffff:192.0.2.7"], ["64:ff9b::7f00:1"]),
    ],
)
def test_a_name_that_leads_away_is_refused_before_a_byte_is_sent(server, addresses):
    names = Names(box=addresses)
    names.lead_to = ("127.0.0.1", server.port)
    model = make("http://box/v1", names=names)
    for asked in (lambda: deltas_of(model), lambda: models_of(model)):
        with pytest.raises(RemoteModelError, match=r"CLOXY_LLM_ALLOW_REMOTE=1"):
            asked()
    assert model.remote
    assert names.dialled == []
    assert server.requests == []


def test_with_the_switch_it_is_asked_and_told(server):
    names = Names(box=["192.0.2.7"])
    names.lead_to = ("127.0.0.1", server.port)
    model = make("http://box:81/v1", names=names, allow_remote=1)
    assert text_of(deltas_of(model)) == "hello there"
    assert model.remote
    assert all(info.remote for info in models_of(model))
    assert set(names.dialled) == {"192.0.2.7"}
    assert {request.headers["host"] for request in server.requests} == {"box:81"}


def test_every_connection_looks_once_and_goes_to_what_was_judged(server):
    names = Names(box=["127.0.0.1"])
    names.lead_to = ("127.0.0.1", server.port)
    model = make("http://box/v1", names=names)
    assert model.remote, "a name may lead anywhere, until it was looked up"
    deltas_of(model, ask(model="x"))
    assert not model.remote
    assert names.dialled == ["127.0.0.1"] * len(server.requests)
    names.names["box"] = ["192.0.2.7"]
    with pytest.raises(RemoteModelError):
        deltas_of(model, ask(model="x"))
    assert set(names.dialled) == {"127.0.0.1"}


@pytest.mark.parametrize(("name", "trusted"), [("box", True), ("other", False)])
def test_a_safe_connection_is_to_the_name_and_goes_to_what_was_judged(monkeypatch, name, trusted):
    authority = trustme.CA()
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(ours)
    theirs = ssl.create_default_context()
    authority.configure_trust(theirs)
    monkeypatch.setattr("cloxy_plugins.llm_http.wire._trusted", lambda: theirs)
    with StubModelServer(tls=ours) as server:
        names = Names(box=["127.0.0.1"])
        model = make(f"https://box:{server.port}/v1", names=names)
        if trusted:
            assert text_of(deltas_of(model)) == "hello there"
            assert set(names.dialled) == {"127.0.0.1"}
            assert {r.headers["host"] for r in server.requests} == {f"box:{server.port}"}
        else:
            with pytest.raises(ModelError, match="no certificate that is trusted"):
                deltas_of(model)
            assert server.requests == []


def test_localhost_and_literals_are_this_machine():
    for host in ("localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"):
        assert not make(f"http://{host}:1/v1").remote
    assert make("http://0.0.0.0:1/v1").remote


def test_what_is_known_against_it_without_asking(server):
    for trouble, model in (
        ("192.0.2.7:80", make("http://192.0.2.7:80/v1")),
        ("ollama.com", make(server.base_url, model="x:cloud")),
        ("cloxy init", make(choice=_choice("nonsense"))),
    ):
        assert trouble.removesuffix(":80") in model.trouble
    names = Names(box=["192.0.2.7"])
    named = make("http://box/v1", names=names)
    assert named.trouble is None
    with pytest.raises(RemoteModelError):
        models_of(named)
    assert "CLOXY_LLM_ALLOW_REMOTE=1" in named.trouble
    assert make("http://192.0.2.7/v1", allow_remote=1).trouble is None
    assert make(server.base_url, model="x").trouble is None
    assert (make(server.base_url, model="x").model, make(server.base_url).model) == ("x", None)
    assert make().trouble is None


def test_a_name_without_an_address():
    with pytest.raises(ModelError, match=r"no address.*CLOXY_LLM_BASE_URL"):
        deltas_of(make("http://nowhere/v1"))


def test_it_never_asks_itself(server):
    names = Names()
    names.port = server.port
    with pytest.raises(ModelError, match="this server itself"):
        deltas_of(make(server.base_url, names=names))
    assert server.requests == []


def test_proxies_are_not_used(server, monkeypatch):
    with StubModelServer() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert text_of(deltas_of(make(server.base_url))) == "hello there"
        assert proxy.requests == []


def test_only_our_own_headers_are_sent(server):
    deltas_of(make(server.base_url))
    (sent,) = (r.headers for r in server.requests if r.path == "/v1/chat/completions")
    assert set(sent) == {
        *("host", "accept", "accept-encoding", "user-agent", "connection"),
        *("content-type", "content-length"),
    }


@pytest.mark.parametrize(
    ("model", "cloud"),
    [
        *((one, True) for one in ("gpt-oss:120b-cloud", "glm-4.6:cloud", "X:CLOUD ", "my-cloud")),
        *((one, False) for one in ("llama3", "cloudy:7b", "cloud-7b:latest", "x:cloud7")),
    ],
)
def test_names_of_cloud_models(model, cloud):
    assert has_cloud_name(model) is cloud


CLOUD = {"remote_host": "https://ollama.com:443", "remote_model": "gpt-oss:120b"}


@pytest.fixture
def ollama():
    models = (
        Model("gpt-oss:120b-cloud", details=CLOUD),
        Model("mine:latest", details=CLOUD),
        Model("llama3:latest", 8192, details={"capabilities": ["completion", "tools"]}),
        Model("gemma:2b", 8192, details={"parameters": 'num_ctx    4096\nstop "<end>"'}),
        Model("nomic:latest", 2048, details={"capabilities": ["embedding"]}),
    )
    with StubModelServer(models, kind="ollama") as running:
        yield running


@pytest.mark.parametrize("name", ["gpt-oss:120b-cloud", "unheard-of:cloud", "mine:latest"])
def test_models_that_ollama_passes_on_want_the_switch(ollama, name):
    model = make(ollama.base_url, model=name)
    with pytest.raises(RemoteModelError, match=r"ollama\.com.*CLOXY_LLM_ALLOW_REMOTE=1"):
        deltas_of(model)
    assert model.remote
    assert ollama.chats == []
    allowed = make(ollama.base_url, model=name, allow_remote=1)
    assert text_of(deltas_of(allowed)) == "hello there"
    assert allowed.remote
    assert models_of(allowed)[0].remote


def test_the_first_model_is_one_of_this_machine(ollama):
    deltas_of(make(ollama.base_url))
    assert [chat["model"] for chat in ollama.chats] == ["llama3:latest"]


def test_a_server_that_does_not_tell_is_not_trusted(ollama):
    ollama.at("/api/show", Fail(500))
    with pytest.raises(ModelError):
        deltas_of(make(ollama.base_url, model="mine:latest"))
    assert ollama.chats == []


@pytest.mark.parametrize(
    "answer",
    [
        *(Fail(status) for status in (401, 403, 404, 405, 501)),
        Raw((b'{"error": "Unexpected endpoint or method. Returning 200 anyway"}',), "text/plain"),
        Raw((b"<html>hello</html>",), "text/html"),
    ],
)
def test_servers_that_are_no_ollama_are_asked(server, answer):
    server.at("/api/show", answer)
    assert text_of(deltas_of(make(server.base_url, model="mine"))) == "hello there"


def test_what_ollama_tells_of_its_models(ollama):
    found = {info.id: info for info in models_of(make(ollama.base_url))}
    assert list(found)[:2] == ["llama3:latest", "gemma:2b"], "those of other machines come last"
    assert "nomic:latest" not in found
    llama, gemma = found["llama3:latest"], found["gemma:2b"]
    assert (llama.context_tokens, llama.tools, llama.remote) == (8192, True, False)
    assert (gemma.context_tokens, gemma.tools) == (4096, False)
    assert found["mine:latest"].remote
    assert found["gpt-oss:120b-cloud"].remote


def test_a_name_without_a_tag_is_the_latest(ollama):
    (first, *_) = models_of(make(ollama.base_url, model="llama3"))
    assert (first.id, first.context_tokens) == ("llama3", 8192)


@pytest.mark.parametrize("kind", ["vllm", "llamacpp", "lmstudio"])
def test_what_other_servers_tell_of_their_models(kind):
    with StubModelServer((Model("tiny", 4096),), kind=kind) as server:
        (info,) = models_of(make(server.base_url))
        assert (info.id, info.context_tokens, info.created) == ("tiny", 4096, 1_700_000_000)
        assert (info.backend, info.remote) == ("llm-http", False)


def test_models_of_lm_studio_that_are_loaded_come_first():
    loaded = {"state": "loaded", "loaded_context_length": 2048, "capabilities": ["tool_use"]}
    models = (
        Model("a", 4096),
        Model("e", details={"type": "embeddings"}),
        Model("b", 4096, 1, loaded),
    )
    with StubModelServer(models, kind="lmstudio") as server:
        found = models_of(make(server.base_url))
        assert [(info.id, info.context_tokens) for info in found] == [("b", 2048), ("a", 4096)]
        assert found[0].tools


def test_the_model_that_is_set_comes_first_even_unlisted(server):
    found = models_of(make(server.base_url, model="mine"))
    assert [info.id for info in found] == ["mine", "stub-model"]


def test_a_list_is_kept_for_a_while(server):
    async def twice():
        model = make(server.base_url)
        await asyncio.gather(model.models(), model.models())
        await model.models()

    asyncio.run(twice())
    assert [r.path for r in server.requests].count("/v1/models") == 1


def test_a_server_without_a_list_is_no_hindrance(server, monkeypatch):
    monkeypatch.setattr("cloxy_plugins.llm_http.listing.LIST_SECONDS", 0.1)
    for trouble in (Fail(404), Hang(), Fail(500)):
        server.at("/v1/models", trouble)
        model = make(server.base_url, model="mine")
        assert [info.id for info in models_of(model)] == ["mine"]
        assert text_of(deltas_of(make(server.base_url))) == "hello there"
        with pytest.raises(ModelError, match=r"does not list.*CLOXY_LLM_MODEL"):
            models_of(make(server.base_url))


def _choice(source, model=None):
    return ModelChoice(name="tiny", format="http", source=source, model=model)


def test_what_init_set_up_is_asked(server):
    model = make(choice=_choice(server.base_url, "tiny"))
    assert model.configured
    assert model.place == server.base_url
    assert text_of(deltas_of(model)) == "hello there"
    assert [chat["model"] for chat in server.chats] == ["tiny"]


def test_the_variables_go_before_what_init_set_up(server):
    model = make(server.base_url, choice=_choice("http://192.0.2.1/v1", "tiny"))
    assert model.place == server.base_url
    deltas_of(model)
    assert [chat["model"] for chat in server.chats] == ["stub-model"], "not the other server's"
    deltas_of(make(choice=_choice(server.base_url, "tiny"), model="mine"))
    assert server.chats[-1]["model"] == "mine"


@pytest.mark.parametrize(
    "choice", [None, ModelChoice("m", "gguf", "m.gguf", path="m.gguf")], ids=["none", "gguf"]
)
def test_without_an_address_it_is_not_configured(choice):
    model = make(choice=choice)
    assert not model.configured
    assert not model.remote
    with pytest.raises(ModelMissingError, match="CLOXY_LLM_BASE_URL"):
        deltas_of(model)


@pytest.mark.parametrize("choice", [_choice("nonsense"), ConfigError("the file is broken")])
def test_a_choice_that_cannot_be_read(choice):
    model = make(choice=choice)
    assert not model.configured
    assert model.place == "no address"
    with pytest.raises(ConfigError):
        models_of(model)
