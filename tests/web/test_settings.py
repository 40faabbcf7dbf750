from __future__ import annotations

from dragoman.web.settings import Settings


def test_the_token_is_long_random_and_not_shown() -> None:
    first, second = Settings(), Settings()

    assert first.token != second.token
    assert len(first.token) >= 43
    assert first.token not in repr(first)


def test_each_server_on_a_machine_has_a_cookie_of_its_own() -> None:
    assert Settings(port=1).cookie_name == "dragoman_1"


def test_hosts_are_loopback_with_the_port_and_what_was_allowed() -> None:
    settings = Settings(port=8787, names=["Box", "[fe80::1]", "proxy:443"])

    assert settings.hosts == {
        "127.0.0.1:8787",
        "localhost:8787",
        "[::1]:8787",
        "box:8787",
        "[fe80::1]:8787",
        "proxy:443",
    }


def test_the_usual_port_need_not_be_named() -> None:
    assert {"localhost", "localhost:80"} <= Settings(port=80).hosts


def test_origins_are_our_own() -> None:
    assert Settings(port=8787).origins == {
        "http://127.0.0.1:8787",
        "http://localhost:8787",
        "http://[::1]:8787",
    }
