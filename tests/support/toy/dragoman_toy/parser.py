"""Lines of the toy agent as messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from dragoman.harnesses.contract.reading import Duplicate, Ending
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Malformed,
    Message,
    Outcome,
    Prompt,
    SessionStarted,
    Text,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
)
from dragoman.wire.envelope import unwrap
from dragoman.wire.lines import LongLine

_GONE = TurnError(kind="port_exit", message="the agent's process ended", retryable=True)


def decoded(line: bytes) -> dict[str, Any] | None:
    """The object on a line; None for anything else."""
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", told) if isinstance(told, dict) else None


class ToyParser:
    """A stream of the toy agent, or of both directions."""

    def __init__(self, *, only: frozenset[str] | None = None, audit: bool = False) -> None:
        self._made: list[Message] = []
        self._duplicates: list[Duplicate] = []
        self._line = 0
        self.session: str | None = None
        self.turn: str | None = None
        self._asked: str | None = None

    def receive_line(self, line: bytes) -> None:
        self._line += 1
        line, _ = unwrap(line.rstrip(b"\n"))
        told = decoded(line)
        if told is None:
            self._made.append(
                Malformed(
                    line=self._line, raw=line.decode("utf-8", "replace"), problem="no JSON object"
                )
            )
        elif "do" in told:
            self._duplicates.append(Duplicate(self._line, "our own line: the agent repeats it"))
        else:
            self._read(told)

    def receive_lines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.receive_line(line)

    def receive_long_line(self, line: LongLine) -> None:
        self._line += 1
        self._made.append(
            Malformed(line=self._line, raw=line.head.decode("utf-8", "replace"), problem="too long")
        )

    def receive_eof(self, ending: Ending = "over") -> None:
        if ending == "over":
            self.end("failed", _GONE)

    def end(self, outcome: Outcome, error: TurnError | None = None) -> None:
        """End the open turn, once."""
        if self.turn is None:
            return
        if self._asked is not None:
            self._add(ApprovalSettled, approval_id=self._asked, decision="abandoned")
        self._add(TurnEnded, outcome=outcome, error=error)
        self.turn = self._asked = None

    def messages(self) -> list[Message]:
        made, self._made = self._made, []
        return made

    def duplicates(self) -> list[Duplicate]:
        twins, self._duplicates = self._duplicates, []
        return twins

    def _add(self, kind: Any, /, **facts: Any) -> None:
        given = {"line": self._line, "session_id": self.session, "turn_id": self.turn}
        self._made.append(kind(**{**given, **facts}))

    def _read(self, told: dict[str, Any]) -> None:
        match told.get("is"):
            case "open":
                self.session = told.get("session")
                self._add(SessionStarted, harness="toy", model="small", cwd=told.get("cwd"))
            case "turn":
                self.turn = told.get("turn")
                self._add(TurnStarted)
                if "prompt" in told:
                    self._add(Prompt, text=told["prompt"])
            case "text" if self.turn is not None:
                self._add(Text, text=told.get("text") or "", item_id=f"t{self.turn}")
            case "approve" if self.turn is not None:
                self._asked = str(told.get("id"))
                command = str(told.get("command"))
                detail = {"command": command}
                self._add(
                    ApprovalRequested,
                    approval_id=self._asked,
                    kind="command",
                    tool="Bash",
                    summary=command,
                    command=command,
                    detail=detail,
                    choices=["allow", "deny"],
                )
            case "decided" if self._asked is not None:
                decision = "allow" if told.get("yes") else "deny"
                self._add(ApprovalSettled, approval_id=self._asked, decision=decision)
                self._asked = None
            case "end" if self.turn is not None:
                self.end("interrupted" if told.get("outcome") == "interrupted" else "completed")
            case "hello" | "refused" | "text" | "end":
                self._duplicates.append(Duplicate(self._line, "an answer"))
            case kind:
                self._add(Unknown, native_type=str(kind), raw=json.dumps(told))
