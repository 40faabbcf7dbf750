"""Each check of the suite finds the fault that it is for, and nothing in a harness that has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.harnesses import harness
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Duplicate, Limit
from dragoman.model import intents
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Text,
    ToolCall,
    ToolResult,
    TurnEnded,
    Unknown,
    UsageReport,
)
from dragoman.testing.conformance import NotConforming, checks, conformance
from support import sabotage
from support.sabotage import Sabotage

CODEX = harness("codex")
_RUNS = Path(__file__).parents[2] / "data" / "codex" / "runs"
_SOME = [_RUNS / "0.166.0" / f"patch_all.{kind}.jsonl" for kind in ("exec", "exec-rollout")]
_SOME += [_RUNS / "0.163.0" / f"interrupt_cmd.{kind}.jsonl" for kind in ("appserver", "rollout")]
_MUTATIONS = 60


def _without(kind: type[Message]) -> Callable[[list[Message]], list[Message]]:
    return lambda messages: [each for each in messages if not isinstance(each, kind)]


def _twice(kind: type[Message]) -> Callable[[list[Message]], list[Message]]:
    return lambda messages: [
        each
        for message in messages
        for each in (message,) * (2 if isinstance(message, kind) else 1)
    ]


def _changed(kind: type[Message], **fields: Any) -> Callable[[list[Message]], list[Message]]:
    return lambda messages: [
        msgspec.structs.replace(each, **fields) if isinstance(each, kind) else each
        for each in messages
    ]


def _costly(messages: list[Message]) -> list[Message]:
    return [
        msgspec.structs.replace(
            each, last=msgspec.structs.replace(each.last, cached_input_tokens=1 << 40)
        )
        if isinstance(each, UsageReport) and each.last is not None
        else each
        for each in messages
    ]


def _refuse(original: Callable[..., Any], lines: Any) -> None:
    lines = list(lines)
    if any(b"\x00" in line or not line.strip().startswith(b"{") for line in lines):
        raise ValueError("this is not JSON")
    original(lines)


def _all_but_the_last(original: Callable[..., Any], lines: Any) -> None:
    original(list(lines)[:-1])


def _end_growing(original: Callable[..., Any], ending: str) -> None:
    original("over")


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


def _messages(change: Callable[[list[Message]], list[Message]]) -> dict[str, Callable[..., Any]]:
    return {"messages": lambda original: change(original())}


def _transport(**fields: Any) -> Sabotage:
    return lambda harness: replace(
        harness, transports=tuple(replace(each, **fields) for each in harness.transports)
    )


def _without_labels(offered: Any) -> Any:
    return replace(offered, access=tuple(replace(each, label="") for each in offered.access))


class _Plain:
    def receive_lines(self, lines: Any) -> bool:
        return True

    def receive_eof(self) -> None:
        return

    def messages(self) -> list[Message]:
        return []


_NO_ALTERNATIVE = Limit(dialect="codex-exec", aspect="images", why="It is never needed.")
_FAULTS: dict[str, Sabotage] = {
    "reading: recordings are recognized": lambda h: replace(h, sniff=lambda _: None, settle=None),
    "reading: every dialect has a recording": lambda h: h,
    "reading: no other program is claimed": lambda h: replace(h, sniff=lambda _: "codex-exec"),
    "reading: no other harness claims ours": lambda h: replace(h, name="another"),
    "reading: every line is accounted for": sabotage.emitting(_without(Text)),
    "reading: duplicates hold nothing new": sabotage.parsing(
        messages=lambda original: [each for each in original() if not isinstance(each, ToolCall)],
        duplicates=lambda original: [*original(), *(Duplicate(line, "made up") for line in range(1, 40))],
    ),
    "reading: only broken lines are malformed": sabotage.emitting(
        lambda messages: [
            *messages, *(Unknown(line=1, native_type="x", raw="cut off") for _ in messages[:1])
        ]
    ),
    "reading: nothing is emitted twice": sabotage.emitting(_twice(ToolCall)),
    "reading: every turn ends once": sabotage.emitting(_without(TurnEnded)),
    "reading: calls have results": sabotage.emitting(_without(ToolResult)),
    "reading: tokens are counted once": sabotage.emitting(_costly),
    "reading: chunks make no difference": sabotage.parsing(receive_lines=_all_but_the_last),
    "reading: reading some types is reading all and choosing": lambda h: replace(
        h,
        dialects=tuple(
            replace(
                each,
                make_parser=lambda only, audit, each=each: sabotage.Wrapped(
                    each.make_parser(only=only, audit=audit),
                    messages=lambda original: [] if only else original(),
                ),
            )
            for each in h.dialects
        ),
    ),
    "reading: an open turn is not ended": sabotage.parsing(receive_eof=_end_growing),
    "reading: messages survive being written": sabotage.emitting(
        _changed(ToolCall, input={"a set": ("one", "two")})
    ),
    "reading: the quick reader agrees": lambda h: replace(h, plain=lambda _: _Plain()),
    "reading: no input raises": sabotage.parsing(receive_lines=_refuse),
    "reading: noise changes nothing else": sabotage.emitting(_without(Unknown)),
    "reading: live equals disk": sabotage.emitting(
        lambda messages: [
            msgspec.structs.replace(each, text=f"{each.text} ({each.at})")
            if isinstance(each, Text)
            else each
            for each in messages
        ]
    ),
    "reading: every limit is needed": lambda h: replace(h, limits=(*h.limits, _NO_ALTERNATIVE)),
    "driving: launches start the program": lambda h: replace(
        h,
        transports=tuple(
            replace(
                each,
                launch=lambda *given, each=each: replace(each.launch(*given), argv=("other",)),
            )
            for each in h.transports
        ),
    ),
    "driving: transports speak known dialects": _transport(dialect="something"),
    "driving: choices are described": sabotage.offering(_without_labels),
    "driving: abilities are true": sabotage.offering(lambda o: replace(o, can=o.can | {"set_access"})),
    "driving: a driven harness can be played": _fold_in("acting"),
    "driving: a conversation starts silent": sabotage.conversing(
        lines_to_send=lambda original: [*original(), b"{}\n"]
    ),
    "driving: turns run to their ends": sabotage.conversing(**_messages(_without(Text))),
    "driving: approvals are asked and allowed": sabotage.conversing(
        **_messages(_without(ApprovalRequested))
    ),
    "driving: approvals can be denied": sabotage.conversing(
        **_messages(_changed(ApprovalSettled, decision="allow"))
    ),
    "driving: a turn can be interrupted": sabotage.conversing(submit=_swallow(intents.Interrupt)),
    "driving: a session can be resumed": sabotage.conversing(submit=_open_anew),
    "driving: a crash ends what is open": sabotage.conversing(receive_eof=lambda original: None),
    "driving: a turn that we end stays ended": sabotage.conversing(
        end_turn=lambda original, *given: None
    ),
    "driving: no line of the agent raises": sabotage.conversing(receive_line=_raise_at_noise),
    "driving: a prompt of its own ends once": sabotage.running(**_messages(_without(Text))),
    "driving: a process that dies ends its turn": sabotage.running(
        receive_exit=lambda original, code: original(code) if code == 0 else None
    ),
    "driving: a process that is given up ends its turn": sabotage.running(
        **_messages(_twice(TurnEnded))
    ),
    "driving: no line of the process raises": sabotage.running(receive_line=_raise_at_noise),
}  # fmt: skip


def _findings(made: Harness, name: str) -> list[str]:
    [check] = [each for each in checks(made, _SOME, mutations=_MUTATIONS) if each.name == name]
    return [finding.text for finding in check.findings()]


def test_each_check_has_a_fault_that_it_must_find() -> None:
    assert [check.name for check in checks(CODEX, _SOME)] == list(_FAULTS)


@pytest.mark.parametrize("name", _FAULTS)
def test_a_fault_is_found_by_the_check_that_is_for_it(name: str) -> None:
    assert _findings(_FAULTS[name](CODEX), name)


def test_all_findings_are_raised_together() -> None:
    faulty = sabotage.emitting(_without(ToolResult))(CODEX)

    with pytest.raises(NotConforming) as caught:
        conformance(faulty, _SOME, mutations=5)

    found = {finding.check for finding in caught.value.findings}
    assert {"reading: calls have results", "reading: every dialect has a recording"} <= found
    assert "call" in str(caught.value)


def test_a_check_that_raises_is_a_finding() -> None:
    def broken(original: Callable[..., Any]) -> list[Message]:
        raise KeyError("a bug")

    faulty = sabotage.parsing(messages=broken)(CODEX)

    [finding] = _findings(faulty, "reading: calls have results")
    assert finding.startswith("KeyError: 'a bug' (")


def test_a_harness_that_is_only_read_needs_no_agent() -> None:
    only_read = replace(CODEX, transports=(), acting=None, program=None)

    made = [check for check in checks(only_read, _SOME) if check.name.startswith("driving")]

    assert made
    assert [check.findings() for check in made] == [[]] * len(made)
