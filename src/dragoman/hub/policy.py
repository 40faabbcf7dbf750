"""The policy of a hub: rules in a file that can be read, tried on past requests, and changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from dragoman.drive.approvals.policy import ASK, Policy, Verdict
from dragoman.drive.approvals.policy_file import parse_policy, read_policy
from dragoman.drive.approvals.rules import Rules
from dragoman.drive.calling import call
from dragoman.errors import UsageError
from dragoman.model.messages import ApprovalRequested
from dragoman.store.live.entries import Entry


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy decides about a request."""

    session_id: str
    seq: int
    request: ApprovalRequested
    decision: str
    """A decision, or ``ask``."""
    by: str | None = None
    """The rule that decides."""


class HubPolicy:
    """Callable as a :data:`~dragoman.drive.approvals.policy.Policy`; what is saved holds from then on."""

    def __init__(self, path: str | os.PathLike[str] | None, otherwise: Policy | str | Path) -> None:
        """A file that is not there yet leaves it to ``otherwise``."""
        self.path = Path(path) if path is not None else None
        if self.path is None and isinstance(otherwise, str | Path):
            self.path = Path(otherwise)
        self._otherwise = None if isinstance(otherwise, str | Path) else otherwise
        self._rules: Rules | None = None
        if self.path is not None and self.path.exists():
            self._rules = read_policy(self.path)

    async def __call__(self, request: ApprovalRequested) -> Verdict:
        if self._rules is not None:
            return self._rules(request)
        if self._otherwise is None:
            return None
        outcome = await call(self._otherwise, request)
        if outcome.error is not None:
            raise outcome.error
        return cast("Verdict", outcome.value)

    def text(self) -> str:
        """The content of the file; empty if there is none."""
        if self.path is None or not self.path.exists():
            return ""
        return self.path.read_text(encoding="utf-8")

    def judge(
        self, text: str, past: Iterable[Entry], workspaces: Mapping[str, str] | None = None
    ) -> list[Judged]:
        """What these rules would have decided. Raises :class:`dragoman.drive.approvals.policy_file.BadPolicy`.

        ``workspaces`` are the sessions' own directories. A request of any other session is judged as if
        it had come from its own.
        """
        rules = self._parse(text)
        judged: list[Judged] = []
        for entry in past:
            request = entry.message
            if not isinstance(request, ApprovalRequested):
                continue
            own = (workspaces or {}).get(entry.session_id) or request.cwd or _cwd_in(request)
            said = rules.explain(request, cwd=own or os.sep)
            judged.append(
                Judged(
                    session_id=entry.session_id,
                    seq=entry.seq,
                    request=request,
                    decision=said.decision,
                    by=said.by if said.rule is not None or said.decision != ASK else None,
                )
            )
        return judged

    def save(self, text: str) -> None:
        """Put the rules in force, and into the file, whole or not at all."""
        rules = self._parse(text)
        if self.path is None:
            raise UsageError("there is no policy file to write to")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.new")
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, self.path)
        self._rules = rules

    def _parse(self, text: str) -> Rules:
        return parse_policy(text, str(self.path or "policy"), resolve=os.path.realpath)


def _cwd_in(request: ApprovalRequested) -> str | None:
    """Where older entries have the directory."""
    cwd = request.detail.get("cwd")
    return cwd if isinstance(cwd, str) else None
