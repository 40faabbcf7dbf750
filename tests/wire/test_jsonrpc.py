from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import ProtocolError
from dragoman.wire.jsonrpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Incoming,
    Notification,
    Peer,
    Request,
    Response,
    RpcError,
    Stray,
)


def line_of(**message: Any) -> bytes:
    return msgspec.json.encode(message)


def hears(peer: Peer, line: bytes) -> Incoming:
    """What the peer makes of one line, which is exactly one thing."""
    peer.receive_line(line)
    [event] = peer.events()
    return event


def sent(peer: Peer) -> list[Any]:
    return [msgspec.json.decode(line) for line in peer.lines_to_send()]


def carry(us: Peer, them: Peer) -> None:
    """Move lines between two ends until both have nothing more to say."""
    ours, theirs = us.lines_to_send(), them.lines_to_send()
    while ours or theirs:
        for line in ours:
            them.receive_line(line)
        for line in theirs:
            us.receive_line(line)
        ours, theirs = us.lines_to_send(), them.lines_to_send()


# Two real ends.


@pytest.mark.parametrize("version_field", [True, False])
def test_a_question_is_answered(version_field: bool) -> None:
    us, them = Peer(version_field=version_field), Peer(version_field=version_field)

    id = us.request("add", [1, 2])
    carry(us, them)
    assert them.events() == [Request(id=id, method="add", params=[1, 2])]
    assert (us.pending(), them.unanswered()) == ([id], [id])

    them.answer(id, 3)
    carry(them, us)
    assert us.events() == [Response(id=id, method="add", result=3)]
    assert (us.pending(), them.unanswered()) == ([], [])


def test_a_question_is_refused() -> None:
    us, them = Peer(version_field=True), Peer(version_field=False)
    id = us.request("fly")
    carry(us, them)

    them.refuse(id, 7, "no wings", {"wings": 0})
    carry(them, us)

    error = RpcError(code=7, message="no wings", data={"wings": 0})
    assert us.events() == [ErrorResponse(id=id, method="fly", error=error)]


def test_a_notification_needs_no_answer() -> None:
    us, them = Peer(version_field=True), Peer(version_field=True)

    us.notify("hello")
    us.notify("news", {"n": 1})
    carry(us, them)

    assert them.events() == [
        Notification(method="hello", params=None),
        Notification(method="news", params={"n": 1}),
    ]
    assert them.unanswered() == []


def test_both_sides_may_ask_with_the_same_id_at_once() -> None:
    us, them = Peer(version_field=False), Peer(version_field=False)
    assert us.request("left") == them.request("right") == 1
    carry(us, them)
    assert us.events() == [Request(id=1, method="right", params=None)]
    assert them.events() == [Request(id=1, method="left", params=None)]

    us.answer(1, "from us")
    them.answer(1, "from them")
    carry(us, them)

    assert us.events() == [Response(id=1, method="left", result="from them")]
    assert them.events() == [Response(id=1, method="right", result="from us")]


def test_answers_may_come_in_another_order() -> None:
    us, them = Peer(version_field=False), Peer(version_field=False)
    first, second = us.request("first"), us.request("second")
    carry(us, them)

    them.answer(second, 2)
    assert them.unanswered() == [first]
    them.answer(first, 1)
    carry(them, us)

    assert us.events() == [
        Response(id=second, method="second", result=2),
        Response(id=first, method="first", result=1),
    ]


def test_a_method_that_is_not_handled_is_refused_at_once() -> None:
    us = Peer(version_field=True)
    them = Peer(version_field=True, handles=frozenset({"known"}))
    known, unknown = us.request("known"), us.request("unknown")

    carry(us, them)

    request, stray = them.events()
    assert request == Request(id=known, method="known", params=None)
    assert isinstance(stray, Stray)
    assert stray.problem == "refused: unknown method 'unknown'"
    assert them.unanswered() == [known]
    error = RpcError(code=METHOD_NOT_FOUND, message="unknown method 'unknown'")
    assert us.events() == [ErrorResponse(id=unknown, method="unknown", error=error)]


def test_a_notification_is_reported_whether_handled_or_not() -> None:
    peer = Peer(version_field=True, handles=frozenset())

    assert hears(peer, b'{"method":"x"}') == Notification(method="x", params=None)


# What we write.


def test_lines_are_compact_and_in_the_usual_order() -> None:
    peer = Peer(version_field=False)
    peer.receive_line(b'{"id":"a","method":"m"}')
    peer.receive_line(b'{"id":2,"method":"m"}')

    peer.request("ask", {"b": 1, "a": "é\n"})
    peer.request("ask")
    peer.notify("tell", [])
    peer.answer("a", None)
    peer.refuse(2, -1, "no")

    assert peer.lines_to_send() == [
        '{"id":1,"method":"ask","params":{"b":1,"a":"é\\n"}}\n'.encode(),
        b'{"id":2,"method":"ask"}\n',
        b'{"method":"tell","params":[]}\n',
        b'{"id":"a","result":null}\n',
        b'{"id":2,"error":{"code":-1,"message":"no"}}\n',
    ]
    assert peer.lines_to_send() == []


