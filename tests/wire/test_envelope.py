from __future__ import annotations

from typing import Any

import pytest

from dragoman import Malformed, Unknown, read
from dragoman.model.messages import type_of
from dragoman.wire.envelope import object_on, unwrap


@pytest.mark.parametrize(
    ("line", "inner", "sent"),
    [
        pytest.param(
            b'{"dir": "recv", "t": 0.3746, "msg": {"method": "turn/started", "params": {}}}',
            b'{"method": "turn/started", "params": {}}',
            False,
            id="what the program said",
        ),
        pytest.param(
            b'{"dir": "send", "t": 0.43, "msg": {"id": 0, "result": {"decision": "accept"}}}\n',
            b'{"id": 0, "result": {"decision": "accept"}}',
            True,
            id="what the client said",
        ),
        pytest.param(b'{"dir":">>","msg":[1]}', b"[1]", True, id="an arrow"),
        pytest.param(b'{"dir":"sent","msg":[1]}', b"[1]", True, id="in the past tense"),
        pytest.param(b'{"dir":"<<","msg":[1]}', b"[1]", False, id="the other arrow"),
        pytest.param(b'{ "dir":"out","msg":"x"}', b'"x"', True, id="a space first"),
    ],
)
def test_a_wrapped_line_gives_its_message_byte_for_byte_and_its_direction(
    line: bytes, inner: bytes, sent: bool
) -> None:
    assert unwrap(line) == (inner, sent)


@pytest.mark.parametrize(
    "line",
    [b'{"method":"turn/started","params":{"dir":"send"}}', b"noise", b"", b'["dir"]'],
)
def test_a_line_without_a_wrapper_is_left_alone(line: bytes) -> None:
    assert unwrap(line) == (line, None)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"dir":', "malformed"),
        (b'{"dir":"send"}', "unknown"),
        (b'{"dir":5,"msg":{}}', "unknown"),
        (b'{"dir":"send","msg":{]}', "malformed"),
    ],
    ids=["cut off", "no message", "no direction", "no JSON inside"],
)
def test_a_broken_wrapper_is_left_alone_and_kept_as_a_message(line: bytes, kind: str) -> None:
    assert unwrap(line) == (line, None)

    [kept] = read(line, dialect="codex-app-server")

    assert (type_of(type(kept)), kept.line) == (kind, 1)
    assert isinstance(kept, Unknown | Malformed)
    assert kept.raw == line.decode()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"type":"a"}', {"type": "a"}),
        (b'{"dir":"recv","msg":{"type":"a"}}', {"type": "a"}),
        (b'{"dir":"recv","raw":"{\\"type\\":\\"a\\"}"}', {"type": "a"}),
        (b'{"dir":"meta","cmd":["x"]}', {"dir": "meta", "cmd": ["x"]}),
        (b'{"dir":"recv","raw":"oops"}', {}),
        (b'{"dir":"recv"}', {}),
        (b"[1]", {}),
        (b"oops", {}),
    ],
)
def test_the_object_on_a_line_is_without_its_wrapper(line: bytes, value: dict[str, Any]) -> None:
    assert object_on(line) == value
