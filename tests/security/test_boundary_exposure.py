"""When the server may listen beyond this machine."""

import secrets

import pytest
from fastapi import FastAPI

from cloxy_core.services.exposure import check_exposure
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.server import server_config
from cloxy_hookspecs import ExposureError

LOOPBACK = ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost", "LOCALHOST"]
EXPOSED = [
    "0.0.0.0",
    "::",
    "[::]",
    "",
    "192.168.1.20",
    "10.0.0.1",
    "8.8.8.8",
    "fe80::1",
    "169.254.1.1",
    "127.1",
    "2130706433",
    "localhost.example",
    "my-laptop",
    "127.0.0.1.example",
]
SAMPLES = [
    "changeme-changeme",
    "change-me-to-a-random-string",
    "your-api-key-goes-here",
    "replace_with_a_long_random_string",
    "my-super-secret-api-key",
    "SuperSecretPassword",
    "password12345678",
    "0123456789abcdef",
    "01234567890123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfgh",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "abcabcabcabcabcabcabc",
    "----------------------",
    "cloxy-default-token",
]


@pytest.mark.parametrize("host", LOOPBACK)
@pytest.mark.parametrize("key", [None, "", "short", "changeme"])
def test_this_machine_needs_no_key(host, key):
    check_exposure(host, key)


@pytest.mark.parametrize("host", EXPOSED)
@pytest.mark.parametrize("key", [None, "", "k3y-t00-s1ght", "x" * 15, *SAMPLES])
def test_other_machines_need_a_proper_one(host, key):
    with pytest.raises(ExposureError) as caught:
        check_exposure(host, key)
    message = str(caught.value)
    assert "CLOXY_API_KEY" in message
    assert "CLOXY_HOST" in message
    assert "\n" not in message
    assert not key or key not in message


@pytest.mark.parametrize("host", EXPOSED)
def test_random_keys_of_the_usual_shapes_are_proper(host):
    for _ in range(20):
        check_exposure(host, secrets.token_hex(16))
        check_exposure(host, secrets.token_urlsafe(16))
    check_exposure(host, "correct horse battery staple")


def test_a_host_with_control_characters_is_shown_escaped():
    with pytest.raises(ExposureError, match=r"\\x1b"):
        check_exposure("\x1b[31m", None)


def test_no_configuration_is_made_for_an_exposed_open_server():
    with pytest.raises(ExposureError):
        server_config(FastAPI(), BoundaryPolicy("0.0.0.0", 9055, None))


def test_the_configuration_leaves_nothing_to_chance():
    config = server_config(FastAPI(), BoundaryPolicy("127.0.0.1", 9055, None), log_level="trace")
    assert config.log_level == "debug"
    assert config.ws == "none"
    assert not (config.access_log or config.proxy_headers or config.server_header)
