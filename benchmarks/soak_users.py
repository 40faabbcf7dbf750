"""Those who use the server in soak.py: users with sessions, readers of streams, and whoever kills."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter
from typing import Any, Final

import httpx

from soak_server import Server

USERS: Final = 6
DEADLINE_SECONDS: Final = 300
_CALM_SECONDS: Final = 10
"""After somebody was killed, turns may end as they like for so long."""
_STUCK_SECONDS: Final = 60
_ENDS: Final = {
    **dict.fromkeys(("talk", "work", "allow", "deny", "steer"), "done"),
    **dict.fromkeys(("refused", "dropped", "broken"), "failed"),
    "interrupt": "idle",
}
_ASK = "[{run: {command: 'echo outside', escalate: I need it}}, {say: After.}]"
SCRIPT = f"""
turns:
- {{when: talk, steps: [{{think: One moment.}}, {{say: {{text: 'some words ', bytes: 3000}}}}]}}
- {{when: work, steps: [{{run: 'seq 1 2000'}}, {{say: Half of it.}}, {{run: 'false'}}, {{say: Done.}}]}}
- {{when: allow, steps: {_ASK}}}
- {{when: deny, steps: {_ASK}}}
- {{when: steer, steps: [{{run: sleep 1}}, {{say: Done.}}]}}
- {{when: interrupt, steps: [{{run: sleep 40}}, {{say: Never.}}]}}
- {{when: refused, steps: [{{http: 500}}]}}
- {{when: dropped, steps: [{{drop: I was about to}}]}}
- {{when: broken, steps: [{{fail: server_error}}]}}
"""


class Soak:
    """Everybody who uses the server, and what came of it."""

    def __init__(self, server: Server) -> None:
        self.server, self.tally, self.wrong = server, Counter[str](), Counter[str]()
        self.sessions: list[str] = []
        self.files: list[Counter[str]] = []
        self.open = asyncio.Event()
        self._busy, self._nobody = 0, asyncio.Event()
        self.killed_at, self.is_down = 0.0, False
        self.random = random.Random(5)

    def client(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.server.token}"}
        base = f"http://127.0.0.1:{self.server.port}/api/v1"
        return httpx.AsyncClient(base_url=base, headers=headers, timeout=70, trust_env=False)

    async def ask(self, http: httpx.AsyncClient, method: str, path: str, **body: Any) -> Any:
        answer = await http.request(method, path, json=body or None)
        self.tally[f"HTTP {answer.status_code}"] += 1
        if answer.status_code == 500:
            self.wrong[f"500: {method} {path.split('/')[-1]}: {answer.text[:300]}"] += 1
        return answer.json() if answer.content else {}

    async def everyone(self, what: Any) -> None:
        """One user after another, for ever: what one was doing when the server died is over."""
        while True:
            await self.open.wait()
            self._busy += 1
            self._nobody.clear()
            try:
                async with self.client() as http:
                    await what(http)
            except (httpx.TransportError, httpx.StreamError) as lost:
                self.tally["cut off"] += 1
                if not self.is_down and time.monotonic() - self.killed_at > _CALM_SECONDS:
                    self.wrong[f"cut off, and nobody was killed: {lost!r}"] += 1
            except Exception as problem:
                self.wrong[f"the benchmark itself: {problem!r}"] += 1
            finally:
                self._busy -= 1
                if not self._busy:
                    self._nobody.set()
            await asyncio.sleep(self.random.random())

    async def user(self, http: httpx.AsyncClient) -> None:
        kinds = [self.random.choice(list(_ENDS)) for _ in range(self.random.randint(2, 6))]
        free = not {"allow", "deny"}.intersection(kinds)
        session = await self.begin(http, free=free)
        if session is None:
            return
        for kind in kinds:
            if not self.open.is_set():
                break
            await self.turn(http, session, kind)
            await asyncio.sleep(self.random.random() * 1.5)
        if self.random.random() < 0.2:
            await self.ask(http, "PATCH", f"/sessions/{session}", title="Another name")
            branch = await self.ask(http, "POST", f"/sessions/{session}/fork")
            if "id" in branch:
                await self.turn(http, branch["id"], "talk")
                await self.ask(http, "POST", f"/sessions/{branch['id']}/stop")
        if self.random.random() < 0.5:
            await self.ask(http, "POST", f"/sessions/{session}/stop")
        await self.ask(http, "POST", f"/sessions/{session}/archive")

    async def begin(self, http: httpx.AsyncClient, *, free: bool) -> str | None:
        how = {"sandbox": "danger-full-access", "approvals": "never"} if free else {}
        begun = await self.ask(http, "POST", "/sessions", cwd=str(self.server.root), **how)
        self.tally["sessions" if "id" in begun else "not begun"] += 1
        if "id" in begun:
            self.sessions = [*self.sessions[-USERS:], begun["id"]]
        return begun.get("id")

    async def turn(self, http: httpx.AsyncClient, session: str, kind: str) -> None:
        began, here, state, said = time.monotonic(), f"/sessions/{session}", "", False
        await self.ask(http, "POST", f"{here}/turns", text=kind)
        self.tally["turns"] += 1
        while time.monotonic() < began + _STUCK_SECONDS:
            await asyncio.sleep(0.3)
            state = (await self.ask(http, "GET", here)).get("state", "gone")
            if state not in ("working", "waiting"):
                break
            for asked in await self.ask(http, "GET", f"{here}/approvals"):
                word = {"session_id": session, "decision": "allow" if kind == "allow" else "deny"}
                await self.ask(http, "POST", f"/approvals/{asked['id']}", **word)
                self.tally[f"decided {word['decision']}"] += 1
            if not said and kind in ("steer", "interrupt"):
                said = True
                more = {"text": "talk as well"} if kind == "steer" else {}
                await self.ask(http, "POST", f"{here}/{kind}", **more)
        if self.killed_at > began - _CALM_SECONDS and state not in ("working", "waiting"):
            self.tally["turns when somebody was killed"] += 1
        elif state != _ENDS[kind]:
            self.wrong[f"a turn ({kind}) is {state}, not {_ENDS[kind]}: {session}"] += 1
        self.tally[f"{kind}: {state}"] += 1

    async def reader(self, http: httpx.AsyncClient) -> None:
        """Reads for a while, leaves without a word, comes back with a cursor; or falls asleep."""
        if not self.sessions:
            return
        path, last = f"/sessions/{self.random.choice(self.sessions)}/stream", 0
        for _ in range(self.random.randint(1, 4)):
            if not self.open.is_set():
                return
            until = time.monotonic() + self.random.random() * 8
            async with http.stream("GET", path, headers={"Last-Event-ID": str(last)}) as answer:
                self.tally["streams"] += 1
                if self.random.random() < 0.25:
                    await asyncio.sleep(20)
                    until = 0.0
                lines = answer.aiter_lines()
                while time.monotonic() < until and self.open.is_set():
                    try:
                        line = await asyncio.wait_for(anext(lines), 1)
                    except (TimeoutError, StopAsyncIteration):
                        break
                    name, _, value = line.partition(": ")
                    if name == "id":
                        if int(value) != last + 1:
                            self.wrong[f"to a reader of {path} came {value} after {last}"] += 1
                        last = int(value)
                        self.tally["entries read"] += 1

    async def watcher(self, http: httpx.AsyncClient) -> None:
        """Has the list of all sessions open, as a page has, and now and then opens it anew."""
        until = time.monotonic() + 20 + self.random.random() * 60
        async with http.stream("GET", "/stream") as answer:
            lines = answer.aiter_lines()
            while time.monotonic() < until and self.open.is_set():
                try:
                    line = await asyncio.wait_for(anext(lines), 20)
                except (TimeoutError, StopAsyncIteration):
                    break
                name, _, value = line.partition(": ")
                if name == "event":
                    self.tally[f"list: {value}"] += 1

    async def looker(self, http: httpx.AsyncClient) -> None:
        for path in ("/sessions?limit=30", "/search?q=words", "/usage", "/approvals", "/harnesses"):
            await self.ask(http, "GET", path)
            await asyncio.sleep(1)

    async def forget(self) -> None:
        """Ask for something, and leave it at that: the deadline decides."""
        async with self.client() as http:
            session = await self.begin(http, free=False)
            await self.ask(http, "POST", f"/sessions/{session}/turns", text="deny")
            await asyncio.sleep(5)
            before = (await self.ask(http, "GET", f"/sessions/{session}")).get("state")
            await asyncio.sleep(DEADLINE_SECONDS + 5)
            after = (await self.ask(http, "GET", f"/sessions/{session}")).get("state")
            self.tally[f"unanswered: {before}, then {after}"] += 1
            if (before, after) != ("waiting", "done"):
                self.wrong[f"an approval that nobody answered: {before}, then {after}"] += 1

    async def kill_agent(self) -> None:
        for pid, name in self.server.ours().items():
            if name.startswith("codex"):
                self.killed_at = time.monotonic()
                os.kill(pid, signal.SIGKILL)
                self.tally["agents killed"] += 1

    async def kill_server(self) -> None:
        self.killed_at, self.is_down = time.monotonic(), True
        await asyncio.to_thread(self.server.end, signal.SIGKILL)
        await asyncio.to_thread(self.server.start)
        self.killed_at, self.is_down = time.monotonic(), False
        self.tally["servers killed"] += 1

    async def rest(self) -> dict[str, float]:
        """What the server holds when everybody has left."""
        self.open.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._nobody.wait(), 90)
        await asyncio.sleep(3)
        held = self.server.sample()
        self.files.append(self.server.open_files())
        self.open.set()
        return held
