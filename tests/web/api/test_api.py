"""Every endpoint, with what it is for and with what it refuses."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ProcessExited, ResponseError
from dragoman.hub.hub import HarnessInfo
from dragoman.model.messages import ApprovalRequested, Prompt, SessionStarted, Text, TurnStarted
from support.archive.index_rows import index_here
from support.archive.saved_sessions import Rows, save, session_id
from support.page.web_stage import play, web_stage
from support.terminal.chat_story import first_turn, story

S1 = "/api/v1/sessions/s1"


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def saved(folder: Path, number: int, prompt: str = "paint the shed") -> str:
    """A session on the disk; its name."""
    rows = Rows(number, cwd=f"/work/app{number}").turn(prompt, f"Painted {number}.", ("make", "ok"))
    save(folder / "home", number, rows.data)
    return session_id(number)


def test_harnesses_say_what_they_can_do(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            [harness] = (await web.get("/api/v1/harnesses"))["harnesses"]
            assert harness["name"] == "codex"
            assert "steer" in harness["can"]

    play(story())


def test_a_session_is_begun_inside_of_the_roots_and_nowhere_else(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            root = tmp_path / "root"
            (root / "in").mkdir()
            (root / "link").symlink_to("/etc")
            asked = {"cwd": str(root / "in"), "prompt": "go"}
            response = await web.post("/api/v1/sessions", asked)
            assert response.status_code == 201
            assert response.json()["cwd"] == str(root)
            assert web.hub.asked == [("start", str(root / "in"), "go")]
            for path in ("/etc", str(root / ".." / ".."), str(root / "link"), "relative", "~"):
                response = await web.post("/api/v1/sessions", {"cwd": path})
                assert code(response) == (403, "outside_roots"), path

    play(story())


def test_the_same_key_begins_one_session(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            asked = {"cwd": str(tmp_path / "root"), "prompt": "go"}
            key = {"Idempotency-Key": "k1"}
            first = await web.post("/api/v1/sessions", asked, headers=key)
            again = await web.post("/api/v1/sessions", asked, headers=key)
            assert first.json()["id"] == again.json()["id"]
            other = await web.post("/api/v1/sessions", {**asked, "prompt": "no"}, headers=key)
            assert code(other) == (409, "key_used_differently")

    play(story())


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"cwd": ""},
        {"cwd": 7},
        {"cwd": "/", "approvals": {}},
        {"cwd": "/", "images": ["x"] * 17},
        [],
        None,
        "text",
    ],
)
def test_a_start_that_makes_no_sense_is_refused_in_words(tmp_path: Path, asked: Any) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            response = await web.post("/api/v1/sessions", asked)
            assert code(response) == (400, "bad_request")
            assert response.json()["error"]["message"]

    play(story())


def test_a_session_starts_with_the_agent_and_the_access_that_were_chosen(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            cwd = {"cwd": str(tmp_path / "root")}
            older = {"sandbox": "read-only", "approvals": "never"}
            for how in ({"access": "read-only", "asking": "never"}, older):
                started = await web.post("/api/v1/sessions", {**cwd, "harness": "codex", **how})
                assert started.status_code == 201
                assert web.hub.options == {
                    "access": "read-only",
                    "asking": "never",
                    "harness": "codex",
                    "images": [],
                }
            for wrong in ({"access": "none"}, {"asking": "always"}, {"harness": "none"}):
                refused = await web.post("/api/v1/sessions", {**cwd, **wrong})
                assert code(refused) == (400, "bad_request")
                assert "none" in refused.text or "always" in refused.text
            [known] = (await web.get("/api/v1/harnesses"))["harnesses"]
            assert known["access"][0] == {
                "value": "workspace-write",
                "label": "Workspace",
                "summary": known["access"][0]["summary"],
                "level": "write",
            }
            assert (await web.get("/api/v1/harnesses/codex/models")) == {"models": []}
            unknown = await web.client.get("/api/v1/harnesses/none/models")
            assert code(unknown) == (400, "bad_request")

    play(story())


def test_what_is_too_large_or_no_json_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path, max_body=1_000) as web:
            large = await web.post("/api/v1/sessions", {"cwd": "x" * 2_000})
            assert code(large) == (413, "too_large")

            async def chunks() -> AsyncGenerator[bytes]:
                for _ in range(20):
                    yield b"x" * 100

            large = await web.client.post("/api/v1/sessions", content=chunks())
            assert code(large) == (413, "too_large")
            broken = await web.client.post("/api/v1/sessions", content=b"{")
            assert code(broken) == (400, "bad_request")
            wrong = await web.client.put("/api/v1/sessions", content=b"{")
            assert code(wrong) == (405, "method_not_allowed")

    play(story())


def test_lists_and_searches_say_how_far_the_index_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        for number in range(3):
            saved(tmp_path, number)
        async with web_stage(tmp_path) as web:
            for path in ("/api/v1/sessions", "/api/v1/search?q=shed"):
                told = (await web.get(path))["indexing"]
                assert (told["files"], told["all_files"]) == (0, 3)
                assert 0 == told["bytes"] < told["all_bytes"]
            pages = [await web.get("/api/v1/sessions") for _ in range(40)]
            assert (len(pages[-1]["sessions"]), pages[-1]["indexing"]) == (3, None)
            found = await web.get("/api/v1/search?q=shed")
            assert (len(found["hits"]), found["indexing"]) == (3, None)
            document = await web.get("/api/v1/openapi.json")
            for name in ("SessionPage", "Hits"):
                assert "indexing" in document["components"]["schemas"][name]["properties"]

    index_here(monkeypatch)
    play(story())


def test_live_and_saved_sessions_are_one_list_page_by_page(tmp_path: Path) -> None:
    async def story() -> None:
        names = {saved(tmp_path, number) for number in range(1, 8)}
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.add("s2", native_id=session_id(3))  # it is on the disk, too
            seen: list[str] = []
            cursor: str | None = ""
            while cursor is not None:
                page = await web.get(f"/api/v1/sessions?limit=2&cursor={cursor}")
                assert len(page["sessions"]) <= 2
                seen += [each["id"] for each in page["sessions"]]
                cursor = page["next"]
            assert len(seen) == len(set(seen))
            assert set(seen) == {"s1", "s2", *names} - {session_id(3)}
            live = (await web.get("/api/v1/sessions?live=true"))["sessions"]
            assert {each["id"] for each in live} == {"s1", "s2"}
            some = (await web.get("/api/v1/sessions?live=false&project=/work/app1"))["sessions"]
            assert [each["id"] for each in some] == [session_id(1)]
            bad = await web.client.get("/api/v1/sessions?cursor=%C3%A4!")
            assert code(bad) == (400, "bad_request")

    play(story())


def test_a_live_session_is_named_put_away_branched_off_and_ended(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1", native_id="native")
            assert (await web.get("/api/v1/sessions/native"))["id"] == "s1"
            renamed = await web.client.patch(S1, json={"title": "The shed"})
            assert renamed.json()["title"] == "The shed"
            assert (await web.post(f"{S1}/archive")).json()["archived"] is True
            assert (await web.post(f"{S1}/unarchive")).json()["archived"] is False
            forked = (await web.post(f"{S1}/fork")).json()
            assert forked["parent_id"] == "s1"
            assert (await web.post(f"{S1}/stop")).status_code == 204
            assert web.hub.asked[-1] == ("stop", "s1")
            for path in ("", "/archive", "/fork", "/stop", "/interrupt"):
                call = web.client.get if not path else web.client.post
                assert code(await call(f"/api/v1/sessions/zz{path}")) == (404, "no_session")

    play(story())


def test_a_saved_session_is_named_put_away_and_branched_off_by_the_agent(tmp_path: Path) -> None:
    async def story() -> None:
        name, root = saved(tmp_path, 1), tmp_path / "root"
        inside = Rows(2, cwd=str(root)).turn("in the root", "Yes.")
        save(tmp_path / "home", 2, inside.data)
        async with web_stage(tmp_path) as web:
            at = f"/api/v1/sessions/{name}"
            # The index has seen none of this: the answers say it all the same.
            renamed = await web.client.patch(at, json={"title": "The\nshed"})
            assert renamed.json()["title"] == "The"
            assert (await web.post(f"{at}/archive")).json()["archived"] is True
            assert (await web.post(f"{at}/unarchive")).json()["archived"] is False
            assert (await web.post(f"{at}/stop")).status_code == 204
            assert code(await web.post(f"{at}/fork")) == (403, "outside_roots")
            forked = (await web.post(f"/api/v1/sessions/{session_id(2)}/fork")).json()
            assert (forked["parent_id"], forked["title"]) == (session_id(2), "in the root")
            assert web.hub.asked == [
                ("rename saved", name, "The\nshed"),
                ("archive saved", name, True),
                ("fork saved", session_id(2), str(root)),
            ]
            web.hub.disk.no = ResponseError("thread/archive: no rollout found")
            assert code(await web.post(f"{at}/archive")) == (409, "agent_refused")
            web.hub.disk.no = ProcessExited("the agent is stopped")
            assert code(await web.client.patch(at, json={"title": "x"})) == (503, "agent_exited")

    play(story())


def test_a_saved_session_of_another_program_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        name = saved(tmp_path, 1)
        other = [HarnessInfo(name="other", title="Other")]
        async with web_stage(tmp_path) as web:
            monkeypatch.setattr(web.hub, "harnesses", lambda: other)
            at = f"/api/v1/sessions/{name}"
            for answer in (
                await web.client.patch(at, json={"title": "x"}),
                await web.post(f"{at}/archive"),
                await web.post(f"{at}/unarchive"),
                await web.post(f"{at}/fork"),
            ):
                assert code(answer) == (409, "conflict")
                assert "is of codex; this server runs other" in answer.text
            assert web.hub.asked == []

    play(story())


def test_a_saved_session_can_be_read_and_not_spoken_to(tmp_path: Path) -> None:
    async def story() -> None:
        name = saved(tmp_path, 1)
        async with web_stage(tmp_path) as web:
            found = await web.get(f"/api/v1/sessions/{name}")
            assert found["is_live"] is False
            assert found["state"] == "done"
            whole = await web.get(f"/api/v1/sessions/{name}/entries")
            count = len(whole["entries"])
            assert [each["seq"] for each in whole["entries"]] == list(range(1, count + 1))
            assert whole["next"] is None
            some = await web.get(f"/api/v1/sessions/{name}/entries?after=2&limit=2")
            assert [each["seq"] for each in some["entries"]] == [3, 4]
            assert some["next"] == 4
            pieces = await web.get(f"/api/v1/sessions/{name}/fragments?before=5&limit=2")
            assert [each["seq"] for each in pieces] == [3, 4]
            refused = await web.post(f"/api/v1/sessions/{name}/turns", {"text": "go on"})
            assert code(refused) == (404, "no_session")
            # Only the whole name will do: a page must not show another session by accident.
            assert code(await web.client.get(f"/api/v1/sessions/{name[:8]}"))[0] == 404
            stream = await web.client.get(f"/api/v1/sessions/{name}/stream")
            assert stream.text.count("event: entry") == count
            assert stream.text.endswith("event: end\ndata: {}\n\n")
            over = await web.client.get(f"/api/v1/sessions/{name}/stream?after={count}")
            assert over.status_code == 204
            chat = await web.client.get(f"/api/v1/sessions/{name}/stream?format=ai-sdk")
            assert chat.text.endswith("data: [DONE]\n\n")

    play(story())


def test_entries_and_fragments_of_a_live_session(tmp_path: Path) -> None:
    async def story_() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            messages = [each for each in story() if type(each).__name__ != "Delta"]
            web.hub.tell("s1", *messages)
            page = await web.get(f"{S1}/entries?limit=10")
            assert [each["seq"] for each in page["entries"]] == list(range(1, 11))
            assert page["next"] == 10
            assert page["entries"][0]["message"]["type"] == "session_started"
            rest = await web.get(f"{S1}/entries?after=10")
            assert len(rest["entries"]) == len(messages) - 10
            assert rest["next"] is None
            pieces = await web.get(f"{S1}/fragments?after=0&limit=500")
            assert [each["seq"] for each in pieces] == list(range(1, len(messages) + 1))
            last = await web.get(f"{S1}/fragments?before=9007199254740991&limit=3")
            assert [each["seq"] for each in last] == [len(messages) - n for n in (2, 1, 0)]
            for query in (
                "after=-1",
                "after=x",
                "limit=0",
                "limit=1001",
                "after=99999999999999999",
            ):
                assert code(await web.client.get(f"{S1}/entries?{query}")) == (400, "bad_request")

    play(story_())


def test_turns_are_begun_steered_and_interrupted(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            key = {"Idempotency-Key": "k"}
            for _ in range(2):
                begun = await web.post(f"{S1}/turns", {"text": "go"}, headers=key)
                assert begun.status_code == 202
                assert begun.json() == {"turn_id": "turn-1"}
            assert web.hub.asked == [("run", "s1", "go", [])]
            other = await web.post(f"{S1}/turns", {"text": "no"}, headers=key)
            assert code(other) == (409, "key_used_differently")
            assert code(await web.post(f"{S1}/steer", {"text": "left"})) == (409, "conflict")
            web.hub.change("s1", state="working")
            assert (await web.post(f"{S1}/steer", {"text": "left"})).status_code == 204
            assert (await web.post(f"{S1}/interrupt")).status_code == 204
            assert web.hub.asked[1:] == [("steer", "s1", "left"), ("interrupt", "s1")]
            assert code(await web.post(f"{S1}/turns", {"text": ""}))[0] == 400
            meant = {"access": "read-only", "asking": "never", "effort": "low"}
            older = {"sandbox": "read-only", "approvals": "never", "effort": "low"}
            for how in (meant, older):
                assert (await web.post(f"{S1}/turns", {"text": "go", **how})).status_code == 202
                assert web.hub.options == meant
            for wrong in ({"sandbox": "none"}, {"approvals": "always"}, {"access": "none"}):
                assert code(await web.post(f"{S1}/turns", {"text": "go", **wrong}))[0] == 400

    play(story())


def test_no_image_outside_of_the_roots_is_shown_to_an_agent(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            (tmp_path / "root" / "a.png").touch()
            inside = str(tmp_path / "root" / "a.png")
            fine = ["data:image/png;base64,AAAA", "https://example.invalid/a.png", inside]
            response = await web.post(f"{S1}/turns", {"text": "look", "images": fine})
            assert response.status_code == 202
            for image in ("/etc/passwd", "file:///etc/passwd", str(tmp_path / "root/../x.png")):
                refused = await web.post(f"{S1}/turns", {"text": "look", "images": [image]})
                assert code(refused) == (403, "outside_roots")

    play(story())


def test_approvals_are_listed_and_decided_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.ask_person(ApprovalRequested(approval_id="a1", kind="command", summary="rm"))
            [asked] = (await web.get("/api/v1/approvals"))["approvals"]
            assert asked["request"]["summary"] == "rm"
            assert len((await web.get("/api/v1/approvals?session_id=s1"))["approvals"]) == 1
            assert len(await web.get(f"{S1}/approvals")) == 1
            path = "/api/v1/approvals/a1"
            wrong = {"session_id": "s1", "decision": "perhaps"}
            assert code(await web.post(path, wrong))[0] == 400
            given = {"session_id": "s1", "decision": "deny", "message": "not that"}
            assert (await web.post(path, given)).status_code == 204
            assert web.hub.asked[-1][:3] == ("decide", "a1", "deny")
            assert web.hub.asked[-1][3]["message"] == "not that"
            assert code(await web.post(path, given)) == (404, "not_found")

    play(story())


def test_the_policy_is_seen_tried_and_changed(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            [verdict] = (await web.post("/api/v1/policy/try", {"text": "x"})).json()["verdicts"]
            assert verdict["decision"] == "ask"
            saved = await web.client.put("/api/v1/policy", json={"text": "rules"})
            assert saved.json() == {"text": "rules"}
            assert await web.get("/api/v1/policy") == {"text": "rules"}
            refused = await web.client.put("/api/v1/policy", json={"text": "!"})
            assert code(refused) == (400, "bad_request")

    play(story())


def test_search_finds_what_was_said(tmp_path: Path) -> None:
    async def story() -> None:
        name = saved(tmp_path, 1)
        saved(tmp_path, 2, "mow the lawn")
        async with web_stage(tmp_path) as web:
            found = await web.get("/api/v1/search?q=shed")
            assert {each["session_id"] for each in found["hits"]} == {name}
            hit = found["hits"][0]
            [begin, end] = hit["spans"][0]
            assert hit["snippet"][begin:end] == "shed"
            scanned = await web.get("/api/v1/search?q=the%20lawn&scan=true&kind=prompt")
            assert len(scanned["hits"]) == 1
            for query in ("", "?q=", "?q=x&kind=nonsense", "?q=x&since=yesterday", "?q=%22"):
                response = await web.client.get(f"/api/v1/search{query}")
                assert response.status_code in (200, 400), response.text

    play(story())


def test_usage_is_summed_up(tmp_path: Path) -> None:
    async def story() -> None:
        saved(tmp_path, 1)
        async with web_stage(tmp_path) as web:
            told = await web.get("/api/v1/usage?by=project")
            assert told["by"] == "project"
            assert [each["key"] for each in told["groups"]] == ["/work/app1"]
            none = await web.get("/api/v1/usage?since=2999-01-01T00:00:00&by=model")
            assert none["groups"] == []
            assert code(await web.client.get("/api/v1/usage?by=moon")) == (400, "bad_request")

    play(story())


@pytest.mark.parametrize("name", ["messages", "claude", "markdown", "html", "ai-sdk", "json"])
def test_sessions_are_exported(tmp_path: Path, name: str) -> None:
    async def story() -> None:
        disk = saved(tmp_path, 1)
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.tell("s1", SessionStarted(harness="codex"), TurnStarted(), *first_turn())
            for session in ("s1", disk):
                response = await web.client.get(f"/api/v1/sessions/{session}/export?format={name}")
                assert response.status_code == 200
                assert response.text.strip()
                assert response.headers["content-disposition"].startswith("attachment; filename=")
            wrong = await web.client.get("/api/v1/sessions/s1/export?format=pdf")
            assert code(wrong) == (400, "no_format")

    play(story())


def test_a_chat_begins_a_turn_or_steers_the_one_under_way(tmp_path: Path) -> None:
    async def story() -> None:
        async with web_stage(tmp_path) as web:
            web.hub.add("s1")
            web.hub.reply = [Prompt(text="x"), *first_turn()]
            of = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Fix it"}]}]}
            response = await web.post(f"{S1}/chat?format=ag-ui", of)
            assert response.status_code == 200
            assert response.text.count("RUN_FINISHED") == 1
            assert web.hub.asked == [("run", "s1", "Fix it", [])]
            for messages in ([], [{"role": "assistant"}], [{"role": "user", "content": " "}]):
                refused = await web.post(f"{S1}/chat", {"messages": messages})
                assert code(refused) == (400, "bad_request")
            web.hub.tell("s1", TurnStarted(turn_id="t5"), Text(text="working"))
            web.hub.change("s1", state="working")
            async with web.client.stream("POST", f"{S1}/chat", json=of) as response:
                assert response.status_code == 200
            assert web.hub.asked[-1] == ("steer", "s1", "Fix it")

    play(story())
