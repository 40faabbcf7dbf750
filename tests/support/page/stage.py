"""Sessions that say what a test tells them to, and the pages and answers that they make.

For looking at the page without an agent: every entry is there when it is said. ``page_stage_http`` serves it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from dragoman.model.messages import (
    ApprovalRequested,
    Delta,
    Message,
    TurnEnded,
    TurnStarted,
    encode,
)
from dragoman.web.page import views
from dragoman.web.page.fragments import fragments
from dragoman.web.page.rows import (
    OpenRequest,
    PolicyView,
    SessionRow,
    SessionView,
    State,
    TurnMark,
    UsageView,
)
from support.page.offered import offered

FIRST = 120
_AFTER: dict[str | None, State] = {
    None: "working",
    "completed": "done",
    "failed": "failed",
    "interrupted": "idle",
}
"""A session's state after a turn has begun, or ended so."""


class Said(msgspec.Struct, frozen=True):
    seq: int
    at: datetime | None
    message: Message


@dataclass
class Session:
    id: str
    title: str = "A session"
    state: State = "done"
    cwd: str = "/home/ada/shop"
    is_live: bool = True
    archived: bool = False
    turns: list[TurnMark] = field(default_factory=list[TurnMark])
    sandbox: str = "workspace-write"
    entries: list[Said] = field(default_factory=list[Said])
    passing: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    pending: dict[str, OpenRequest] = field(default_factory=dict[str, OpenRequest])
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def row(self) -> SessionRow:
        return SessionRow(
            session_id=self.id,
            title=self.title,
            state=self.state,
            cwd=self.cwd,
            model="gpt-5.5",
            harness="agent",
            version="1.2",
            at=self.at,
            is_live=self.is_live,
            is_archived=self.archived,
        )

    @property
    def told(self) -> dict[str, Any]:
        """As the stream of all sessions tells it."""
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "cwd": self.cwd,
            "sandbox": self.sandbox,
            "archived": self.archived,
            "updated_at": self.at,
            "last_seq": len(self.entries),
        }


