"""What a session may do: the guard that makes every agent ask, and how Dragoman answers by the session's access.

opencode has no modes of access, but rules. Those of a session do not hold for its sub-agents, so a plug-in of ours
(``guard.js``) sets the rules of the configuration: whatever changes something is asked about, in every session. With
full access Dragoman allows at once; in a plan it denies edits; otherwise the user decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from dragoman.harnesses.opencode.capabilities import ALLOW, PLAN
from dragoman.model.intents import Decide
from dragoman.model.messages import ApprovalRequested
from dragoman.wire.loose import as_dict, as_list, as_str

_MARK: Final = "dragoman"
_GUARDED: Final = ("bash", "edit", "webfetch", "websearch")
_PLANNING: Final = "This session only plans: nothing may be changed. Continue without it."


def unguarded(agents: Any) -> str | None:
    """What an agent in the answer to ``GET /agent`` may do without asking; None if nothing changes anything."""
    listed = [as_dict(each) for each in as_list(agents)]
    if not listed:
        return "it lists no agents"
    for agent in listed:
        name = as_str(agent.get("name")) or "an agent"
        rules = [as_dict(each) for each in as_list(agent.get("permission"))]
        if not any(rule.get("permission") == _MARK for rule in rules):
            return "Dragoman's plug-in, which makes it ask, was not loaded"
        for permission in _GUARDED:
            if _may(permission, rules):
                return f"its agent {name!r} may use {permission!r} without asking"
    return None


def has_agent(agents: Any, name: str) -> bool:
    """Whether there is an agent of this name."""
    return any(as_dict(each).get("name") == name for each in as_list(agents))


def _may(permission: str, rules: Iterable[dict[str, Any]]) -> bool:
    """Whether a rule lets this happen without a question: the last one that fits decides."""
    for rule in reversed(list(rules)):
        if not _fits(as_str(rule.get("permission")) or "", permission):
            continue
        if rule.get("action") not in ("ask", "deny"):
            return True
        if rule.get("pattern") == "*":
            return False
    return True


def _fits(pattern: str, permission: str) -> bool:
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts).replace(r"\?", "."), permission) is not None


def decided_by(access: str | None, asked: ApprovalRequested, session_id: str) -> Decide | None:
    """The decision that the access makes by itself; None for what the user decides."""
    if asked.kind in ("question", "elicitation"):
        return None
    if access == ALLOW:
        return Decide(session_id=session_id, approval_id=asked.approval_id, decision="allow")
    if access == PLAN and asked.kind == "edit":
        return Decide(
            session_id=session_id,
            approval_id=asked.approval_id,
            decision="deny",
            message=_PLANNING,
        )
    return None
