"""A connection over ACP is known by what only ACP has."""

from __future__ import annotations

import pytest

from dragoman.harnesses.acp.sniff import sniff_acp

_GREETED = (
    b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},'
    b'"agentInfo":{"name":"toy","version":"1"}}}'
)
_UPDATE = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s",'
    b'"update":{"sessionUpdate":"agent_message_chunk"}}}'
)


@pytest.mark.parametrize("line", [_GREETED, _UPDATE, b'{"dir":"recv","t":1,"msg":%s}' % _GREETED])
def test_an_agent_is_known_by_its_answer_or_by_an_update(line: bytes) -> None:
    assert sniff_acp([b"", b"noise", line], "acp")


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}',
        b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}',
        b'{"method":"session/update","params":{"update":{}}}',
        b'{"id":1,"result":{"sessionId":"s"}}',
    ],
)
def test_other_programs_that_speak_json_rpc_are_not_claimed(line: bytes) -> None:
    assert not sniff_acp([line], "acp")
