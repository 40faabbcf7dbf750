"""What can be done with sessions that are only on the disk: the real server, the real agent."""

from __future__ import annotations

import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import codex_cli_bin as paths
import httpx
import pytest

from support.archive.saved_sessions import Rows, save, session_id
from support.page.server import Server

_SCRIPT = """
turns:
  - - say: The first answer.
  - - say: The second answer.
otherwise: Anything else.
"""
_SECONDS = 30
_ALL = "/api/v1/sessions"


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    with Server(tmp_path, _SCRIPT, str(paths.bundled_codex_path())) as made:
        yield made


def client(server: Server) -> httpx.Client:
    bearer = {"Authorization": f"Bearer {server.token}"}
    return httpx.Client(base_url=server.url, headers=bearer, timeout=_SECONDS)


@pytest.fixture
def http(server: Server) -> Generator[httpx.Client]:
    with client(server) as made:
        yield made


def listed(http: httpx.Client, **query: Any) -> list[Any]:
    return http.get(_ALL, params=query).raise_for_status().json()["sessions"]


def refused(answer: httpx.Response, status: int, code: str, words: str) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code), answer.text
    assert words in error["message"]


def test_a_session_from_the_terminal_is_renamed_put_away_and_brought_back(
    server: Server, http: httpx.Client
) -> None:
    for prompt in ("Paint the shed", "Build a fence"):
        server.save_a_session(prompt)
    fence, shed = listed(http)
    at = f"{_ALL}/{shed['id']}"
    whole = http.get(f"{at}/entries").json()

    renamed = http.patch(at, json={"title": "The  shed"}).raise_for_status().json()
    assert renamed == {**shed, "title": "The shed"}
    assert http.get(at).json() == renamed
    assert listed(http) == [fence, renamed]

    away = http.post(f"{at}/archive").raise_for_status().json()
    assert away == {**renamed, "archived": True}
    assert http.get(at).json() == away
    assert listed(http, archived=False) == [fence]
    assert listed(http, archived=True) == [away]
    assert http.get(f"{at}/entries").json() == whole
    assert http.post(f"{at}/archive").json() == away
    refused(http.patch(at, json={"title": "x"}), 409, "conflict", "bring it back first")
    refused(http.post(f"{at}/fork"), 409, "conflict", "bring it back first")

    back = http.post(f"{at}/unarchive").raise_for_status().json()
    assert back == renamed
    assert listed(http) == [fence, renamed]
    assert http.post(f"{at}/unarchive").json() == back
    assert http.post(f"{at}/stop").status_code == 204
    assert http.get(at).json() == back

    # Nothing of this has taken it up, and all of it is on the disk.
    server.stop(signal.SIGTERM)
    server.start()
    with client(server) as again:
        assert listed(again) == [fence, renamed]
        assert listed(again, live=True) == []


def test_whoever_goes_on_with_a_session_that_was_put_away_has_it_back(
    server: Server, http: httpx.Client
) -> None:
    server.save_a_session("Paint the shed")
    [shed] = listed(http)
    http.post(f"{_ALL}/{shed['id']}/archive").raise_for_status()

    asked = {"cwd": shed["cwd"], "resume": shed["id"], "prompt": "In green"}
    live = http.post(_ALL, json=asked).raise_for_status().json()

    assert (live["is_live"], live["archived"], live["title"]) == (True, False, "Paint the shed")
    with http.stream("GET", f"{_ALL}/{live['id']}/stream") as stream:
        assert next(line for line in stream.iter_lines() if "The second answer." in line)
    assert listed(http, archived=True) == []


