"""Each check about reading finds the fault that it is for."""

# A fault takes the place of a method of any type.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from dragoman.harnesses import harness
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Duplicate, Limit
from dragoman.model.messages import (
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
from support.sabotage import Sabotage, changed, twice, without

CODEX = harness("codex")
_RUNS = Path(__file__).parents[2] / "data" / "codex" / "runs"
_SOME = [
    *(_RUNS / "0.166.0" / f"patch_all.{kind}.jsonl" for kind in ("exec", "exec-rollout")),
    *(_RUNS / "0.163.0" / f"interrupt_cmd.{kind}.jsonl" for kind in ("appserver", "rollout")),
]
_MUTATIONS = 60


def _costly(messages: list[Message]) -> list[Message]:
    return [
        msgspec.structs.replace(
            each, last=msgspec.structs.replace(each.last, cached_input_tokens=1 << 40)
        )
        if isinstance(each, UsageReport) and each.last is not None
        else each
        for each in messages
    ]


def _refuse(original: Callable[..., Any], given: Iterable[bytes]) -> None:
    lines = list(given)
    if any(b"\x00" in line or not line.strip().startswith(b"{") for line in lines):
        raise ValueError("this is not JSON")
    original(lines)


def _all_but_the_last(original: Callable[..., Any], lines: Any) -> None:
    original(list(lines)[:-1])


def _end_growing(original: Callable[..., Any], ending: str) -> None:
    original("over")


class _Plain:
    def receive_lines(self, lines: Any) -> bool:
        return True

    def receive_eof(self) -> None:
        return

    def messages(self) -> list[Message]:
        return []


_IDLE_LIMIT = Limit(dialect="codex-exec", aspect="images", why="It is never needed.")
_FAULTS: dict[str, Sabotage] = {
    "reading: recordings are recognized": lambda h: replace(h, sniff=lambda _: None, settle=None),
    "reading: every dialect has a recording": lambda h: h,
    "reading: no other program is claimed": lambda h: replace(h, sniff=lambda _: "codex-exec"),
    "reading: no other harness claims ours": lambda h: replace(h, name="another"),
    "reading: every line is accounted for": sabotage.emitting(without(Text)),
    "reading: duplicates hold nothing new": sabotage.parsing(
        messages=lambda original: [each for each in original() if not isinstance(each, ToolCall)],
        duplicates=lambda original: [*original(), *(Duplicate(line, "made up") for line in range(1, 40))],
    ),
    "reading: emitting lines lose nothing": sabotage.emitting(changed(ToolCall, input={})),
    "reading: only broken lines are malformed": sabotage.emitting(
        lambda messages: [
            *messages, *(Unknown(line=1, native_type="x", raw="cut off") for _ in messages[:1])
        ]
    ),
    "reading: nothing is emitted twice": sabotage.emitting(twice(ToolCall)),
    "reading: every turn ends once": sabotage.emitting(without(TurnEnded)),
    "reading: calls have results": sabotage.emitting(without(ToolResult)),
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
        changed(ToolCall, input={"a set": ("one", "two")})
    ),
    "reading: the quick reader agrees": lambda h: replace(h, plain=lambda _: _Plain()),
    "reading: no input raises": sabotage.parsing(receive_lines=_refuse),
    "reading: noise changes nothing else": sabotage.emitting(without(Unknown)),
    "reading: live equals disk": sabotage.emitting(
        lambda messages: [
            msgspec.structs.replace(each, text=f"{each.text} ({each.at})")
            if isinstance(each, Text)
            else each
            for each in messages
        ]
    ),
    "reading: every limit is needed": lambda h: replace(h, limits=(*h.limits, _IDLE_LIMIT)),
}  # fmt: skip


def _findings(made: Harness, name: str) -> list[str]:
    [check] = [each for each in checks(made, _SOME, mutations=_MUTATIONS) if each.name == name]
    return [finding.text for finding in check.findings()]


def test_each_check_has_a_fault_that_it_must_find() -> None:
    names = [check.name for check in checks(CODEX, _SOME)]

    assert [name for name in names if name.startswith("reading")] == list(_FAULTS)


@pytest.mark.parametrize("name", _FAULTS)
def test_a_fault_is_found_by_the_check_that_is_for_it(name: str) -> None:
    assert _findings(_FAULTS[name](CODEX), name)


def test_all_findings_are_raised_together() -> None:
    faulty = sabotage.emitting(without(ToolResult))(CODEX)

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
