"""A schema held against what we know.

Two things are known: what our decoders have a row for, which decides whether a line would be kept as
``unknown``; and the names in ``reviewed.json``, which decide what is new.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Final

from dragoman.harnesses.codex.app_server.notices import ASIDE, NOTICES
from dragoman.harnesses.codex.app_server.notifications import NOTIFICATIONS
from dragoman.harnesses.codex.app_server.requests import REQUESTS
from dragoman.harnesses.codex.drift.schema import names
from dragoman.harnesses.codex.events.shape import Event, tag_of, tagged
from dragoman.harnesses.codex.failures import knows
from dragoman.harnesses.codex.items.dispatch import knows_kind
from dragoman.harnesses.codex.questions import knows_decision
from dragoman.harnesses.codex.values.loose import as_dict
from dragoman.harnesses.contract.program import Drift

_PERMISSIONS: Final = re.compile(
    r"approv|sandbox|permission|decision|policy|elicit|grant|escalat|trust|network|guardian|writableRoots",
    re.IGNORECASE,
)
_EVENTS: Final = frozenset(map(tag_of, tagged(Event)))
_DECISIONS: Final = re.compile(r"(?:\w+ApprovalDecision|ReviewDecision)=(\w+)")


def drift(schema: bytes) -> Drift:
    """What the schema names that we do not know. Raises ``ValueError`` if it is none."""
    found, (releases, reviewed) = _names_in(schema), load_reviewed()
    new = found - reviewed
    unread = {name for name in found if _is_unread(name)}
    return Drift(
        reviewed=releases,
        names=len(found),
        new=sorted(new),
        unknown=sorted(unread),
        permissions=sorted(name for name in new | unread if _PERMISSIONS.search(name)),
    )


def _names_in(schema: bytes) -> set[str]:
    try:
        found = names(as_dict(json.loads(schema)))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not any(name.startswith("notification ") for name in found):
        raise ValueError("it names no notifications")
    return found


def load_reviewed() -> tuple[list[str], frozenset[str]]:
    """The releases whose names were all looked at, and these names."""
    text = (
        resources.files("dragoman.harnesses.codex.drift")
        .joinpath("reviewed.json")
        .read_text(encoding="utf-8")
    )
    table = json.loads(text)
    known = {f"{owner}{name}" for owner, each in table["names"].items() for name in each}
    return table["releases"], frozenset(known)


def reviewed_table(schemas: dict[str, bytes]) -> str:
    """The file that lists all names of these releases' schemas as reviewed."""
    groups: dict[str, list[str]] = {}
    for name in sorted({name for schema in schemas.values() for name in _names_in(schema)}):
        owner = re.match(r"(?:notification|request|call) |[\w\[\]]+(?:\([^)]*\))?", name)
        head = owner[0] if owner else ""
        groups.setdefault(head, []).append(name[len(head) :])
    table = {"releases": list(schemas), "names": groups}
    return json.dumps(table, indent=0, ensure_ascii=False).replace('",\n"', '", "') + "\n"


def _is_unread(name: str) -> bool:
    """Whether a line that has this would be kept as ``unknown``, or its word taken for any other."""
    kind, _, method = name.partition(" ")
    if kind == "notification":
        known = method in NOTIFICATIONS or method in NOTICES or method in ASIDE
        return not known and not method.startswith("codex/event")
    if kind == "request":
        return method not in REQUESTS
    if event := re.fullmatch(r"EventMsg\((\w+)\)", name):
        return event[1] not in _EVENTS
    if item := re.fullmatch(r"ThreadItem\((\w+)\)", name):
        return not knows_kind(item[1])
    if error := re.fullmatch(r"CodexErrorInfo[=.](\w+)", name):
        return not knows(error[1])
    if decision := _DECISIONS.fullmatch(name):
        return not knows_decision(decision[1])
    return False
