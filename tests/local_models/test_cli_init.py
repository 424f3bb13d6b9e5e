"""`cloxy init`, `cloxy show` and `cloxy list`: real programs against the stand-in of the hub."""

import json
import os
import stat

import pytest
from local_models.hub_stand_in import TOKEN, wait_until
from local_models.model_files import gguf, mlx_files, write
from local_models.terminal import Terminal
from process.cli_runner import run_cloxy
from process.stub_server import StubServer

from cloxy_core.cli import init_run
from cloxy_core.local_models.catalogue import load_catalogue
from cloxy_core.local_models.choice import read_choice
from cloxy_core.local_models.endpoints import Endpoint

pytestmark = pytest.mark.process

REPO = "org/model-GGUF"
NAME = "m-Q4_K_M.gguf"
WEIGHTS = gguf(architecture="qwen3", context=8192, payload=os.urandom(300_000))
NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def data_dir(isolated):
    return isolated / ".cloxy"


class World:
    def __init__(self, stand_in, data_dir):
        self.stand_in = stand_in
        self.data_dir = data_dir
        self.environment = {"HF_ENDPOINT": stand_in.url}
        self.url = NOBODY
        stand_in.add(REPO, {NAME: WEIGHTS, "m-Q8_0.gguf": WEIGHTS + b"8", "README.md": b"#"})

    def run(self, *arguments, **more):
        return run_cloxy(*arguments, url=self.url, **{**self.environment, **more})

    def json(self, *arguments, **more):
        run = self.run(*arguments, "--json", **more)
        assert run.returncode == 0, run.stderr.decode()
        return json.loads(run.stdout)

    @property
    def choice(self):
        return read_choice(self.data_dir / "config.json")

    @property
    def folder(self):
        return self.data_dir / "models" / REPO.replace("/", "--")


@pytest.fixture
def world(stand_in, data_dir):
    return World(stand_in, data_dir)


