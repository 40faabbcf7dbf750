from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.app_server import decoding
from dragoman.harnesses.codex.app_server import parser as parsing
from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.app_server.decoding import (
    settled_by,
)
from dragoman.harnesses.codex.app_server.parser import AppServerParser
from dragoman.harnesses.codex.app_server.shapes import Params, Rpc, TurnInfo
from dragoman.model import intents
from dragoman.wire import jsonl
from dragoman.wire.envelope import unwrap

_RUNS = Path(__file__).parents[3] / "data" / "codex" / "runs"
_RECORDED = sorted(_RUNS.glob("*/*.appserver.jsonl"))


def decode_line(line: bytes) -> tuple[Rpc | None, Any]:
    parser = AppServerParser()
    parser.receive_line(line)
    return parser.rpc, parser.whole


def _line(**message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "line",
    [
        _line(id=7, result={"a": 1}),
        _line(error={"code": 1, "message": "no"}, id=7),
        _line(method="item/tool/call", id=7, params={"tool": "t"}),
        _line(id=7, method="item/tool/call", params={"tool": "t"}),
        _line(method="item/tool/call", params={"tool": "t", "command": "x" * 100}, id=7),
        b' { "id" : 7 , "result" : { } } ',
    ],
)
def test_requests_and_answers_are_plain_values_too_wherever_the_id_is(line: bytes) -> None:
    rpc, whole = decode_line(line)

    assert rpc is not None
    assert rpc.id == 7
    assert whole == json.loads(line)


@pytest.mark.parametrize(
    "line",
    [
        _line(method="item/agentMessage/delta", params={"threadId": "t", "delta": "hi"}),
        _line(method="x", params={"a": "b", "id": 7, "item": {"type": "plan"}}),
        _line(id=None, method="turn/started", params={"threadId": "t"}),
    ],
)
def test_a_notification_is_decoded_into_fields_only(line: bytes) -> None:
    rpc, whole = decode_line(line)

    assert rpc is not None
    assert rpc.id is None
    assert rpc.method is not None
    assert whole is None


def test_what_only_notifications_have_does_not_spoil_a_request() -> None:
    rpc, whole = decode_line(_line(method="item/tool/call", id=7, params={"item": 1, "tool": "t"}))

    assert rpc is not None
    assert rpc.params is not None
    assert rpc.params.tool == "t"
    assert whole is not None
    assert whole["params"]["item"] == 1


@pytest.mark.parametrize("line", [b"[]", b'"x"', b'{"id":true,"result":1}', b'{"id":7,"method":7}'])
def test_a_line_of_no_shape_is_plain_values_only(line: bytes) -> None:
    assert decode_line(line) == (None, json.loads(line))


_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "t", "id"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["id", "item", "msg", "turn", "threadId"]), inner)
    ),
    max_leaves=5,
)


@given(
    st.permutations(["id", "method", "params", "result", "error"]),
    st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error"]), _values),
)
def test_the_order_of_keys_changes_nothing(order: list[str], message: dict[str, Any]) -> None:
    """Both ways of decoding give the same for every line, or raise for the same lines."""

    def outcome(line: bytes) -> Any:
        rpc, whole = decode_line(line)
        return msgspec.structs.replace(rpc, params=None) if rpc is not None else None, whole

    first = outcome(_line(**message))
    other = outcome(_line(**{name: message[name] for name in order if name in message}))

    assert first == other


def test_what_settles_something_is_found_in_the_fields() -> None:
    turn = Params(thread_id="t", turn=TurnInfo(id="u"))

    assert settled_by(turn)["threadId"] == "t"
    assert settled_by(turn)["turn"] == {"id": "u"}
    assert settled_by(Params(request_id=7))["requestId"] == 7
    assert settled_by(Params(success=True))["success"] is True
    assert settled_by(None) == {}


@pytest.mark.parametrize("path", _RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_live_line_is_decoded_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def counting(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        def count(line: bytes) -> Any:
            decoded.append(line)
            return decode(line)

        return count

    monkeypatch.setattr(decoding, "decode_rpc", counting(decoding.decode_rpc))
    monkeypatch.setattr(parsing, "decode_rpc", decoding.decode_rpc)
    monkeypatch.setattr(decoding, "decode_value", counting(decoding.decode_value))
    monkeypatch.setattr(jsonl, "loads", counting(jsonl.loads))
    conversation = AppServerConversation()
    conversation.submit(intents.Greet(client="test", client_version="0"))
    conversation.lines_to_send()
    for raw in path.read_bytes().splitlines():
        line, sent = unwrap(raw)
        if sent:
            continue
        line = msgspec.json.encode(msgspec.json.decode(line))  # the server writes no spaces
        decoded.clear()
        conversation.receive_line(line)
        assert decoded == [line]
        conversation.lines_to_send()


def test_an_rpc_has_no_undecoded_result() -> None:
    assert "result" not in Rpc.__struct_fields__


def test_an_event_without_parameters_changes_nothing_for_lines_after_it() -> None:
    lines = [b'{"method":"thread/compacted"}', b'{"method":"codex/event/x","params":null}']
    parser = AppServerParser()
    parser.receive_lines([lines[0], lines[1], lines[0]])

    kinds = [type(message).__name__ for message in parser.messages()]
    assert kinds.count("Unknown") == 1
