"""What every harness that can be driven has to offer."""

from __future__ import annotations

import pytest

from dragoman.harnesses import driven
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.transport import Launch, SessionTransport

_DRIVEN = driven()
_NAMES = [each.name for each in _DRIVEN]


@pytest.mark.parametrize("harness", _DRIVEN, ids=_NAMES)
def test_a_driven_harness_has_a_program_and_dialects_for_its_transports(harness: Harness) -> None:
    assert harness.program is not None
    assert harness.program.command
    names = [transport.name for transport in harness.transports]
    assert len(names) == len(set(names))
    for transport in harness.transports:
        assert harness.dialect(transport.dialect) is not None


@pytest.mark.parametrize("harness", _DRIVEN, ids=_NAMES)
def test_a_conversation_begins_without_a_word(harness: Harness) -> None:
    for transport in harness.transports:
        if isinstance(transport, SessionTransport):
            conversation = transport.conversation(None, None)
            assert conversation.messages() == []
            assert conversation.answers() == []
            assert conversation.lines_to_send() == []
            assert conversation.tool_requests() == []


def test_what_a_launch_begins_with_is_not_shown() -> None:
    launch = Launch(argv=("agent",), preamble=b"KEY=sk-secret\n")
    assert "sk-secret" not in repr(launch)
