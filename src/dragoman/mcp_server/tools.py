"""The tools: search, list, overview, read, usage, and how to resume. They read saved sessions and change nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from dragoman.archive.times import point_in_time
from dragoman.errors import UsageError
from dragoman.mcp_server.arguments import (
    ListArguments,
    OverviewArguments,
    ReadArguments,
    ResumeArguments,
    SearchArguments,
    ToolArguments,
    UsageArguments,
    schema_of,
)
from dragoman.mcp_server.conversation import ToolAnswer, ToolOffer
from dragoman.mcp_server.reading import read_turns, turns_asked_for

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.ledger.groups import LedgerGroup
    from dragoman.archive.saved import SavedSession
    from dragoman.archive.search.searching import SearchHit
    from dragoman.export.redact import Redactor


class ArchiveReader(NamedTuple):
    """What a tool works with during one call."""

    archive: SessionArchive
    redactor: Redactor
    callers: Collection[str]
    """The ids of the calling session, which is left out."""

    def session(self, name: str) -> SavedSession:
        found = self.archive.get(name)
        if found.id in self.callers:
            raise UsageError(f"{found.id} is the session that asks; it is not in its own history")
        return found


class ArchiveTool(NamedTuple):
    """A tool, and the function that runs it."""

    name: str
    title: str
    description: str
    arguments: type[ToolArguments]
    run: Callable[[ArchiveReader, Any], ToolAnswer]

    @property
    def offer(self) -> ToolOffer:
        return ToolOffer(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema_of(self.arguments),
        )


def _search(reader: ArchiveReader, asked: SearchArguments) -> ToolAnswer:
    from dragoman.store.search import Filters

    filters = Filters(
        kinds=tuple(asked.kinds),
        project=asked.project or None,
        since=_time(asked.since),
        until=_time(asked.until),
        tool=asked.tool or None,
        errors=asked.errors_only,
        session_id=reader.session(asked.session_id).id if asked.session_id else None,
        harness=asked.harness or None,
    )
    # The caller's own matches are taken out afterwards, so there must be some to spare.
    spare = asked.limit if reader.callers else 0
    found = reader.archive.search(asked.query, filters, limit=asked.limit + spare)
    hits = [hit for hit in found.hits if hit.match.session_id not in reader.callers]
    shown = [_hit(hit, reader.redactor) for hit in hits[: asked.limit]]
    return _answer({"matches": shown, "is_ranked": found.is_ranked})


def _list(reader: ArchiveReader, asked: ListArguments) -> ToolAnswer:
    listed = reader.archive.sessions(
        project=asked.project or None,
        since=_time(asked.since),
        until=_time(asked.until),
        harness=asked.harness or None,
        top=True,
        without=reader.callers,
        limit=asked.limit,
    )
    return _answer({"sessions": [_session(each, reader.redactor) for each in listed]})


def _overview(reader: ArchiveReader, asked: OverviewArguments) -> ToolAnswer:
    session = reader.session(asked.session_id)
    turns = [
        {
            "turn": row.turn,
            "prompt": reader.redactor.text(row.title or ""),
            "outcome": row.outcome or "open",
        }
        for row in session.turn_list() or ()
    ]
    children = [
        {"session_id": each.id, "origin": each.origin, "title": _masked(each.title, reader)}
        for each in session.children()
        if each.id not in reader.callers
    ]
    facts = _session(session, reader.redactor)
    return _answer({**facts, "turns_list": turns, "children": children})


def _read(reader: ArchiveReader, asked: ReadArguments) -> ToolAnswer:
    session = reader.session(asked.session_id)
    excerpt = read_turns(
        session,
        turns_asked_for(session, asked.around, asked.first_turn),
        reader.redactor,
        offset=asked.offset,
        max_chars=asked.max_chars,
        outputs=asked.outputs,
    )
    if excerpt.next_turn is None:
        return ToolAnswer(text=excerpt.text)
    at = f" and offset={excerpt.next_offset}" if excerpt.next_offset else ""
    return ToolAnswer(
        text=f"{excerpt.text}\n[continue with first_turn={excerpt.next_turn}{at}]\n",
        structured={"next_turn": excerpt.next_turn, "next_offset": excerpt.next_offset},
    )


def _usage(reader: ArchiveReader, asked: UsageArguments) -> ToolAnswer:
    from datetime import UTC, datetime

    from dragoman.archive.ledger.groups import summary
    from dragoman.archive.ledger.ledger import Ledger, LedgerFilter

    def day(text: str) -> datetime | None:
        seconds = _time(text)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).astimezone()

    choice = LedgerFilter(
        since=day(asked.since),
        until=day(asked.until),
        project=asked.project or None,
        model=asked.model or None,
    )
    files = [each for each in reader.archive.find() if asked.harness in ("", each.harness)]
    ledger = Ledger.read(files, cache=Path(reader.archive.index_folder, "usage.msgpack"))
    found = summary(ledger, asked.by, choice)
    groups = [_group(group) for group in found.groups]
    return _answer({"by": asked.by, "groups": groups, "total": _group(found.total)})


def _resume(reader: ArchiveReader, asked: ResumeArguments) -> ToolAnswer:
    session = reader.session(asked.session_id)
    agent = f" --harness {session.harness}" if session.harness else ""
    command = f"dragoman chat --resume {shlex.quote(session.id)}{agent}"
    if session.project:
        command = f"cd {shlex.quote(session.project)} && {command}"
    return _answer({"command": command, "session_id": session.id, "harness": session.harness})


TOOLS: Final = (
    ArchiveTool(
        "search_sessions",
        "Search past sessions",
        "Search everything that coding agents on this machine said and did in earlier sessions: prompts, answers, "
        "commands, edits and their outputs. Returns the best matches with the session and turn to read on with "
        "read_session.",
        SearchArguments,
        _search,
    ),
    ArchiveTool(
        "list_sessions",
        "List past sessions",
        "List earlier sessions of coding agents, newest first, with title, directory, agent and state.",
        ListArguments,
        _list,
    ),
    ArchiveTool(
        "session_overview",
        "Overview of a session",
        "The facts of one session: its prompts turn by turn with their outcomes, tokens, model, sub-agents and forks.",
        OverviewArguments,
        _overview,
    ),
    ArchiveTool(
        "read_session",
        "Read a session",
        "Read the transcript of a session: prompts, answers, thoughts, commands with their outputs, edits. Secrets are "
        "masked. Use around with the turn of a search match, or first_turn and offset to go on.",
        ReadArguments,
        _read,
    ),
    ArchiveTool(
        "usage",
        "Tokens and cost",
        "Tokens and cost of all sessions on this machine, each model response counted once.",
        UsageArguments,
        _usage,
    ),
    ArchiveTool(
        "resume_command",
        "How to resume a session",
        "The command with which a person can continue an earlier session. It is not run.",
        ResumeArguments,
        _resume,
    ),
)


def _time(text: str) -> float | None:
    if not text:
        return None
    try:
        return point_in_time(text)
    except ValueError as problem:
        raise UsageError(str(problem)) from None


def _answer(data: dict[str, Any]) -> ToolAnswer:
    """As text for the model, and as data for a client that uses it."""
    return ToolAnswer(text=msgspec.json.encode(data).decode(), structured=data)


def _masked(text: str | None, reader: ArchiveReader) -> str | None:
    return None if text is None else reader.redactor.text(text)


def _session(session: SavedSession, redactor: Redactor) -> dict[str, Any]:
    facts = session.as_dict()
    left_out = ("path", "archived", "undone_turns")
    kept = {key: value for key, value in facts.items() if key not in left_out}
    for name in ("started_at", "last_at"):
        kept[name] = _moment(kept[name])
    title = kept.get("title")
    return {**kept, "title": redactor.text(title) if title else title}


def _hit(hit: SearchHit, redactor: Redactor) -> dict[str, Any]:
    match = hit.match
    return {
        "session_id": match.session_id,
        "turn": match.turn,
        "kind": "tool_output" if match.kind == "tool_result" else match.kind,
        "tool": match.tool,
        "is_error": match.is_error,
        "at": _moment(match.at),
        "project": match.cwd,
        "title": redactor.text(match.title) if match.title else match.title,
        "snippet": redactor.text(hit.snippet.text) if hit.snippet else None,
    }


def _moment(seconds: float | None) -> str | None:
    from datetime import UTC, datetime

    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _group(group: LedgerGroup) -> dict[str, Any]:
    usage = group.usage
    return {
        "key": group.key,
        "tokens": None if usage is None else msgspec.to_builtins(usage),
        "cost_usd": None if group.cost is None else float(group.cost),
        "reported_cost_usd": group.reported_cost,
        "unpriced_tokens": group.unpriced_tokens,
        "sessions": group.sessions,
        "sessions_without_usage": group.silent_sessions,
        "models": group.models,
    }
