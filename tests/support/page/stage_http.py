"""A small server with the addresses of the real one, for what is on a stage; every stream can be cut."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from dragoman.model.messages import encode
from dragoman.web.page.assets import asset
from support.page.stage import Stage

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


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
        if split.path == "/api/v1/stream":
            return self._list()
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

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def _events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        self.wfile.write(b"retry: 300\n\n")

    def _list(self) -> None:
        stage, generation = self.stage, self.stage.generation
        self._events()
        with stage.changed:
            known = {each.id: each.told for each in stage.sessions.values()}
        frames = [b"event: sessions\ndata: %b\n\n" % msgspec.json.encode(list(known.values()))]
        while stage.generation == generation:
            try:
                self.wfile.write(b"".join(frames))
                self.wfile.flush()
            except OSError:
                return
            with stage.changed:
                new = {each.id: each.told for each in stage.sessions.values()}
                changed = [told for name, told in new.items() if known.get(name) != told]
                frames = [
                    b"event: session\ndata: %b\n\n" % msgspec.json.encode(each) for each in changed
                ]
                known = new
                if not changed:
                    stage.changed.wait(5)

    def _stream(self, name: str, query: dict[str, str]) -> None:
        stage, session = self.stage, self.stage.sessions[name]
        after = int(self.headers.get("Last-Event-ID") or query.get("after") or 0)
        passed = len(session.passing)
        generation = stage.generation
        self._events()
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
