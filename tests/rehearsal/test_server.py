"""The server through its own front door: HTTP on loopback, without an agent."""

from __future__ import annotations

import http.client
import json
import socket
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from dragoman.rehearsal import Rehearsal

_TOOLS = [{"type": "function", "name": "shell_command"}]
_SECONDS = 20


def _post(stage: Rehearsal, body: bytes, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(stage.url).netloc, timeout=_SECONDS)
    try:
        connection.request("POST", "/v1/responses", body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _ask(stage: Rehearsal, items: list[Any], key: str = "one") -> list[dict[str, Any]]:
    """The output items of the answer to a history."""
    body = {"input": items, "tools": _TOOLS, "prompt_cache_key": key}
    status, answer = _post(stage, json.dumps(body).encode())
    assert status == 200
    events = [json.loads(line[6:]) for line in answer.split(b"\n") if line.startswith(b"data: ")]
    return [event["item"] for event in events if event["type"] == "response.output_item.done"]


def _prompt(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def test_two_hundred_conversations_share_a_script_without_mixing_their_turns() -> None:
    script = "turns:\n- [{run: one}, {run: two}, {say: first}]\n- [{run: three}, {say: second}]\n"

    def converse(number: int) -> list[str]:
        history: list[Any] = []
        told: list[str] = []
        for prompt in (f"hi from {number}", "and now?"):
            history.append(_prompt(prompt))
            while True:
                [item] = _ask(stage, history, f"conversation {number}")
                history.append(item)
                if item["type"] == "message":
                    told.append(item["content"][0]["text"])
                    break
                told.append(json.loads(item["arguments"])["command"])
                history.append({"type": "function_call_output", "call_id": item["call_id"]})
        return told

    with Rehearsal(script) as stage, ThreadPoolExecutor(16) as clients:
        told = list(clients.map(converse, range(200)))

    assert told == [["one", "two", "first", "three", "second"]] * 200
    assert len(stage.requests) == 200 * 5
    assert len({asked.conversation for asked in stage.requests}) == 200
    assert stage.unscripted == []


def test_forty_megabytes_arrive_whole() -> None:
    with Rehearsal("- say: {text: 'word ', bytes: 40000000}") as stage:
        [item] = _ask(stage, [_prompt("hi")])

    assert len(item["content"][0]["text"]) == 40_000_000


def test_a_compressed_request_is_understood() -> None:
    body = zlib.compress(json.dumps({"input": "hi"}).encode())

    with Rehearsal("- say: Hello.") as stage:
        status, _ = _post(stage, body, **{"content-encoding": "deflate"})

    assert status == 200
    assert stage.requests[0].place.prompt == "hi"


@pytest.mark.parametrize("script", ["- drop: {unanswered: true}", "- drop: {saying: one two}"])
def test_a_lost_connection_is_seen_as_one(script: str) -> None:
    with (
        Rehearsal(script) as stage,
        pytest.raises((http.client.HTTPException, ConnectionError)) as problem,
    ):
        _post(stage, b'{"input":"hi"}')

    if isinstance(problem.value, http.client.IncompleteRead):
        assert b" two" in problem.value.partial


def test_an_http_error_is_one_with_its_body_and_leaves_the_connection_usable() -> None:
    with Rehearsal(
        "- http: {status: 429, times: 1, headers: {retry-after: '7'}}\n- say: x"
    ) as stage:
        connection = http.client.HTTPConnection(urlsplit(stage.url).netloc, timeout=_SECONDS)
        statuses: list[int] = []
        for _ in range(2):
            connection.request("POST", "/v1/responses", b'{"input":"hi"}')
            response = connection.getresponse()
            statuses.append(response.status)
            if response.status == 429:
                assert response.headers["retry-after"] == "7"
            response.read()
        connection.close()

    assert statuses == [429, 200]


def test_what_is_not_a_request_for_a_response_is_refused_and_kept() -> None:
    with Rehearsal("- say: x") as stage:
        connection = http.client.HTTPConnection(urlsplit(stage.url).netloc, timeout=_SECONDS)
        connection.request("GET", "/v1/models")
        models = connection.getresponse()
        models.read()
        connection.close()
        bad, _ = _post(stage, b"[not an object")

    assert (models.status, bad) == (404, 400)
    assert [(other.method, other.path) for other in stage.others] == [
        ("GET", "/v1/models"),
        ("POST", "/v1/responses"),
    ]
    assert stage.requests == []


def test_silence_lasts_until_the_client_leaves_and_delays_no_other() -> None:
    script = "turns: [{when: quiet, steps: [silence]}, {when: loud, steps: [{say: Hello.}]}]"
    with Rehearsal(script) as stage:
        address = urlsplit(stage.url)
        assert address.hostname is not None
        assert address.port is not None
        with socket.create_connection((address.hostname, address.port), _SECONDS) as quiet:
            body = b'{"input":"quiet"}'
            quiet.sendall(b"POST /v1/responses HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body))
            quiet.sendall(body)
            assert quiet.recv(100).startswith(b"HTTP/1.1 200 OK")

            [item] = _ask(stage, [_prompt("loud")])

    assert item["content"][0]["text"] == "Hello."


def test_slow_answers_come_whole() -> None:
    with Rehearsal("- pause: 0.001\n- slow: 0.001\n- say: one two three") as stage:
        [item] = _ask(stage, [_prompt("hi")])

    assert item["content"][0]["text"] == "one two three"


def test_a_client_that_speaks_no_http_is_hung_up_on() -> None:
    with Rehearsal("- say: x") as stage:
        address = urlsplit(stage.url)
        assert address.hostname is not None
        assert address.port is not None
        with socket.create_connection((address.hostname, address.port), _SECONDS) as client:
            client.sendall(b"hello there\r\n\r\n")
            assert client.recv(100) == b""
