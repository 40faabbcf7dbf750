import pytest

from dragoman.harnesses import HARNESSES
from dragoman.harnesses.contract.driving import Launch
from dragoman.harnesses.contract.harness import Harness

_DRIVEN = [harness for harness in HARNESSES if harness.driving is not None]


def test_what_a_launch_begins_with_is_not_shown() -> None:
    launch = Launch(argv=("agent",), preamble=b"KEY=sk-secret\n")
    assert "sk-secret" not in repr(launch)


@pytest.mark.parametrize("harness", _DRIVEN, ids=lambda harness: harness.name)
def test_what_a_one_shot_says_is_a_dialect_that_is_read(harness: Harness) -> None:
    assert harness.driving is not None
    assert harness.dialect(harness.driving.one_shot_dialect) is not None


@pytest.mark.parametrize("harness", _DRIVEN, ids=lambda harness: harness.name)
def test_a_conversation_at_its_start_has_nothing_to_say(harness: Harness) -> None:
    assert harness.driving is not None
    conversation = harness.driving.make_conversation(None, None)
    assert conversation.lines_to_send() == []
    assert conversation.messages() == []
    assert conversation.answers() == []
    assert conversation.tool_requests() == []