class Stage:
    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.asked: list[tuple[str, str, Any]] = []
        """Every request that changes something: method, path, body."""
        self.usage = UsageView()
        self.policy = PolicyView()
        self.verdicts: list[dict[str, Any]] = []
        self.remembered: list[dict[str, Any]] = []
        """What the agent itself remembers as allowed."""
        self.running: list[dict[str, Any]] = []
        """Commands that a session has left running."""
        self.history: dict[str, Any] = {}
        self.indexing: dict[str, int] | None = None
        self.choices = offered(models=["gpt-5.5", "gpt-5.5-mini"], folders=["/home/ada/shop"])
        self.token = "secret"
        self.signed_in = True
        self.changed = threading.Condition()
        self.generation = 0
        self.is_down = False
        self.is_late = False
        """Whether whoever decides something is too late with it."""
        self.port = 0
        self.problems: list[str] = []
        """What went wrong in this server."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def session(self, id: str, **given: Any) -> Session:
        found = self.sessions[id] = Session(id, **given)
        return found

    def say(self, session: Session, *messages: Message, deadline_seconds: float = 120) -> None:
        with self.changed:
            for message in messages:
                if isinstance(message, Delta):
                    session.passing.append((len(session.entries), encode(message)))
                    continue
                at = message.at or datetime.now(UTC)
                session.entries.append(Said(len(session.entries) + 1, at, message))
                if (
                    isinstance(message, TurnStarted | TurnEnded)
                    and message.session_id == session.id
                ):
                    session.state = _AFTER[getattr(message, "outcome", None)]
                if isinstance(message, ApprovalRequested):
                    until = datetime.now(UTC) + timedelta(seconds=deadline_seconds)
                    session.pending[message.approval_id] = OpenRequest(
                        asked=message, deadline_at=until
                    )
                    session.state = "waiting"
            self.changed.notify_all()

    def change(self, session: Session, **facts: Any) -> None:
        """Something about a session is new, and the list says so."""
        with self.changed:
            for name, value in facts.items():
                setattr(session, name, value)
            # A millisecond is all that a browser tells apart.
            newest = max(each.at for each in self.sessions.values())
            session.at = max(datetime.now(UTC), newest + timedelta(milliseconds=2))
            self.changed.notify_all()

    def cut(self) -> None:
        """End every stream, as a server does that is started anew."""
        with self.changed:
            self.generation += 1
            self.changed.notify_all()

    def page(self, path: str, query: dict[str, str]) -> str | None:
        if not self.signed_in:
            return views.login()
        rows = [
            each.row
            for each in sorted(self.sessions.values(), key=lambda each: each.at, reverse=True)
        ]
        match path.split("/")[1:]:
            case [""]:
                return views.index(rows, self.choices)
            case ["s", name] if name in self.sessions:
                found = self.sessions[name]
                newest = found.entries[-FIRST:]
                view = SessionView(
                    row=found.row,
                    fragments=fragments(newest, name),
                    has_earlier=len(found.entries) > len(newest),
                    last_seq=len(found.entries),
                    turns=found.turns,
                    pending=list(found.pending.values()),
                    sandbox=found.sandbox,
                    acts=["rename", "fork", "archive", *(["stop"] if found.row.is_live else [])],
                )
                return views.session(view, sessions=rows, choices=self.choices)
            case ["history"]:
                return views.history(rows, query=query.get("q", ""), sessions=rows, **self.history)
            case ["usage"]:
                return views.usage(self.usage, sessions=rows)
            case ["policy"]:
                return views.policy(self.policy, sessions=rows)
            case _:
                return views.problem("there is no such page")

    def api(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if method != "GET":
            self.asked.append((method, path, body))
        match path.split("/")[3:]:
            case ["login"]:
                self.signed_in = body["token"] == self.token
                return (204, None) if self.signed_in else (401, {"error": {"message": "no"}})
            case ["sessions"] if method == "GET":
                return 200, {"sessions": [], "next": None, "indexing": self.indexing}
            case ["sessions"]:
                return 201, {"id": next(iter(self.sessions))}
            case ["sessions", name]:
                return 200, {"id": name, "state": self.sessions[name].state}
            case ["sessions", name, "fragments"]:
                return 200, self._fragments(name, query)
            case ["approvals"]:
                found = self.sessions[query["session_id"]].pending.values()
                listed = [
                    {
                        "id": each.asked.approval_id,
                        "deadline_at": each.deadline_at,
                        "request": each.asked,
                    }
                    for each in found
                ]
                return 200, {"approvals": listed}
            case ["approvals", approval]:
                known = self.sessions[body["session_id"]].pending.pop(approval, None)
                if known is None or self.is_late:
                    return 404, {"error": {"message": "this request is not open"}}
                self.change(self.sessions[body["session_id"]], state="working")
                return 204, None
            case ["sessions", name, "commands"]:
                return 200, {"commands": self.running}
            case ["sessions", name, "commands", "stop"]:
                stopped, self.running = self.running, []
                return 200, {"stopped": stopped}
            case ["sessions", name, "turns", number]:
                marks = self.sessions[name].turns
                return 200, {"number": int(number), "seq": marks[int(number) - 1].seq}
            case ["sessions", name, "turns"]:
                self.change(self.sessions[name], state="working")
                return 202, {"turn_id": "t"}
            case ["policy", "try"]:
                if "wrong" in body["text"]:
                    return 400, {"error": {"message": "policy, line 2: there is no key 'wrong'"}}
                return 200, {"verdicts": self.verdicts}
            case ["policy", "remembered"]:
                return 200, {"rules": self.remembered}
            case ["policy", "remembered", rule]:
                left = [each for each in self.remembered if each["id"] != rule]
                is_gone, self.remembered = len(left) < len(self.remembered), left
                return (
                    (204, None)
                    if is_gone
                    else (404, {"error": {"message": "this rule does not exist"}})
                )
            case _:
                return 200, {}

    def _fragments(self, name: str, query: dict[str, str]) -> Sequence[Any]:
        entries, limit = self.sessions[name].entries, int(query["limit"])
        if "before" in query:
            end = min(len(entries), int(query["before"]) - 1)
            return fragments(entries[max(0, end - limit) : end], name)
        after = int(query["after"])
        return fragments(entries[after : after + limit], name)
