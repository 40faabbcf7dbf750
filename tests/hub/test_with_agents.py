"""The hub with the real program and a stand-in model; and a hub that is killed."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ResponseError
from dragoman.hub.hub import Delivery, Entry, Forbidden, Hub, SessionArchived, Transient
from dragoman.model.messages import Message, Prompt, ToolCall, ToolResult, TurnEnded
from support.agents.hubs import eventually, is_end, kinds, read_until, seqs, texts
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]
_FREE: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}
_WORK = """
- think: I look first.
- run: cat README.md
- patch: |
    *** Begin Patch
    *** Add File: answer.txt
    +42
    *** End Patch
- say: Done.
"""


def _messages(told: Sequence[Delivery]) -> list[Message]:
    return [each.message for each in told if isinstance(each, Entry)]


def _hub(play: Stage, repo: Path) -> Hub:
    return Hub(repo.parent / "data", connection=play.connection(), roots=[repo])


def test_a_task_is_stored_and_told_and_the_same_on_disk(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage(_WORK)
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, prompt="Write the answer", **_FREE)
            told = await read_until(hub.subscribe(session.id), is_end)
            now = hub.get(session.id)
            assert seqs(told) == list(range(1, now.last_seq + 1))
            assert (now.state, now.title) == ("done", "Write the answer")
            assert now.usage is not None
            assert now.context_window
            assert texts(told) == ["Done."]
            live = [each.message for each in hub.entries(session.id)]
            assert await asyncio.to_thread(hub.verify) == []
        play.assert_like_disk(session.id, live, "codex-app-server")

    asyncio.run(story())


def test_an_approval_is_decided_by_a_person(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("- run: {command: touch outside, escalate: I need it}\n- say: After.")
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, prompt="go")
            await eventually(hub.approvals)
            [waiting] = hub.approvals()
            assert "touch outside" in waiting.request.summary
            assert hub.get(session.id).state == "waiting"
            hub.decide(waiting.id, "allow", session_id=session.id)
            await read_until(hub.subscribe(session.id), is_end)
            assert (repo / "outside").exists()
            assert hub.verify() == []

    asyncio.run(story())


def test_whoever_speaks_to_a_session_that_was_put_away_brings_it_back(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage("turns:\n- - say: one\n- - say: two\n- - say: three")
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, prompt="go", **_FREE)
            await read_until(hub.subscribe(session.id), is_end)
            await hub.archive(session.id)
            cursor = hub.get(session.id).last_seq
            await hub.run(session.id, "on")
            told = await read_until(hub.subscribe(session.id, after=cursor), is_end)
            assert texts(told) == ["two"]
            now = hub.get(session.id)
            assert (now.archived, now.native_id) == (False, session.native_id)
            await hub.archive(session.id)
            assert (await hub.fork(session.id)).parent == session.id
            assert hub.verify() == []

    asyncio.run(story())


def test_a_session_of_another_hub_is_named_put_away_and_branched_off_by_its_id(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play = stage("turns:\n- - say: one\n- - say: two")
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, prompt="go", **_FREE)
            await read_until(hub.subscribe(session.id), is_end)
            await hub.archive(session.id)
            with pytest.raises(SessionArchived, match="bring it back first"):
                await hub.rename(session.id, "Here")
        known = session.native_id
        here = Hub(repo.parent / "other", connection=play.connection(), roots=[repo])
        async with asyncio.timeout(SECONDS), here as hub:
            with pytest.raises(ResponseError, match="is archived"):
                await hub.saved.fork(known, cwd=repo)
            await hub.saved.archive(known, archived=False)
            assert play.session_file(known).exists()
            await hub.saved.rename(known, "There")
            with pytest.raises(Forbidden):
                await hub.saved.fork(known, cwd=repo.parent)
            assert hub.sessions() == []
            branch = await hub.saved.fork(known, cwd=repo, title="There")
            assert (branch.parent, branch.parent_seq, branch.title) == (known, 0, "There")
            assert branch.native_id != known
            await hub.run(branch.id, "on", **_FREE)
            told = await read_until(hub.subscribe(branch.id), is_end)
            assert texts(told) == ["two"]
            assert hub.verify() == []
            names = (play.rehearsal.codex_home / "session_index.jsonl").read_text(encoding="utf-8")
            assert known in names
            with pytest.raises(ResponseError):
                await hub.saved.archive("no-such-session")

    asyncio.run(story())


def test_a_sandbox_holds_from_its_turn_on(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns:\n" + "- [{run: touch written}, {say: done}]\n" * 4)
        written = repo / "written"
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, sandbox="read-only", approvals="never")

            async def turn(**how: Any) -> bool:
                cursor = hub.get(session.id).last_seq
                await hub.run(session.id, "go", **how)
                await read_until(hub.subscribe(session.id, after=cursor), is_end)
                was, _ = written.exists(), written.unlink(missing_ok=True)
                return was

            assert [await turn(), await turn(sandbox="danger-full-access"), await turn()] == [
                False,
                True,
                True,
            ]
            assert hub.get(session.id).sandbox == "danger-full-access"
            assert not await turn(sandbox="read-only")
            assert hub.get(session.id).sandbox == "read-only"
            assert hub.verify() == []

    asyncio.run(story())


@pytest.mark.parametrize("after_ms", [0, 1, 2, 5, 10, 20, 50])
def test_a_turn_that_is_interrupted_right_away_ends_there_as_here(
    stage: MakeStage, repo: Path, after_ms: int
) -> None:
    """Before the agent knows of it, while it takes it up, when it has just begun: whenever."""

    async def story() -> None:
        play = stage(
            "turns:\n- {when: long, steps: [{run: sleep 40}, {say: Never.}]}\n"
            "- {when: talk, steps: [{say: Hello.}]}"
        )
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, **_FREE)
            async with asyncio.TaskGroup() as group:
                group.create_task(hub.run(session.id, "long"))
                await asyncio.sleep(after_ms / 1000)  # not to wait for anything: it is the story
                await hub.interrupt(session.id)
            ended = await read_until(hub.subscribe(session.id), is_end)
            assert [m.outcome for m in _messages(ended) if isinstance(m, TurnEnded)] == [
                "interrupted"
            ]
            assert hub.get(session.id).state == "idle"
            await hub.run(session.id, "talk")
            rest = await read_until(hub.subscribe(session.id, after=seqs(ended)[-1]), is_end)
            assert texts(rest) == ["Hello."]
            assert hub.get(session.id).state == "done"
            assert hub.verify() == []

    asyncio.run(story())


def test_steering_interrupting_branching_and_going_on(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        waits = '{command: "until [ -e go ]; do sleep 0.1; done", wait: 60}'
        script = f"turns:\n- - run: {waits}\n  - run: sleep 30\n- - say: fine\n- - say: forked"
        play = stage(script)
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, prompt="go", **_FREE)
            reader = hub.subscribe(session.id)
            await read_until(reader, lambda message: isinstance(message, ToolCall))
            await hub.run(session.id, "only the parser")
            (repo / "go").touch()
            await read_until(reader, lambda message: isinstance(message, ToolCall))
            await hub.interrupt(session.id)
            told = await read_until(reader, is_end)
            assert hub.get(session.id).state == "idle"
            said = [each.message for each in hub.entries(session.id)]
            assert [m.text for m in said if isinstance(m, Prompt)] == ["go", "only the parser"]
            await hub.stop(session.id)
            await hub.run(session.id, "again")
            await read_until(hub.subscribe(session.id, after=seqs(told)[-1]), is_end)
            branch = await hub.fork(session.id)
            await hub.run(branch.id, "and there")
            await read_until(hub.subscribe(branch.id), is_end)
            assert texts(hub.entries(branch.id)) == ["forked"]
            assert texts(hub.entries(session.id)) == ["fine"]
            await hub.archive(branch.id)
            assert hub.verify() == []

    asyncio.run(story())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_hub_that_is_killed_loses_nothing_that_was_shown(stage: MakeStage, repo: Path) -> None:
    script = "turns:\n- - say: I begin.\n  - slow: 0.05\n  - say: {text: 'word ', bytes: 4000}\n- - say: Better."
    told, session_id = _until_killed(
        stage, repo, script, lambda seen: sum("seq" not in one for one in seen) > 12
    )
    play = told.play
    shown = [one for one in told.lines if "seq" in one]
    last = told.lines[-1]["message"]["message_id"]
    pieces = [
        one["message"]["text"]
        for one in told.lines
        if "seq" not in one and one["message"]["message_id"] == last
    ]

    async def story() -> None:
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            entries = hub.entries(session_id)
            stored = [json.loads(each.json) for each in entries]
            assert stored[: len(shown)] == shown
            assert hub.get(session_id).state == "failed"
            ended = entries[-1].message
            assert isinstance(ended, TurnEnded)
            assert ended.error is not None
            assert (ended.outcome, ended.error.kind) == ("failed", "port_exit")
            # What was in the middle of being said is there as far as it went, and perhaps further.
            assert texts(entries)[-1].startswith("".join(pieces))
            assert hub.verify() == []
            again = await hub.start(cwd=repo, approvals="on-request", idempotency_key="k")
            assert again.id == session_id
            await hub.run(session_id, "again")
            later = await read_until(hub.subscribe(session_id, after=entries[-1].seq), is_end)
            assert texts(later) == ["Better."]
            assert seqs(later)[-1] == hub.get(session_id).last_seq
            assert hub.verify() == []

    asyncio.run(story())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_hub_that_is_killed_while_somebody_is_asked(stage: MakeStage, repo: Path) -> None:
    script = "turns:\n- - run: {command: touch outside, escalate: I need it}\n  - say: Never.\n- - say: Better."
    told, session_id = _until_killed(
        stage,
        repo,
        script,
        lambda seen: any(one["message"]["type"] == "approval_requested" for one in seen),
    )

    async def story() -> None:
        async with asyncio.timeout(SECONDS), _hub(told.play, repo) as hub:
            entries = hub.entries(session_id)
            assert hub.approvals() == []
            assert kinds(entries)[-1] == "turn_ended"
            assert "approval_settled" in kinds(entries)
            calls = {e.message.call_id for e in entries if isinstance(e.message, ToolCall)}
            ended = {e.message.call_id for e in entries if isinstance(e.message, ToolResult)}
            assert calls == ended
            await hub.run(session_id, "again")
            later = await read_until(hub.subscribe(session_id, after=entries[-1].seq), is_end)
            assert texts(later) == ["Better."]
            assert hub.verify() == []

    asyncio.run(story())


class _Told:
    def __init__(self, play: Stage, lines: list[dict[str, Any]]) -> None:
        self.play = play
        self.lines = lines


def _until_killed(
    stage: MakeStage, repo: Path, script: str, enough: Callable[[list[dict[str, Any]]], bool]
) -> tuple[_Told, str]:
    """What a hub in another process has shown when it was killed, and the session's id."""
    play = stage(script)
    victim = Path(__file__).parents[1] / "support" / "agents" / "hub_victim.py"
    process = subprocess.Popen(
        [sys.executable, str(victim), str(repo.parent / "data"), play.command, str(repo)],
        env={**os.environ, **play.env},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    seen: list[dict[str, Any]] = []
    with process:
        assert process.stdout is not None
        session_id = process.stdout.readline().strip()
        assert session_id
        for line in process.stdout:
            seen.append(json.loads(line))
            if enough(seen):
                process.kill()
                break
        # What it had shown before it died counts as well; a line may be cut.
        rest = process.stdout.read().split("\n")[:-1]
        seen += [json.loads(line) for line in rest]
    return _Told(play, seen), session_id


def test_deltas_are_told_while_the_model_speaks(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("- slow: 0.02\n- say: one two three four five six")
        async with asyncio.timeout(SECONDS), _hub(play, repo) as hub:
            session = await hub.start(cwd=repo, **_FREE)
            reader = hub.subscribe(session.id)
            first = await anext(reader)
            assert isinstance(first, Entry)
            await hub.run(session.id, "go")
            told = await read_until(reader, is_end)
            pieces = [each for each in told if isinstance(each, Transient)]
            whole = next(n for n, each in enumerate(told) if texts([each]))
            assert pieces
            assert all(told.index(piece) < whole for piece in pieces)

    asyncio.run(story())