def test_any_model_of_the_hub_by_its_id(world):
    run = world.run("init", "--model", REPO)
    assert run.returncode == 0, run.stderr.decode()
    out = run.stdout.decode()
    assert out.startswith("m-Q4_K_M is set up.\n")
    assert out.endswith("Next: cloxy chat\n")
    choice = world.choice
    assert (choice.name, choice.format, choice.source) == ("m-Q4_K_M", "gguf", REPO)
    assert choice.path == str(world.folder / NAME)
    assert choice.context_tokens == 8192
    assert (world.folder / NAME).read_bytes() == WEIGHTS
    assert stat.S_IMODE(world.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((world.folder / NAME).stat().st_mode) == 0o600


def test_a_second_run_checks_and_asks_the_hub_nothing(world):
    world.run("init", "--model", REPO)
    asked = len(world.stand_in.asked)
    again = world.run("init", "--model", REPO)
    assert again.stdout.decode().startswith("m-Q4_K_M was set up already. Its files are whole.\n")
    assert len(world.stand_in.asked) == asked
    (world.folder / NAME).write_bytes(b"x" + WEIGHTS[1:])
    assert world.json("init", "--model", REPO)["already"] is False
    assert (world.folder / NAME).read_bytes() == WEIGHTS


def test_a_file_of_many_is_chosen_by_its_quantization(world):
    done = world.json("init", "--model", f"{REPO}:q8_0")
    assert done["choice"]["path"] == str(world.folder / "m-Q8_0.gguf")
    assert done["written"]
    assert done["server"] == {"running": False, "model": None, "trouble": None}
    assert world.choice.path.endswith("m-Q8_0.gguf")
    refused = world.run("init", "--model", f"{REPO}:Q5_K_M")
    assert refused.returncode == 4
    assert NAME in refused.stderr.decode()


def test_a_name_of_the_catalogue(world):
    entry = next(each for each in load_catalogue() if each.name == "Qwen3 0.6B")
    world.stand_in.add(entry.id, {entry.file: WEIGHTS, "other-Q2_K.gguf": b"x"})
    done = world.json("init", "--model", "qwen3-0.6b")
    assert done["choice"]["name"] == "Qwen3 0.6B"
    assert done["choice"]["path"].endswith(entry.file)
    listed = {each["name"]: each for each in world.json("list")["models"]}
    assert listed["Qwen3 0.6B"]["here"]
    assert listed["Qwen3 0.6B"]["chosen"]
    assert not listed["Qwen3 4B"]["here"]
    line = next(
        each for each in world.run("list").stdout.decode().split("\n") if "Qwen3 0.6B" in each
    )
    assert line.startswith("*")
    assert " yes " in line


def test_nothing_is_done_in_a_dry_run(world):
    run = world.run("init", "--model", REPO, "--dry-run")
    assert run.returncode == 0
    assert NAME in run.stdout.decode()
    assert "apache-2.0" in run.stdout.decode()
    planned = world.json("init", "--model", REPO, "--dry-run")["planned"]
    assert planned["missing_bytes"] == len(WEIGHTS)
    assert not world.data_dir.exists()
    assert world.stand_in.asked_cdn == []


def test_without_a_terminal_it_says_what_to_pass(world):
    run = world.run("init")
    assert run.returncode == 2
    words = run.stderr.decode()
    assert "--model" in words
    assert "--server" in words
    assert "--yes" in words
    assert not world.data_dir.exists()


def test_yes_takes_the_recommended_model(world):
    best = next(each for each in world.json("list")["models"] if each["recommended"])
    world.stand_in.add(best["id"], {best["file"]: WEIGHTS})
    assert world.json("init", "--yes")["choice"]["name"] == best["name"]


def test_a_gated_model_says_what_to_do_and_works_with_a_token(world, data_dir):
    world.stand_in.gated.add(REPO)
    refused = world.run("init", "--model", REPO)
    assert refused.returncode == 7
    assert "HF_TOKEN" in refused.stderr.decode()
    assert f"{world.stand_in.url}/{REPO}" in refused.stderr.decode()
    write(data_dir, {"client.env": f"HF_TOKEN={TOKEN}\n".encode()})
    (data_dir / "client.env").chmod(0o600)
    assert world.run("init", "--model", REPO).returncode == 0
    assert not any("Authorization" in headers for _, headers in world.stand_in.asked_cdn)


def test_a_download_that_ends_too_early_goes_on(world):
    world.stand_in.cuts = [100_000]
    assert world.run("init", "--model", REPO, seconds=120).returncode == 0
    assert (world.folder / NAME).read_bytes() == WEIGHTS


def test_a_tampered_file_is_refused_and_nothing_is_chosen(world):
    world.stand_in.tamper = lambda data: data[::-1]
    run = world.run("init", "--model", REPO)
    assert run.returncode == 8
    assert "thrown away" in run.stderr.decode()
    assert world.choice is None


def test_what_is_no_model_is_refused_behind_the_download(world):
    world.stand_in.repos[REPO] = {NAME: b"GGUF but no more"}
    run = world.run("init", "--model", REPO)
    assert run.returncode == 4
    assert "no whole GGUF model" in run.stderr.decode()
    assert world.choice is None


def test_an_mlx_model_is_refused_where_it_cannot_run(world):
    world.stand_in.add("mlx-community/m", mlx_files())
    run = world.run("init", "--model", "mlx-community/m")
    assert run.returncode == 4
    assert "Apple Silicon" in run.stderr.decode()
    assert world.stand_in.asked_cdn == []


def test_a_local_file_stays_where_it_is(world, tmp_path):
    path = write(tmp_path, {"mine.gguf": WEIGHTS}) / "mine.gguf"
    done = world.json("init", "--model", str(path))
    assert done["choice"]["path"] == str(path)
    assert done["choice"]["source"] == str(path)
    assert world.stand_in.asked == []
    shown = world.json("show")
    assert shown["whole"]
    assert shown["repo"] is None
    path.write_bytes(WEIGHTS[:50])
    run = world.run("show")
    assert run.returncode == 1
    assert "no whole GGUF model" in run.stderr.decode()


def test_a_server_of_another_program(world):
    server = StubServer()
    models = {"data": [{"id": "llama3.2:3b"}, {"id": "big:cloud"}]}
    with server.running():
        server.answer("GET", "/v1/models", models)
        done = world.json("init", "--server", server.url)
        assert done["choice"] == {
            "name": "llama3.2:3b",
            "format": "http",
            "source": f"{server.url}/v1",
            "path": None,
            "load_gb": None,
            "context_tokens": None,
            "model": "llama3.2:3b",
        }
        assert done["install"] is None
        assert world.run("show").returncode == 0
        missing = world.run("init", "--server", server.url, "--model", "none")
        assert missing.returncode == 4
        assert "llama3.2:3b" in missing.stderr.decode()
        cloud = world.run("init", "--server", server.url, "--model", "big:cloud", "--quiet")
        assert "CLOXY_LLM_ALLOW_REMOTE" in cloud.stderr.decode()
        assert cloud.stdout == b""
    away = world.run("show")
    assert away.returncode == 1
    assert "no server answers" in away.stderr.decode()


@pytest.mark.parametrize(
    ("url", "key"),
    [("http://127.0.0.1:1/v1", "sesame"), ("http://192.168.0.9/v1", ""), ("https://x.example", "")],
)
def test_a_key_is_sent_to_no_other_machine_unasked(isolated, monkeypatch, url, key):
    sent = []

    def ask(name, base_url, *, seconds, api_key):
        sent.append(api_key)
        return Endpoint(name, base_url, ("a",))

    monkeypatch.setattr(init_run, "ask_endpoint", ask)
    monkeypatch.setenv("CLOXY_LLM_API_KEY", "sesame")
    wishes = init_run.Wishes(model=None, server=url, yes=False, dry_run=True, quiet=True)
    assert init_run.InitSession(wishes).run(as_json=False) == 0
    assert sent == [key]


def test_a_server_that_is_away_needs_the_name_of_a_model(world):
    refused = world.run("init", "--server", "127.0.0.1:1")
    assert refused.returncode == 8
    assert "--model" in refused.stderr.decode()
    done = world.json("init", "--server", "127.0.0.1:1", "--model", "later")
    assert done["choice"]["model"] == "later"
    assert "did not list" in done["notes"][-1]


def test_the_file_of_cloxy_5_is_read_and_its_other_keys_stay(world, data_dir):
    old = {"model_short_name": "Old", "model_hf_id": "mlx-community/old", "theirs": 1}
    write(data_dir, {"config.json": json.dumps(old).encode()})
    shown = world.json("list")
    assert shown
    assert "Old" in world.run("show").stdout.decode()
    world.run("init", "--model", REPO)
    kept = json.loads((data_dir / "config.json").read_text())
    assert kept["theirs"] == 1
    assert kept["model_hf_id"] == REPO


def test_a_damaged_choice_is_told_before_anything_comes(world, data_dir):
    write(data_dir, {"config.json": b"{"})
    for arguments in (["init", "--model", REPO], ["show"], ["list"]):
        run = world.run(*arguments)
        assert run.returncode == 2
        assert "config.json is no JSON at line 1" in run.stderr.decode()
    assert world.stand_in.asked == []


def test_another_place_for_the_choice(world, tmp_path):
    place = tmp_path / "elsewhere" / "model.json"
    world.environment["CLOXY_CONFIG"] = str(place)
    world.run("init", "--model", REPO)
    assert read_choice(place).source == REPO
    assert world.choice is None


def test_show_tells_files_and_what_is_wrong_with_them(world):
    assert world.run("show").returncode == 1
    world.run("init", "--model", REPO)
    shown = world.json("show")
    assert shown["repo"] == REPO
    assert shown["commit"] == world.stand_in.commit
    assert shown["files"] == [{"path": str(world.folder / NAME), "size": len(WEIGHTS)}]
    assert (shown["whole"], shown["checked"]) == (True, False)
    assert world.json("show", "--check")["checked"]
    changed = WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1])
    (world.folder / NAME).write_bytes(changed)
    assert world.run("show").returncode == 0  # its size and header are right
    checked = world.run("show", "--check")
    assert checked.returncode == 1
    assert f"cloxy init --model {REPO}" in checked.stderr.decode()
    (world.folder / NAME).unlink()
    assert world.run("show").returncode == 1