def test_the_version_comes_first_where_it_is_wanted() -> None:
    peer = Peer(version_field=True)

    peer.request("ask", {})

    assert peer.lines_to_send() == [b'{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}\n']


def test_what_cannot_be_written_leaves_everything_as_it_was() -> None:
    peer = Peer(version_field=False)
    peer.receive_line(b'{"id":1,"method":"m"}')

    with pytest.raises(ProtocolError, match="cannot be written as JSON"):
        peer.request("ask", object())
    with pytest.raises(ProtocolError, match="cannot be written as JSON"):
        peer.answer(1, "\ud800")

    assert peer.lines_to_send() == []
    assert peer.pending() == []
    assert peer.unanswered() == [1]
    assert peer.request("ask") == 1


# Our own mistakes.


@pytest.mark.parametrize("id", [2, "1", True])
def test_answering_what_was_not_asked_is_our_mistake(id: int | str) -> None:
    peer = Peer(version_field=True)
    peer.receive_line(b'{"id":1,"method":"m"}')

    with pytest.raises(ProtocolError, match="not open"):
        peer.answer(id, None)
    with pytest.raises(ProtocolError, match="not open"):
        peer.refuse(id, 1, "no")


def test_answering_twice_is_our_mistake() -> None:
    peer = Peer(version_field=True)
    peer.receive_line(b'{"id":1,"method":"m"}')
    peer.answer(1, "yes")

    with pytest.raises(ProtocolError, match="request 1 is not open"):
        peer.refuse(1, 1, "no")


# What they say.


@pytest.mark.parametrize("id", [0, -1, 7, 10**30, "7", "", "é"])
def test_integers_and_strings_are_ids(id: int | str) -> None:
    peer = Peer(version_field=False)

    event = hears(peer, line_of(jsonrpc="2.0", id=id, method="m", params={"a": 1}, trace="extra"))
    peer.answer(id, "yes")

    assert event == Request(id=id, method="m", params={"a": 1})
    assert sent(peer) == [{"id": id, "result": "yes"}]


@pytest.mark.parametrize("id", [True, False, None, 1.0, 1.5, [1], {}])
def test_a_request_with_another_kind_of_id_is_refused(id: Any) -> None:
    peer = Peer(version_field=True)
    line = line_of(id=id, method="m")
    problem = "the id is neither an integer nor a string"

    assert hears(peer, line) == Stray(raw=line, problem=f"refused: {problem}")
    assert peer.unanswered() == []
    assert sent(peer) == [
        {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": problem}}
    ]


@pytest.mark.parametrize("method", [None, 1, ["m"], {}])
def test_a_method_that_is_not_a_string_is_a_stray(method: Any) -> None:
    peer = Peer(version_field=False)
    asked, told = line_of(id=5, method=method), line_of(method=method)

    problem = "the method is not a string"
    assert hears(peer, told) == Stray(raw=told, problem=problem)
    assert sent(peer) == []
    assert hears(peer, asked) == Stray(raw=asked, problem=f"refused: {problem}")
    assert sent(peer) == [{"id": 5, "error": {"code": INVALID_REQUEST, "message": problem}}]


def test_an_id_cannot_be_used_again_while_it_is_open() -> None:
    peer = Peer(version_field=False)
    line = b'{"id":1,"method":"m"}'
    assert isinstance(hears(peer, line), Request)

    assert hears(peer, line) == Stray(raw=line, problem="a second request with the id 1")

    assert sent(peer) == []
    peer.answer(1, None)
    assert isinstance(hears(peer, line), Request)


def test_an_id_echoed_as_a_string_is_ours() -> None:
    peer = Peer(version_field=False)
    for _ in range(7):
        peer.request("m")

    assert hears(peer, b'{"id":"7","result":{}}') == Response(id=7, method="m", result={})
    assert peer.pending() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("id", [True, None, 1.0, [1]])
def test_an_answer_with_another_kind_of_id_is_a_stray(id: Any) -> None:
    peer = Peer(version_field=False)
    peer.request("m")
    line = line_of(id=id, result={})

    problem = "an answer whose id is neither an integer nor a string"
    assert hears(peer, line) == Stray(raw=line, problem=problem)
    assert peer.pending() == [1]


@pytest.mark.parametrize("id", [2, 0, "2", "01", "x", "1" * 5000])
def test_an_answer_to_nothing_we_asked_is_a_stray(id: int | str) -> None:
    peer = Peer(version_field=False)
    peer.request("m")
    line = line_of(id=id, result={})

    assert hears(peer, line) == Stray(raw=line, problem=f"an answer to nothing we asked: id {id!r}")
    assert peer.pending() == [1]


def test_a_second_answer_is_a_stray() -> None:
    peer = Peer(version_field=False)
    peer.request("m")
    line = b'{"id":1,"result":{}}'

    assert isinstance(hears(peer, line), Response)
    assert isinstance(hears(peer, line), Stray)


def test_null_is_a_result_and_a_null_error_is_none() -> None:
    peer = Peer(version_field=False)
    peer.request("m")
    peer.request("m")

    assert hears(peer, b'{"id":1,"result":null}') == Response(id=1, method="m", result=None)
    assert hears(peer, b'{"id":2,"result":5,"error":null}') == Response(id=2, method="m", result=5)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": 1, "message": "a"}, RpcError(code=1, message="a")),
        ({"code": 1, "message": "a", "data": [2]}, RpcError(code=1, message="a", data=[2])),
        ("a", RpcError(code=INTERNAL_ERROR, message="a", data="a")),
        (
            {"code": True, "message": "a"},
            RpcError(code=INTERNAL_ERROR, message="a", data={"code": True, "message": "a"}),
        ),
        ({"code": 1}, RpcError(code=1, message="an error without a message", data={"code": 1})),
        (None, RpcError(code=INTERNAL_ERROR, message="an error without a message")),
    ],
)
def test_an_error_of_any_form_ends_our_request(error: Any, expected: RpcError) -> None:
    peer = Peer(version_field=False)
    peer.request("m")

    assert hears(peer, line_of(id=1, error=error)) == ErrorResponse(
        id=1, method="m", error=expected
    )
    assert peer.pending() == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"warning: low disk", "not JSON"),
        (b'{"id":1,', "broken JSON: input data was truncated"),
        (b"[]", "a batch"),
        (b'[{"id":1,"method":"m"}]', "a batch"),
        (b"42", "not an object"),
        (b"{}", "neither a method nor a result nor an error"),
        (b'{"id":1}', "neither a method nor a result nor an error"),
    ],
)
def test_anything_else_is_kept_as_a_stray(line: bytes, problem: str) -> None:
    peer = Peer(version_field=False)

    assert hears(peer, line) == Stray(raw=line, problem=problem)
    assert sent(peer) == []


