"""`cloxy chat`: real programs, a stub of the server, and a person at a terminal."""

import json
import re
import subprocess
import threading

import pytest
from local_models.terminal import Terminal
from process.cli_runner import PROGRAM, child_environment, run_cloxy
from process.stub_server import StubServer

pytestmark = pytest.mark.process

PATH = "/v1/chat/completions"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
HOSTILE = "red\x1b[31m\u202egnp\x07"


@pytest.fixture
def data_dir(isolated):
    folder = isolated / ".cloxy"
    folder.mkdir(mode=0o700)
    return folder


class Model:
    """Answers of the stub; `gate` holds the rest of an answer back."""

    def __init__(self, stub):
        self.stub = stub
        self.pieces = ["The ", "port ", "is ", "9055."]
        self.memory = [12, 15]
        self.meta = {}
        self.finish = "stop"
        self.gate = None
        self.gone = threading.Event()
        stub.behave("POST", PATH, self.answer)
        stub.answer("GET", "/v1/models", {"data": [{"id": "tiny"}]})
        stub.answer("GET", "/projects", {"projects": []})
        stub.answer("GET", "/memory/12", self.kept(12))

    def kept(self, number):
        return {
            "id": number,
            "content": f"we chose {HOSTILE}",
            "project": "/srv/shop",
            "title": f"Ports {HOSTILE}",
            "ts_start": "2026-03-01T12:00:00+00:00",
        }

    def answer(self, handler):
        body = json.loads(handler.body)
        meta = {"memory": self.memory, "left_machine": False, **self.meta}
        if not body["stream"]:
            choice = {"message": {"content": "".join(self.pieces)}, "finish_reason": self.finish}
            whole = {"model": "tiny", "choices": [choice], "usage": {"total_tokens": 9}}
            handler.reply(200, json.dumps(whole | {"cloxy_meta": meta}).encode())
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.send_header("x-cloxy-memories", ",".join(map(str, self.memory)))
        handler.end_headers()
        handler.close_connection = True
        try:
            self.send(handler, {"choices": [{"delta": {"role": "assistant", "content": ""}}]})
            for piece in self.pieces:
                self.send(handler, {"model": "tiny", "choices": [{"delta": {"content": piece}}]})
            while self.gate is not None and not self.gate.wait(0.05):
                handler.wfile.write(b": ping\n\n")
                handler.wfile.flush()
            last = {"choices": [{"delta": {}, "finish_reason": self.finish}], "cloxy_meta": meta}
            self.send(handler, last)
            handler.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            self.gone.set()

    def send(self, handler, value):
        handler.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        handler.wfile.flush()

    @property
    def asked(self):
        return self.stub.bodies(PATH)


@pytest.fixture
def model(data_dir):
    with StubServer(data_dir).running() as stub:
        yield Model(stub)


def run(model, *arguments, **more):
    return run_cloxy("chat", *arguments, url=model.stub.url, **more)


def test_one_question(model):
    done = run(model, "which", "port?")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "The port is 9055.\n"
    words = done.stderr.decode()
    assert words.startswith("sources:\n  2026-03-01 ")
    assert "· shop · Ports red\\x1b[31m" in words
    assert "· id 12\n" in words
    assert "  no date · id 15\n" in words  # it could not be asked for
    (body,) = model.asked
    assert body["messages"] == [{"role": "user", "content": "which port?"}]
    assert (body["stream"], body["memory"], body["memory_store"]) == (True, True, False)
    assert body["max_completion_tokens"] == 2048
    assert "memory_project" not in body


def test_options_reach_the_server(model):
    run(model, "-k", "3", "--project", "shop", "--store", "--model", "big", "hi")
    body = model.asked[0]
    assert (body["memory_top_k"], body["memory_project"], body["model"]) == (3, "shop", "big")
    assert body["memory_store"]
    assert body["memory_session"].startswith("chat-")


def test_without_memory(model):
    model.memory = []
    done = run(model, "--no-memory", "hi")
    assert model.asked[0]["memory"] is False
    assert done.stderr == b""
    assert ("GET", "/projects") not in [asked[:2] for asked in model.stub.asked]


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (["{here}"], "{here}"),
        (["{above}", "/srv/other"], "{above}"),
        (["{above}", "{here}", "{below}"], "{here}"),
        (["{below}", "relative", ""], None),
    ],
)
def test_the_project_is_the_one_that_one_is_in(model, tmp_path, known, wanted):
    here = tmp_path / "shop" / "web"
    here.mkdir(parents=True)
    places = {"here": here, "above": here.parent, "below": here / "x"}
    projects = [{"project": each.format(**places)} for each in known]
    model.stub.answer("GET", "/projects", {"projects": projects})
    subprocess.run(
        [PROGRAM, "chat", "hi"], env=child_environment(model.stub.url, {}), cwd=here, check=True
    )
    expected = None if wanted is None else wanted.format(**places)
    assert model.asked[0].get("memory_project") == expected
    subprocess.run(
        [PROGRAM, "chat", "--all-projects", "hi"],
        env=child_environment(model.stub.url, {}),
        cwd=here,
        check=True,
    )
    assert "memory_project" not in model.asked[1]


def test_a_folder_is_made_absolute(model, tmp_path):
    environment = child_environment(model.stub.url, {})
    command = [PROGRAM, "chat", "--project", "./shop", "hi"]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    assert model.asked[0]["memory_project"] == str(tmp_path / "shop")