def test_the_running_server_is_asked(world, stub_of_ours, tmp_path):
    (tmp_path / "llama_cpp").mkdir()  # as if the extra were installed
    (tmp_path / "llama_cpp" / "__init__.py").touch()
    paths = [str(tmp_path), os.environ["PYTHONPATH"]]
    world.environment["PYTHONPATH"] = os.pathsep.join(paths)
    world.url = stub_of_ours.url
    stub_of_ours.answer("GET", "/v1/models", {"data": [{"id": "m-Q4_K_M"}]})
    assert "answers with it from now on" in world.run("init", "--model", REPO).stdout.decode()
    stub_of_ours.answer("GET", "/v1/models", {"data": [{"id": "another"}]})
    assert "answers with another" in world.run("init", "--model", REPO).stdout.decode()
    assert world.json("show")["server"] == {"running": True, "model": "another", "trouble": None}


@pytest.fixture
def stub_of_ours(data_dir):
    data_dir.mkdir(mode=0o700, exist_ok=True)
    with StubServer(data_dir).running() as server:
        yield server


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", ""],
        ["--yes", "--dry-run"],
        ["--server", "http://a b"],
        ["--model", "a/b/c"],
        ["--model", "../none.gguf"],
        ["--model", "bad..id/x"],
    ],
)
def test_wrong_use_is_told(world, arguments):
    run = world.run("init", *arguments)
    assert run.returncode in {2, 4, 5}
    assert run.stderr.startswith((b"cloxy: ", b"Usage: "))
    assert b"Traceback" not in run.stderr


