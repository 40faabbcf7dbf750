"""The OpenAPI document: served, whole, and true; whatever is sent, the server does not fail."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from dragoman.model.messages import ApprovalRequested
from support.page.web_stage import TOKEN, play, web_stage
from support.terminal.chat_story import story

_ENDPOINTS = {
    "/api/v1/login": {"post"},
    "/api/v1/logout": {"post"},
    "/api/v1/harnesses": {"get"},
    "/api/v1/harnesses/{name}/models": {"get"},
    "/api/v1/sessions": {"get", "post"},
    "/api/v1/sessions/{session_id}": {"get", "patch"},
    "/api/v1/sessions/{session_id}/archive": {"post"},
    "/api/v1/sessions/{session_id}/unarchive": {"post"},
    "/api/v1/sessions/{session_id}/fork": {"post"},
    "/api/v1/sessions/{session_id}/handoff": {"post"},
    "/api/v1/sessions/{session_id}/stop": {"post"},
    "/api/v1/sessions/{session_id}/entries": {"get"},
    "/api/v1/sessions/{session_id}/fragments": {"get"},
    "/api/v1/sessions/{session_id}/stream": {"get"},
    "/api/v1/sessions/{session_id}/chat": {"post"},
    "/api/v1/sessions/{session_id}/commands": {"get"},
    "/api/v1/sessions/{session_id}/commands/stop": {"post"},
    "/api/v1/sessions/{session_id}/export": {"get"},
    "/api/v1/sessions/{session_id}/turns": {"post"},
    "/api/v1/sessions/{session_id}/turns/{number}": {"get"},
    "/api/v1/sessions/{session_id}/steer": {"post"},
    "/api/v1/sessions/{session_id}/steered/{steered_id}": {"delete"},
    "/api/v1/sessions/{session_id}/interrupt": {"post"},
    "/api/v1/sessions/{session_id}/approvals": {"get"},
    "/api/v1/stream": {"get"},
    "/api/v1/approvals": {"get"},
    "/api/v1/approvals/{approval_id}": {"post"},
    "/api/v1/policy": {"get", "put"},
    "/api/v1/policy/try": {"post"},
    "/api/v1/policy/remembered": {"get"},
    "/api/v1/policy/remembered/{rule_id}": {"delete"},
    "/api/v1/search": {"get"},
    "/api/v1/usage": {"get"},
}
_HEADERS = {"Authorization": f"Bearer {TOKEN}"}
_SOME = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)
_STREAMS = ("/stream", "/chat")
"""These do not end by themselves."""


def test_the_document_has_every_endpoint(tmp_path: Path) -> None:
    async def look() -> None:
        async with web_stage(tmp_path) as web:
            document = await web.get("/api/v1/openapi.json")
        paths = {name: set(methods) for name, methods in document["paths"].items()}
        assert paths == _ENDPOINTS
        for name, methods in document["paths"].items():
            for method in methods.values():
                assert method["summary"], name
        operations = [each for methods in document["paths"].values() for each in methods.values()]
        names = [each["operationId"] for each in operations]
        assert len(set(names)) == len(names)
        assert all(len(each) <= 24 and each.islower() for each in names), names
        for each in operations:
            for status, answer in each["responses"].items():
                assert answer["description"]
                if int(status) >= 400:
                    [content] = answer["content"].values()
                    assert content == {"schema": {"$ref": "#/components/schemas/Refusal"}}
            assert {"400", "401", "403", "421", "500", "503"} <= set(each["responses"])
        assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
        types = document["components"]["schemas"]
        assert [name for name, each in types.items() if not each.get("description")] == []
        assert {"SessionInfo", "EntryInfo", "ToolCall", "ApprovalInfo"} <= set(types)

    play(look())


class _Server(threading.Thread):
    """The web front door in a thread, for a client that knows nothing of loops."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder = folder
        self._is_up = threading.Event()
        self.address = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with web_stage(self._folder) as web:
            web.hub.add("s1", state="working")
            web.hub.tell("s1", *story())
            web.hub.ask_person(ApprovalRequested(approval_id="a1", kind="command"))
            self.address = web.address
            self._is_up.set()
            await self._over.wait()

    def __enter__(self) -> _Server:
        self.start()
        assert self._is_up.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._over is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self.join(20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Server]:
    with _Server(tmp_path_factory.mktemp("web")) as made:
        yield made


@pytest.fixture(scope="module")
def document(server: _Server) -> Any:
    return schemathesis.openapi.from_url(f"{server.address}/api/v1/openapi.json", headers=_HEADERS)


@pytest.mark.parametrize("path", [each for each in _ENDPOINTS if not each.endswith(_STREAMS)])
@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_makes_the_server_fail(document: Any, path: str, mode: GenerationMode) -> None:
    for method in _ENDPOINTS[path]:
        operation = document[path][method]
        if mode is GenerationMode.NEGATIVE and not operation.body and not operation.query:
            continue  # there is nothing in it that could be wrong

        def attempt(case: Any) -> None:
            _attempt(case)

        given(operation.as_strategy(generation_mode=mode))(_SOME(attempt))()


def _attempt(case: Any) -> None:
    if "session_id" in (case.path_parameters or {}) and len(str(case.body)) % 2:
        case.path_parameters["session_id"] = "s1"
    response = case.call(headers=_HEADERS, timeout=20)
    assert response.status_code < 500, (response.status_code, response.text)
    told = case.operation.definition.raw["responses"]
    assert str(response.status_code) in told or response.status_code in (404, 405), response.text
    if response.status_code >= 400:
        assert set(response.json()["error"]) >= {"code", "message"}
