"""What agents themselves report to have cost, by session, project or harness.

An agent reports one amount for a session so far. It covers the sub-agents that the session started, and
continues over a resume. A fork continues its parent's amount, so the parent's amount at that moment is
subtracted; if it is not known, neither is the fork's own amount. An amount cannot be split by time or
model, so there is none for such groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dragoman.archive.ledger.entries import LedgerSession

if TYPE_CHECKING:
    from dragoman.archive.ledger.ledger import Ledger, LedgerFilter


def reported_costs(ledger: Ledger, by: str, choice: LedgerFilter) -> dict[str, float]:
    """Return the reported US dollars of each group that has any."""
    if by not in ("session", "project", "harness"):
        return {}
    if choice.since is not None or choice.until is not None or choice.model is not None:
        return {}
    costs: dict[str, float] = {}
    for facts in ledger.sessions.values():
        if not choice.takes(facts.at, facts.project, facts.model):
            continue
        own = own_cost(facts, ledger.sessions)
        key = {"session": facts.session, "project": facts.project, "harness": facts.harness}[by]
        if own is not None and key is not None:
            costs[key] = costs.get(key, 0.0) + own
    return costs


def own_cost(facts: LedgerSession, sessions: Mapping[str, LedgerSession]) -> float | None:
    """Return what a session itself is reported to have cost, without what it inherited."""
    if not facts.costs:
        return None
    total = facts.costs[-1][1]
    if facts.origin != "fork":
        return total
    parent = sessions.get(facts.parent or "")
    if parent is None or facts.at is None:
        return None
    before = [cost for at, cost in parent.costs if at is not None and at <= facts.at]
    return max(0.0, total - before[-1]) if before else None