def test_blank_lines_are_nothing() -> None:
    peer = Peer(version_field=False)

    peer.receive_line(b"")
    peer.receive_line(b" \r\n")

    assert peer.events() == []


def test_half_an_emoji_does_not_cost_us_the_answer() -> None:
    peer = Peer(version_field=False)
    peer.request("m")

    assert hears(peer, rb'{"id":1,"result":"\ud83d"}') == Response(
        id=1, method="m", result="\ufffd"
    )


# The end.


def test_the_end_of_the_stream_fails_what_we_still_wait_for() -> None:
    peer = Peer(version_field=False)
    peer.request("first")
    peer.request("second")
    peer.receive_line(b'{"id":1,"result":{}}')
    peer.request("third")

    peer.receive_eof()
    peer.receive_eof()

    closed = RpcError(code=CONNECTION_CLOSED, message="connection closed")
    assert peer.events() == [
        Response(id=1, method="first", result={}),
        ErrorResponse(id=2, method="second", error=closed),
        ErrorResponse(id=3, method="third", error=closed),
    ]
    assert peer.pending() == []


def test_nothing_can_be_asked_after_the_end() -> None:
    peer = Peer(version_field=False)
    peer.receive_eof()

    with pytest.raises(ProtocolError, match="cannot request 'm': the connection is closed"):
        peer.request("m")

    assert peer.lines_to_send() == []


def test_a_late_answer_is_no_mistake() -> None:
    peer = Peer(version_field=False)
    peer.receive_line(b'{"id":1,"method":"may_i"}')
    peer.receive_eof()
    assert peer.unanswered() == [1]

    peer.answer(1, "yes")

    assert peer.unanswered() == []


# For all input.

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
ids = st.sampled_from([1, 2, "1", "2", True, None, 1.0]) | json_values
nearly_rpc = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": ids,
        "method": st.sampled_from(["a", "b"]) | json_values,
        "params": json_values,
        "result": json_values,
        "error": st.fixed_dictionaries({}, optional={"code": json_values, "message": json_values})
        | json_values,
    },
).map(msgspec.json.encode)
deep = st.integers(1, 3000).map(lambda n: b'{"id":' + b"[" * n + b"]" * n + b',"method":"a"}')


@given(
    st.lists(st.binary() | nearly_rpc | deep, max_size=8), st.sampled_from([None, frozenset({"a"})])
)
def test_nothing_they_say_raises_or_is_lost(
    lines: list[bytes], handles: frozenset[str] | None
) -> None:
    peer = Peer(version_field=True, handles=handles)
    peer.request("first")
    peer.request("second")

    for line in lines:
        peer.receive_line(line)

    events = peer.events()
    assert len(events) == sum(1 for line in lines if line.strip(b" \t\r\n"))
    requests = [event.id for event in events if isinstance(event, Request)]
    assert peer.unanswered() == requests
    answers = [event.id for event in events if isinstance(event, Response | ErrorResponse)]
    assert sorted(peer.pending() + answers) == [1, 2]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in peer.lines_to_send())


@given(st.text(), json_values)
def test_whatever_is_asked_and_answered_arrives(method: str, value: Any) -> None:
    us, them = Peer(version_field=False), Peer(version_field=True)

    id = us.request(method, value)
    carry(us, them)
    assert them.events() == [Request(id=id, method=method, params=value)]

    them.answer(id, value)
    carry(them, us)
    assert us.events() == [Response(id=id, method=method, result=value)]
