"""Every test runs without a network and with a home directory and settings of its own."""

import os
import signal
import sys
import time
from pathlib import Path

import network_guard
import pytest
from hypothesis import HealthCheck, settings

USUAL_UMASK = 0o022
GUARD = Path(network_guard.__file__).parent
FOREIGN = ("CLAUDE_CONFIG_DIR", "FASTEMBED_CACHE_PATH", "NO_COLOR", "PYTHONIOENCODING")
FOREIGN_PREFIXES = ("CLOXY_", "HF_", "XDG_")


def pytest_configure(config):
    network_guard.install()
    # How long an example takes says nothing about it.
    slow = [HealthCheck.too_slow]
    settings.register_profile("timeless", settings(), deadline=None, suppress_health_check=slow)
    settings.load_profile("timeless")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # As in a job in the background: programs that the tests start would inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    paths = [str(GUARD), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


@pytest.fixture(scope="session")
def network_log(tmp_path_factory):
    """File in which refused connections of this and of child processes are noted."""
    log = tmp_path_factory.mktemp("network") / "refused.txt"
    log.touch()
    return log


@pytest.fixture
def may_try_network(network_log):
    """For tests of the guard itself: what they provoke is not held against them."""
    before = network_log.read_text(encoding="utf-8")
    yield network_log
    network_log.write_text(before, encoding="utf-8")


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory, network_log):
    """A home of the test's own, no setting from outside; nothing may leak out of the test."""
    environment, folder, zone, signals = _visible(), Path.cwd(), _zone(), _signals()
    # Commands make all that they write private, for the rest of the process.
    umask = os.umask(USUAL_UMASK)
    modules = set(sys.modules)
    home = tmp_path_factory.mktemp("home", numbered=True)
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name in FOREIGN or name.startswith(FOREIGN_PREFIXES):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        patch.setenv(network_guard.LOG_VARIABLE, str(network_log))
        noted = network_log.read_text(encoding="utf-8")
        yield home
        refused = network_log.read_text(encoding="utf-8")[len(noted) :]
        os.umask(umask)
        _forget_modules(sys.modules.keys() - modules, tmp_path_factory.getbasetemp())
    if refused:
        network_log.write_text(noted, encoding="utf-8")
        pytest.fail(f"something tried to leave this machine:\n{refused}", pytrace=False)
    assert _visible() == environment, "the test changed environment variables and left them so"
    assert Path.cwd() == folder, "the test changed the working directory and left it so"
    assert _zone() == zone, "the test changed the time zone and left it so"
    assert _signals() == signals, "the test changed what a signal does and left it so"


def _visible():
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _forget_modules(names, folder):
    """Let nobody find modules that a test wrote, and whose files go with it."""
    for name in names:
        module = sys.modules[name]
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        if any(Path(place).is_relative_to(folder) for place in places if place):
            del sys.modules[name]


def _zone():
    return time.tzname, time.timezone, time.altzone


def _signals():
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