def test_a_branch_of_a_session_from_the_terminal_goes_its_own_way(
    server: Server, http: httpx.Client
) -> None:
    server.save_a_session("Paint the shed")
    [shed] = listed(http)
    http.patch(f"{_ALL}/{shed['id']}", json={"title": "The shed"}).raise_for_status()

    branch = http.post(f"{_ALL}/{shed['id']}/fork").raise_for_status().json()

    assert branch["is_live"]
    assert (branch["parent_id"], branch["title"]) == (shed["id"], "The shed")
    assert branch["cwd"] == str(server.root)
    assert (branch["sandbox"], branch["approvals"]) == ("workspace-write", "on-request")
    at = f"{_ALL}/{branch['id']}"
    earlier = http.get(f"{at}/fragments?before=1").raise_for_status().json()
    html = "".join(each["html"] for each in earlier)
    assert all(each["seq"] < 0 for each in earlier)
    assert "The first answer." in html
    assert "data-agent" not in html
    said = {"text": "In green", "sandbox": "danger-full-access", "approvals": "never"}
    http.post(f"{at}/turns", json=said).raise_for_status()
    with http.stream("GET", f"{at}/stream") as stream:
        told = next(line for line in stream.iter_lines() if "The second answer." in line)
    assert told
    assert http.get(f"{_ALL}/{shed['id']}").json()["is_live"] is False

    # A branch of the branch, and the page after the server was away: its words are still above its own.
    server.stop(signal.SIGKILL)
    server.start()
    with client(server) as again:
        page = again.get(f"/s/{branch['id']}").raise_for_status().text
        assert page.index("The first answer.") < page.index("The second answer.")
        twig = again.post(f"{at}/fork").raise_for_status().json()
        page = again.get(f"/s/{twig['id']}").raise_for_status().text
        assert page.index("The first answer.") < page.index("The second answer.")


def test_what_cannot_be_done_is_said(server: Server, http: httpx.Client, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    server.save_a_session("Paint the shed", outside)
    [shed] = listed(http)
    at = f"{_ALL}/{shed['id']}"
    refused(http.post(f"{at}/fork"), 403, "outside_roots", str(outside))
    assert http.patch(at, json={"title": "Outside"}).json()["title"] == "Outside"
    refused(http.patch(at, json={"title": " "}), 409, "agent_refused", "thread/name/set")

    # Files that are not where the agent keeps its own.
    server.stop(signal.SIGTERM)
    server.home = tmp_path / "elsewhere"
    save(server.home, 1, Rows(1, cwd=str(server.root)).turn("Foreign", "Yes.").data)
    server.start()
    with client(server) as again:
        at = f"{_ALL}/{session_id(1)}"
        assert again.get(at).json()["title"] == "Foreign"
        for asked in (
            again.patch(at, json={"title": "Ours"}),
            again.post(f"{at}/archive"),
            again.post(f"{at}/fork"),
        ):
            refused(asked, 409, "agent_refused", "no rollout found")
        assert again.post(f"{at}/stop").status_code == 204
        refused(again.post(f"{_ALL}/{session_id(2)}/stop"), 404, "no_session", session_id(2))
        refused(again.patch(f"{_ALL}/none", json={"title": "x"}), 404, "no_session", "none")


def test_a_session_is_handed_off_once_for_each_key(
    server: Server, http: httpx.Client, tmp_path: Path
) -> None:
    server.save_a_session("Paint the shed")
    [shed] = listed(http)
    at = f"{_ALL}/{shed['id']}/handoff"
    key = {"Idempotency-Key": "k1"}

    done = http.post(at, json={"to": "claude"}, headers=key).raise_for_status()
    again = http.post(at, json={"to": "claude"}, headers=key).raise_for_status()

    assert done.status_code == 201
    made = done.json()
    assert again.json() == made
    assert (made["harness"], made["turns"], made["source_session_id"]) == ("claude", 1, shed["id"])
    assert made["command"] == ["claude", "--resume", made["session_id"]]
    new = http.get(f"{_ALL}/{made['session_id']}").raise_for_status().json()
    assert (new["harness"], new["parent_id"], new["title"]) == (
        "claude", shed["id"], "Paint the shed",
    )  # fmt: skip
    refused(http.post(at, json={"to": "codex"}, headers=key), 409, "key_used_differently", "k1")
    refused(http.post(at, json={"to": "nonsense"}), 400, "bad_request", "they can to codex, claude")
    refused(http.post(at, json={"to": "claude", "turns": "x"}), 400, "bad_request", "'x'")
    refused(
        http.post(at, json={"to": "claude", "cwd": str(tmp_path)}),
        403,
        "outside_roots",
        str(tmp_path),
    )
    refused(http.post(f"{_ALL}/none/handoff", json={"to": "claude"}), 404, "no_session", "none")


def test_a_key_is_free_again_after_a_hand_off_that_failed(
    server: Server, http: httpx.Client
) -> None:
    server.save_a_session("Paint the shed")
    [shed] = listed(http)
    at = f"{_ALL}/{shed['id']}/handoff"
    key = {"Idempotency-Key": "k1"}

    refused(
        http.post(at, json={"to": "codex", "turns": "9"}, headers=key),
        400,
        "bad_request",
        "no such",
    )
    http.post(at, json={"to": "codex"}, headers=key).raise_for_status()

    assert len(listed(http)) == 2
