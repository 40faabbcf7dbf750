import pytest

from dragoman.client.connection import Connection

_NAMES = ("AGENT_KEY", "OTHER_KEY")


def test_keys_come_from_the_agents_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", "outer")
    monkeypatch.setenv("OTHER_KEY", "")
    assert Connection().keys(_NAMES) == {"AGENT_KEY": "outer"}
    assert Connection(env={"AGENT_KEY": "inner"}).keys(_NAMES) == {"AGENT_KEY": "inner"}


def test_a_key_that_is_given_signs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENT_KEY", raising=False)
    monkeypatch.setenv("OTHER_KEY", "other")
    keys = Connection(api_key="given").keys(_NAMES)
    assert list(keys.items()) == [("AGENT_KEY", "given"), ("OTHER_KEY", "other")]


def test_secrets_are_not_shown() -> None:
    shown = repr(Connection(api_key="sk-secret", token="t-secret"))
    assert "secret" not in shown
