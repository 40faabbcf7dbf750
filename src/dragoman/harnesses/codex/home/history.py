"""Where Codex keeps its rollouts, and what their names and headers contain.

Files lie in ``sessions/YYYY/MM/DD/rollout-TIME-THREAD.jsonl``, and flat in ``archived_sessions``; some
releases compress old ones. A revert creates ``rollout-TIME-THREAD_ROLLOUT.jsonl`` for the same thread.
Since 0.150 forks and reverts do not copy what they continue but refer to it: ``history_base``. The name that
a user gives to a thread is added to ``session_index.jsonl``; the rollout does not change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from dragoman.harnesses.codex.values.loose import as_dict, as_int, as_str
from dragoman.harnesses.contract.history import (
    Base,
    History,
    NameList,
    Origin,
    OriginKind,
    OwnList,
    Place,
)
from dragoman.harnesses.contract.lazy import on_use
from dragoman.model.homes import HomeFolder
from dragoman.model.messages import Notice
from dragoman.wire.jsonl import UNREADABLE

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAME: Final = re.compile(rf"^rollout-[0-9T:.-]+?-({_UUID})(?:_{_UUID})?\.jsonl(?:\.zst)?$")
_TURNS: Final = re.compile(r"\b(\d+)\b")


class _Meta(msgspec.Struct):
    id: str
    source: Any = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    history_base: Any = None
    dragoman_handoff: Any = None


class _Header(msgspec.Struct):
    payload: _Meta


class _FlatHeader(msgspec.Struct):
    id: str


class _Numbered(msgspec.Struct):
    ordinal: int | None = None


class _Named(msgspec.Struct):
    id: str
    thread_name: str


_header = msgspec.json.Decoder(_Header).decode
_flat_header = msgspec.json.Decoder(_FlatHeader).decode
_numbered = msgspec.json.Decoder(_Numbered).decode
_named = msgspec.json.Decoder(_Named).decode


CODEX_HOME: Final = HomeFolder("CODEX_HOME", ".codex")


def identify(path: str, first_lines: Sequence[bytes]) -> Origin | None:
    """Return the session in a rollout's header, or the one in its file name if there is no header."""
    if first_lines and (origin := origin_in(first_lines[0])) is not None:
        return origin
    named = session_id_in(path.replace("\\", "/").rpartition("/")[2])
    return Origin(session_id=named) if named is not None else None


def session_id_in(file_name: str) -> str | None:
    """Return the thread in the name of a rollout."""
    found = _NAME.match(file_name)
    return found[1] if found else None


def origin_in(line: bytes) -> Origin | None:
    """Return the session in a rollout's header."""
    try:
        meta = _header(line).payload
    except UNREADABLE:
        try:
            return Origin(session_id=_flat_header(line).id)
        except UNREADABLE:
            return None
    subagent = as_dict(meta.source).get("subagent")
    spawn = as_dict(as_dict(subagent).get("thread_spawn"))
    parent = meta.parent_thread_id or as_str(spawn.get("parent_thread_id")) or meta.forked_from_id
    base = _base(as_dict(meta.history_base))
    kind: OriginKind | None = None
    handed_off = as_str(as_dict(meta.dragoman_handoff).get("session_id"))
    if subagent is not None:
        kind = "review" if subagent == "review" else "sub-agent"
    elif base is not None and base.session_id == meta.id:
        kind = "revert"
    elif meta.forked_from_id is not None or base is not None:
        kind = "fork"
    elif handed_off is not None:
        kind, parent = "hand-off", handed_off
    return Origin(session_id=meta.id, kind=kind, parent_session_id=parent, base=base)


def _base(given: dict[str, Any]) -> Base | None:
    session_id = as_str(given.get("thread_id"))
    if not session_id:
        return None
    return Base(
        session_id=session_id,
        end_offset=as_int(given.get("end_byte_offset")),
        end_ordinal=as_int(given.get("end_ordinal_exclusive")),
    )


def row_ordinal(line: bytes) -> int | None:
    """Return the ordinal of a row in a paginated rollout."""
    try:
        return _numbered(line).ordinal
    except UNREADABLE:
        return None


def turns_undone(notice: Notice) -> int:
    """Return how many turns were rolled back according to a notice. The sentence is our own."""
    # Imported here: a list of sessions asks for no turns.
    from dragoman.harnesses.codex.events.notices import turns_rolled_back

    found = _TURNS.search(notice.text)
    count = int(found[1]) if found else 1
    return count if notice.text == turns_rolled_back(count) else 0


def name_in(line: bytes) -> tuple[str, str] | None:
    """Return the thread and its name in a line of Codex's list of names."""
    try:
        named = _named(line)
    except UNREADABLE:
        return None
    return named.id, named.thread_name


@on_use
def _newest_limits():
    from dragoman.harnesses.codex.rollout.newest_limits import newest_limits

    return newest_limits


CODEX_HISTORY: Final = History(
    home_folder=CODEX_HOME,
    places=(Place(folder="sessions"), Place(folder="archived_sessions", archived=True)),
    suffixes=(".jsonl", ".jsonl.zst"),
    identify=identify,
    row_ordinal=row_ordinal,
    turns_undone=turns_undone,
    own_list=OwnList(
        variable="CODEX_SQLITE_HOME",
        prefix="state_",
        suffix=".sqlite",
        table="threads",
        id_column="id",
        path_column="rollout_path",
    ),
    name_list=NameList(file="session_index.jsonl", name_in=name_in),
    newest_limits=_newest_limits,
)
