"""Each check about driving finds the fault that it is for."""

# A fault takes the place of a method of any type.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from dragoman.harnesses import harness
from dragoman.harnesses.contract.harness import Harness
from dragoman.model import intents
from dragoman.model.messages import ApprovalRequested, ApprovalSettled, Text, TurnEnded
from dragoman.testing.conformance import checks
from support import sabotage
from support.sabotage import Change, Sabotage, changed, twice, without

CODEX = harness("codex")


def _fold_in(name: str) -> Sabotage:
    return lambda harness: replace(harness, **{name: None})


def _swallow(kind: type[intents.BaseIntent]) -> Callable[..., Any]:
    def submit(original: Callable[..., Any], intent: intents.Intent) -> int:
        return 1_000_000 if isinstance(intent, kind) else original(intent)

    return submit


def _open_anew(original: Callable[..., Any], intent: Any) -> int:
    if isinstance(intent, intents.OpenSession):
        intent = msgspec.structs.replace(intent, resume=None)
    return original(intent)


def _raise_at_noise(original: Callable[..., Any], line: bytes) -> None:
    msgspec.json.decode(line)
    original(line)


def _messages(change: Change) -> dict[str, Callable[..., Any]]:
    return {"messages": lambda original: change(original())}


def _transport(**fields: Any) -> Sabotage:
    return lambda harness: replace(
        harness, transports=tuple(replace(each, **fields) for each in harness.transports)
    )


def _without_labels(offered: Any) -> Any:
    return replace(offered, access=tuple(replace(each, label="") for each in offered.access))


_FAULTS: dict[str, Sabotage] = {
    "driving: launches start the program": lambda h: replace(
        h,
        transports=tuple(
            replace(
                each,
                launch=lambda *given, each=each: dataclasses.replace(each.launch(*given), argv=("other",)),
            )
            for each in h.transports
        ),
    ),
    "driving: transports speak known dialects": _transport(dialect="something"),
    "driving: choices are described": sabotage.offering(_without_labels),
    "driving: abilities are true": sabotage.offering(lambda o: replace(o, can=o.can | {"set_access"})),
    "driving: a driven harness can be played": _fold_in("playback"),
    "driving: a conversation starts silent": sabotage.conversing(
        lines_to_send=lambda original: [*original(), b"{}\n"]
    ),
    "driving: turns run to their ends": sabotage.conversing(**_messages(without(Text))),
    "driving: approvals are asked and allowed": sabotage.conversing(
        **_messages(without(ApprovalRequested))
    ),
    "driving: approvals can be denied": sabotage.conversing(
        **_messages(changed(ApprovalSettled, decision="allow"))
    ),
    "driving: a turn can be interrupted": sabotage.conversing(submit=_swallow(intents.Interrupt)),
    "driving: a session can be resumed": sabotage.conversing(submit=_open_anew),
    "driving: a crash ends what is open": sabotage.conversing(receive_eof=lambda original: None),
    "driving: a turn that we end stays ended": sabotage.conversing(
        end_turn=lambda original, *given: None
    ),
    "driving: no line of the agent raises": sabotage.conversing(receive_line=_raise_at_noise),
    "driving: a prompt of its own ends once": sabotage.running(**_messages(without(Text))),
    "driving: a process that dies ends its turn": sabotage.running(
        receive_exit=lambda original, code: original(code) if code == 0 else None
    ),
    "driving: a process that is given up ends its turn": sabotage.running(
        **_messages(twice(TurnEnded))
    ),
    "driving: no line of the process raises": sabotage.running(receive_line=_raise_at_noise),
}  # fmt: skip


def _findings(made: Harness, name: str) -> list[str]:
    [check] = [each for each in checks(made, (), mutations=60) if each.name == name]
    return [finding.text for finding in check.findings()]


def test_each_check_has_a_fault_that_it_must_find() -> None:
    names = [check.name for check in checks(CODEX, ())]

    assert [name for name in names if name.startswith("driving")] == list(_FAULTS)


@pytest.mark.parametrize("name", _FAULTS)
def test_a_fault_is_found_by_the_check_that_is_for_it(name: str) -> None:
    assert _findings(_FAULTS[name](CODEX), name)


def test_a_harness_that_is_only_read_needs_no_agent() -> None:
    only_read = replace(CODEX, transports=(), playback=None, program=None)

    made = [check for check in checks(only_read, ()) if check.name.startswith("driving")]

    assert made
    assert [check.findings() for check in made] == [[]] * len(made)
