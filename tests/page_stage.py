"""A small server with the addresses of the real one, and sessions that say what a test tells them to.

For looking at the page without an agent: every entry is there when it is said, every stream can be cut.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from dragoman.model.messages import ApprovalRequested, Delta, Message, encode
from dragoman.web.page import views
from dragoman.web.page.assets import asset
from dragoman.web.page.fragments import fragments
from dragoman.web.page.rows import (
    Choices,
    Pending,
    PolicyView,
    SessionRow,
    SessionView,
    State,
    UsageView,
)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FIRST = 120


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
    entries: list[Said] = field(default_factory=list[Said])
    passing: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    pending: dict[str, Pending] = field(default_factory=dict[str, Pending])
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
        )


class Stage:
    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.asked: list[tuple[str, str, Any]] = []
        """Every request that changes something: method, path, body."""
        self.usage = UsageView()
        self.policy = PolicyView()
        self.verdicts: list[dict[str, Any]] = []
        self.history: dict[str, Any] = {}
        self.token = "secret"
        self.signed_in = True
        self.changed = threading.Condition()
        self.generation = 0
        self.is_down = False
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
                if isinstance(message, ApprovalRequested):
                    until = datetime.now(UTC) + timedelta(seconds=deadline_seconds)
                    session.pending[message.approval_id] = Pending(asked=message, deadline_at=until)
                    session.state = "waiting"
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
        choices = Choices(models=["gpt-5.5", "gpt-5.5-mini"], folders=["/home/ada/shop"])
        match path.split("/")[1:]:
            case [""]:
                return views.index(rows, choices)
            case ["s", name] if name in self.sessions:
                found = self.sessions[name]
                newest = found.entries[-FIRST:]
                view = SessionView(
                    row=found.row,
                    fragments=fragments(newest, name),
                    has_earlier=len(found.entries) > len(newest),
                    last_seq=len(found.entries),
                    pending=list(found.pending.values()),
                    sandbox="workspace-write",
                )
                return views.session(view, sessions=rows, choices=choices)
            case ["history"]:
                return views.history(rows, query=query.get("q", ""), sessions=rows, **self.history)
            case ["usage"]:
                return views.usage(self.usage, sessions=rows)
            case ["policy"]:
                return views.policy(self.policy, sessions=rows)
            case _:
                return None

    def api(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        if method != "GET":
            self.asked.append((method, path, body))
        match path.split("/")[3:]:
            case ["login"]:
                self.signed_in = body["token"] == self.token
                return (204, None) if self.signed_in else (401, {"error": {"message": "no"}})
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
                if self.sessions[body["session_id"]].pending.pop(approval, None) is None:
                    return 404, {"error": {"message": "this is not open, or not open any more"}}
                return 204, None
            case ["policy", "try"]:
                if "wrong" in body["text"]:
                    return 400, {"error": {"message": "policy, line 2: there is no key 'wrong'"}}
                return 200, {"verdicts": self.verdicts}
            case _:
                return 200, {}

    def _fragments(self, name: str, query: dict[str, str]) -> Sequence[Any]:
        entries, limit = self.sessions[name].entries, int(query["limit"])
        if "before" in query:
            end = min(len(entries), int(query["before"]) - 1)
            return fragments(entries[max(0, end - limit) : end], name)
        after = int(query["after"])
        return fragments(entries[after : after + limit], name)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stage: Stage

    def log_message(self, format: str, *args: Any) -> None:
        return

    def _any(self) -> None:
        split = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(split.query).items()}
        length = int(self.headers.get("content-length") or 0)
        given = self.rfile.read(length) if length else b""
        if self.stage.is_down:
            self.close_connection = True
            return self._send(503, b"{}", "application/json")
        if split.path.endswith("/stream"):
            return self._stream(split.path.split("/")[4], query)
        if split.path.startswith("/api/"):
            status, answer = self.stage.api(
                self.command, split.path, query, json.loads(given or b"null")
            )
            return self._send(
                status, b"" if answer is None else msgspec.json.encode(answer), "application/json"
            )
        if split.path.startswith("/static/"):
            found = asset(split.path.removeprefix("/static/"))
            return (
                self._send(200, found.body, found.media_type)
                if found
                else self._send(404, b"", "text/plain")
            )
        page = self.stage.page(split.path, query)
        self._send(
            200 if page else 404,
            (page or "").encode("utf-8", "replace"),
            "text/html; charset=utf-8",
        )

    do_GET = do_POST = do_PUT = do_PATCH = _any

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, name: str, query: dict[str, str]) -> None:
        stage, session = self.stage, self.stage.sessions[name]
        after = int(self.headers.get("Last-Event-ID") or query.get("after") or 0)
        passed = len(session.passing)
        generation = stage.generation
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        self.wfile.write(b"retry: 300\n\n")
        while stage.generation == generation:
            with stage.changed:
                out = [b"event: delta\ndata: %b\n\n" % text for _, text in session.passing[passed:]]
                passed = len(session.passing)
                out += [
                    b"id: %d\nevent: entry\ndata: %b\n\n" % (each.seq, encode(each.message))
                    for each in session.entries[after:]
                ]
                after = len(session.entries)
                if not out:
                    stage.changed.wait(5)
                    continue
            try:
                self.wfile.write(b"".join(out))
                self.wfile.flush()
            except OSError:
                return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stage: Stage

    def handle_error(self, request: Any, client_address: Any) -> None:
        problem = sys.exception()
        if not isinstance(problem, OSError):  # a browser that goes in the middle of an answer
            self.stage.problems.append(repr(problem))


@contextmanager
def serving() -> Generator[Stage]:
    stage = Stage()
    handler = type("Handler", (_Handler,), {"stage": stage})
    with _Server(("127.0.0.1", 0), handler) as server:
        stage.port = server.server_address[1]
        server.stage = stage
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield stage
        finally:
            stage.cut()
            server.shutdown()
            thread.join(5)