def test_json_for_one_question(model):
    model.pieces = [HOSTILE]
    done = run(model, "--json", "which port?")
    assert done.returncode == 0
    assert not FORBIDDEN.search(done.stdout.decode())
    told = json.loads(done.stdout)
    assert told["answer"] == HOSTILE
    assert told["sources"][0] == {
        "id": 12,
        "date": "2026-03-01T12:00:00+00:00",
        "project": "/srv/shop",
        "title": f"Ports {HOSTILE}",
    }
    assert told["sources"][1] == {"id": 15, "date": None, "project": None, "title": None}
    assert (told["model"], told["finish_reason"]) == ("tiny", "stop")
    assert model.asked[0]["stream"] is False


def test_a_question_from_standard_input(model):
    done = subprocess.run(
        [PROGRAM, "chat"],
        env=child_environment(model.stub.url, {}),
        input=b"line one\nline two\n",
        capture_output=True,
    )
    assert done.returncode == 0
    assert model.asked[0]["messages"][0]["content"] == "line one\nline two"
    assert run(model).returncode == 2  # nothing comes


def test_what_a_model_says_does_not_act_on_the_terminal(model):
    model.pieces = ["a\r", "\nb\x1b", "[2J", "\u202e", "c\x07", "\ud83d", "\ude05"]
    done = run(model, "hi")
    assert done.stdout.decode() == "a\nb\\x1b[2J\\u202ec\\x07\U0001f605\n"
    assert not FORBIDDEN.search(done.stdout.decode())
    assert not FORBIDDEN.search(done.stderr.decode())


def test_what_is_to_be_known_is_told(model):
    model.finish = "length"
    model.meta = {"left_machine": True, "memory_note": f"slow {HOSTILE}"}
    words = run(model, "hi").stderr.decode()
    assert "--max-tokens" in words
    assert "left your machine" in words
    assert "slow red\\x1b" in words


def test_errors_of_the_server(model):
    error = {"error": {"code": "model_missing", "message": "no model", "hint": "`cloxy init`"}}
    model.stub.answer("POST", PATH, error, status=503)
    done = run(model, "hi")
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode() == "cloxy: no model; `cloxy init`\n"


def test_no_server(data_dir):
    for arguments in (["hi"], ["--json", "hi"], ["--no-memory", "hi"]):
        done = run_cloxy("chat", *arguments, url="http://127.0.0.1:1")
        assert done.returncode == 2
        assert b"cloxy start" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--project", "x", "--all-projects", "hi"],
        ["--no-memory", "-k", "3", "hi"],
        ["-k", "21", "hi"],
        ["  "],
    ],
)
def test_wrong_use(model, arguments):
    assert run(model, *arguments).returncode == 2
    assert model.asked == []


def test_a_conversation(model):
    with Terminal("chat", url=model.stub.url) as person:
        assert "tiny · memory of all projects · /help" in person.until("> ")
        person.type("which port?")
        shown = person.until("id 15")
        assert "The port is 9055." in shown
        person.until("> ")
        person.type("//and why?")
        person.until("id 15")
        person.type("/sources")
        assert "we chose red\\x1b[31m" in person.until("> ") + person.until("> ")
        person.type("/clear")
        person.until("A new conversation.")
        person.type("again")
        person.until("id 15")
        person.type("/nonsense")
        person.until("There is no /nonsense")
        person.type("/help")
        person.until("/quit")
        person.type("/quit")
        assert person.finish() == 0
    assert not FORBIDDEN.search(person.shown.replace("\r", ""))
    said = [[turn["content"] for turn in body["messages"]] for body in model.asked]
    assert said == [
        ["which port?"],
        ["which port?", "The port is 9055.", "/and why?"],
        ["again"],
    ]


def test_ctrl_c_stops_the_answer_and_not_the_program(model):
    model.gate = threading.Event()
    with Terminal("chat", url=model.stub.url) as person:
        person.until("> ")
        person.type("which port?")
        person.until("9055.")
        person.interrupt()
        person.until("(stopped)")
        assert model.gone.wait(120), "the server was not told"
        model.gate = None
        person.until("> ")
        person.type("go on")
        person.until("id 15")
        person.until("> ")
        person.interrupt_prompt("Ctrl-D ends.")
        # A Ctrl-D before the next prompt would be lost where the terminal changes its mode.
        person.until("> ")
        person.press_end()
        assert person.finish() == 0
    assert [turn["content"] for turn in model.asked[1]["messages"]] == [
        "which port?",
        "The port is 9055.",
        "go on",
    ]


def test_a_question_without_an_answer_is_not_kept(model):
    with Terminal("chat", url=model.stub.url) as person:
        person.until("> ")
        model.stub.answer("POST", PATH, {"error": {"message": "broken"}}, status=500)
        person.type("one")
        person.until("cloxy: broken")
        model.stub.behave("POST", PATH, model.answer)
        person.type("two")
        person.until("id 15")
        person.until("> ")
        person.press_end()
        person.finish()
    assert [turn["content"] for turn in model.asked[1]["messages"]] == ["two"]


def test_a_conversation_needs_a_model(model):
    model.stub.answer("GET", "/v1/models", {"data": []})
    with Terminal("chat", url=model.stub.url) as person:
        assert person.finish() == 1
    assert "cloxy init" in person.shown