def test_hostile_names_do_not_act_on_the_terminal(world):
    text = "\x1b[2J\u202egpj"
    for arguments in (["init", "--model", text], ["init", "--server", text]):
        run = world.run(*arguments)
        assert run.returncode != 0
        assert b"\x1b" not in run.stderr
        assert "\u202e".encode() not in run.stderr


def test_a_person_is_asked(world):
    world.stand_in.add("Qwen/Qwen3-0.6B-GGUF", {"Qwen3-0.6B-Q8_0.gguf": WEIGHTS})
    with Terminal("init", url=NOBODY, **world.environment) as terminal:
        offered = terminal.until("or a path")
        assert "chip" in offered
        assert "recommended" in offered
        terminal.until(": ")
        terminal.type("77")
        terminal.until("There is no number 77.")
        terminal.type("qwen3 0.6b")
        terminal.until("Next: cloxy chat")
        assert terminal.finish() == 0
    assert "Qwen3 0.6B is set up." in terminal.shown
    assert world.choice.name == "Qwen3 0.6B"


def test_a_person_who_leaves_changes_nothing(world):
    with Terminal("init", url=NOBODY, **world.environment) as terminal:
        terminal.until("or a path")
        terminal.press_end()
        assert terminal.finish() == 130
    assert not world.data_dir.exists()


def test_a_stopped_download_says_that_it_goes_on(world):
    world.stand_in.pause_at = 100_000
    with Terminal("init", "--model", REPO, url=NOBODY, **world.environment) as terminal:
        assert world.stand_in.paused.wait(120)
        wait_until(lambda: any(part.stat().st_size > 90_000 for part in world.folder.iterdir()))
        terminal.interrupt()
        assert terminal.finish() == 130
    assert "What has come is kept" in terminal.shown
    world.stand_in.pause_at = None
    world.stand_in.go_on.set()
    assert world.run("init", "--model", REPO).returncode == 0
    begun = world.stand_in.asked_cdn[-1][1]["Range"].removeprefix("bytes=").removesuffix("-")
    assert 90_000 < int(begun) <= 100_000
