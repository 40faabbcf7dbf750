from typing import Any

import msgspec
import pytest

from dragoman.model import intents

_SESSION: dict[str, Any] = {"session_id": "s"}
_EXAMPLES: list[intents.Intent] = [
    intents.Greet(client="c", client_version="1", api_key="k"),
    intents.OpenSession(
        cwd="/w", tools=[intents.ToolSpec(name="t", description="d", input_schema={})]
    ),
    intents.StartTurn(**_SESSION, text="hi", images=["/a.png"]),
    intents.Steer(**_SESSION, turn_id="t", text="left"),
    intents.Interrupt(**_SESSION, turn_id="t"),
    intents.Decide(**_SESSION, approval_id="a", decision="deny", answers={"q": ["x"]}),
    intents.AnswerTool(**_SESSION, call_id="c", output="42"),
    intents.Compact(**_SESSION),
    intents.Review(**_SESSION),
    intents.Rename(**_SESSION, name="n"),
    intents.Archive(**_SESSION),
    intents.StopCommands(**_SESSION),
    intents.AwaitTurnEnd(**_SESSION, turn_id="u1"),
    intents.SetAccess(**_SESSION, access="plan"),
    intents.CloseSession(**_SESSION),
    intents.CheckTurn(**_SESSION),
    intents.ListSessions(),
    intents.ReadSession(**_SESSION),
    intents.ListModels(),
    intents.ReadRateLimits(),
]


@pytest.mark.parametrize("intent", _EXAMPLES, ids=lambda intent: type(intent).__name__)
def test_an_intent_survives_being_written_down(intent: intents.Intent) -> None:
    line = msgspec.json.encode(intent)
    assert msgspec.json.decode(line, type=intents.Intent) == intent


def test_there_is_an_example_of_every_intent() -> None:
    kinds = {type(intent) for intent in _EXAMPLES}
    assert kinds == set(intents.BaseIntent.__subclasses__())


def test_the_defaults_allow_nothing_beyond_the_workspace() -> None:
    opening = intents.OpenSession(cwd="/w")
    assert (opening.sandbox, opening.approvals) == ("workspace-write", "never")
