from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.drive.approvals.policy import Decision
from dragoman.errors import AgentNotFound, InvalidWorkspace, UsageError
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Plan,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
)
from support.agents.stages import SECONDS, Stage

MakeStage = Callable[..., Stage]

_WORK = """
- think: I look first.
- plan: [{done: look}, {doing: write}]
- run: cat README.md
- patch: |
    *** Begin Patch
    *** Add File: answer.txt
    +42
    *** End Patch
- say: Done.
"""
_ASKS = """
- run: {command: touch outside, escalate: I need it}
- say: After the question.
"""


def _of(kind: type, messages: list[Message]) -> list[Any]:
    return [message for message in messages if isinstance(message, kind)]


def test_a_task_from_its_prompt_to_its_answer_and_the_same_on_disk(
    stage: MakeStage, repo: Path
) -> None:
    async def story() -> None:
        play, told = stage(_WORK), list[Message]()
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            assert codex.state == "running"
            session = await codex.start(
                cwd=repo, sandbox="danger-full-access", approvals="never", model="gpt-5.5"
            )
            async for message in session.run("Write the answer"):
                told.append(message)
        assert codex.state == "stopped"
        assert isinstance(told[0], SessionStarted)
        assert isinstance(told[-1], TurnEnded)
        assert told[-1].outcome == "completed"
        assert told[-1].usage is not None
        assert told[-1].usage.output_tokens > 0
        assert [m.text for m in _of(Prompt, told)] == ["Write the answer"]
        assert [m.text for m in _of(Thinking, told)] == ["I look first."]
        assert [m.text for m in _of(Text, told)] == ["Done."]
        assert [step.text for step in _of(Plan, told)[-1].steps] == ["look", "write"]
        calls = {m.call_id: m for m in _of(ToolCall, told)}
        results = {m.call_id: m for m in _of(ToolResult, told)}
        assert calls.keys() == results.keys()
        ran = next(call for call in calls.values() if call.tool == "Bash")
        assert ran.input["command"] == "cat README.md"
        assert (results[ran.call_id].output, results[ran.call_id].exit_code) == ("hello\n", 0)
        assert (repo / "answer.txt").read_text() == "42\n"
        play.assert_like_disk(session.id, told, "codex-app-server")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("decision", "made", "settled"),
    [
        ("allow", True, "allow"),
        ("allow_for_session", True, "allow"),  # the agent is told so each time; the memory is ours
        ("deny", False, "deny"),
        (Decision(word="deny", message="Not today."), False, "deny"),
    ],
)
def test_an_approval_is_decided_by_the_policy(
    stage: MakeStage, repo: Path, decision: Decision | str, made: bool, settled: str
) -> None:
    async def story() -> None:
        play = stage(_ASKS)

        def policy(request: ApprovalRequested) -> Decision | str:
            return decision

        async with asyncio.timeout(SECONDS), play.connect(policy=policy) as codex:
            session = await codex.start(cwd=repo, sandbox="read-only", approvals="on-request")
            result = await session.run("try")
        asked = _of(ApprovalRequested, result.messages)
        assert [(m.kind, m.detail["command"]) for m in asked] == [("command", "touch outside")]
        assert [m.decision for m in _of(ApprovalSettled, result.messages)] == [settled]
        assert (result.outcome, result.text) == ("completed", "After the question.")
        assert (repo / "outside").exists() is made
        if isinstance(decision, Decision):
            assert "Not today." in [m.text for m in _of(Prompt, result.messages)]

    asyncio.run(story())


def test_cancelling_an_approval_ends_the_turn(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage(_ASKS).connect(policy=_cancel) as codex:
            session = await codex.start(cwd=repo, sandbox="read-only", approvals="on-request")
            assert (await session.run("try")).outcome == "interrupted"

    asyncio.run(story())


def _cancel(request: ApprovalRequested) -> str:
    return "cancel"


def test_a_question_nobody_answers_is_denied_at_the_deadline(stage: MakeStage, repo: Path) -> None:
    async def nobody(request: ApprovalRequested) -> str:
        await asyncio.sleep(SECONDS)
        return "allow"

    async def story() -> None:
        how = {"ask": nobody, "ask_seconds": 0.3}
        async with asyncio.timeout(SECONDS), stage(_ASKS).connect(**how) as codex:
            session = await codex.start(cwd=repo, sandbox="read-only", approvals="on-request")
            result = await session.run("try")
        assert [m.decision for m in _of(ApprovalSettled, result.messages)] == ["deny"]
        assert result.outcome == "completed"
        assert not (repo / "outside").exists()

    asyncio.run(story())


def test_a_python_function_is_a_tool(stage: MakeStage, repo: Path) -> None:
    asked: list[str] = []

    def lookup_ticket(number: str) -> dict[str, str]:
        """Look a ticket up."""
        asked.append(number)
        return {"title": "Broken door"}

    script = """
    - tool: {name: lookup_ticket, arguments: {number: T-7}}
    - say: It is a door.
    """

    async def story() -> None:
        play = stage(script)
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo, approvals="never", tools=[lookup_ticket])
            result = await session.run("What is T-7?")
        assert asked == ["T-7"]
        assert [m.tool for m in _of(ToolCall, result.messages)] == ["lookup_ticket"]
        outputs = [(m.output, m.is_error) for m in _of(ToolResult, result.messages)]
        assert outputs == [('{"title":"Broken door"}', False)]
        assert result.text == "It is a door."

    asyncio.run(story())


def test_a_session_goes_on_in_another_process(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns: [[{say: first}], [{say: second}], [{say: third}]]")
        async with asyncio.timeout(SECONDS):
            async with play.connect() as codex:
                session = await codex.start(cwd=repo)
                assert (await session.run("1")).text == "first"
            async with play.connect() as codex:
                again = await codex.start(cwd=repo, resume=session.id)
                assert (again.id, again.facts.resumed) == (session.id, True)
                assert (await again.run("2")).text == "second"
                fork = await again.fork()
                assert fork.id != again.id
                assert (await fork.run("3")).text == "third"
                saved = await codex.saved_sessions()
                assert len(saved.sessions) == 2

    asyncio.run(story())


def test_a_session_that_is_gone_can_be_begun_anew(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("- say: new")
        gone = "01a1e150-b415-7001-8000-000000000000"
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo, resume=gone, or_new=True)
            assert session.id != gone
            assert not session.facts.resumed
            assert (await session.run("hi")).text == "new"

    asyncio.run(story())


def test_steering_reaches_the_turn(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        waits = "until [ -e go ]; do sleep 0.1; done"
        play = stage(f"- run: {{command: '{waits}', wait: 60}}\n- say: ok")
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo, sandbox="danger-full-access", approvals="never")
            prompts: list[str] = []
            async for message in session.run("work"):
                if isinstance(message, ToolCall):
                    await session.steer("only the parser")
                    (repo / "go").touch()
                if isinstance(message, Prompt):
                    prompts.append(message.text)
        assert prompts == ["work", "only the parser"]

    asyncio.run(story())


def test_an_interrupt_ends_the_turn_and_the_next_one_works(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns:\n- - run: sleep 30\n- - say: fine")
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo, sandbox="danger-full-access", approvals="never")
            ended: list[TurnEnded] = []
            async for message in session.run("work"):
                if isinstance(message, ToolCall):
                    await session.interrupt()
                if isinstance(message, TurnEnded):
                    ended.append(message)
            assert [m.outcome for m in ended] == ["interrupted"]
            await session.stop_commands()
            assert (await session.run("again")).text == "fine"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        ("http: 400", "turn_failed", True),
        ("http: 401", "response_error", False),
        ("http: {status: 429, code: insufficient_quota}", "turn_failed", False),
        ("http: 500", "turn_failed", True),
        ("drop: half a sen", "turn_failed", True),
        ("overflow:", "turn_failed", False),
    ],
)
def test_a_failing_model_is_a_failed_turn_of_the_right_kind(
    stage: MakeStage, repo: Path, fault: str, kind: str, retryable: bool
) -> None:
    async def story() -> None:
        play = stage(f"turns:\n- - {fault}\n- - say: fine")
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo)
            result = await session.run("work")
            assert result.outcome == "failed"
            assert result.error is not None
            assert (result.error.kind, result.error.retryable) == (kind, retryable)
            assert (await session.run("again")).text == "fine"

    asyncio.run(story())


def test_compacting_reviewing_renaming_archiving(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("turns: [[{say: hello}]]\notherwise: a summary")
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo)
            await session.run("hi")
            assert (await session.compact()).outcome == "completed"
            assert (await session.review()).outcome == "completed"
            await session.rename("A name")
            assert (await session.read()).title == "A name"
            await session.archive()
            assert (await codex.saved_sessions()).sessions == []
            archived = await codex.saved_sessions(archived=True)
            assert [one.id for one in archived.sessions] == [session.id]
            assert await codex.models()

    asyncio.run(story())


def test_fifty_sessions_at_once_on_one_process(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("otherwise: all is well")
        async with asyncio.timeout(SECONDS), play.connect() as codex:

            async def one(number: int) -> str:
                session = await codex.start(cwd=repo, ephemeral=True)
                return (await session.run(f"number {number}")).text

            async with asyncio.TaskGroup() as tasks:
                working = [tasks.create_task(one(number)) for number in range(50)]
        assert [task.result() for task in working] == ["all is well"] * 50

    asyncio.run(story())


def test_a_journal_holds_the_whole_exchange(stage: MakeStage, repo: Path, tmp_path: Path) -> None:
    import dragoman

    async def story() -> list[Message]:
        play = stage(_WORK)
        async with asyncio.timeout(SECONDS), play.connect(journal=tmp_path / "journal") as codex:
            session = await codex.start(cwd=repo, sandbox="danger-full-access", approvals="never")
            return (await session.run("hi")).messages

    told = asyncio.run(story())
    kept = list(dragoman.read(tmp_path / "journal"))
    assert [m for m in kept if m.turn_id] == [m for m in told if m.turn_id]


def test_what_cannot_be_started_is_one_sentence(repo: Path) -> None:
    from dragoman.client.connecting import open_connection
    from dragoman.client.connection import Connection

    async def start(**options: Any) -> None:
        how = open_connection(options.pop("harness", None), Connection(**options))
        async with asyncio.timeout(SECONDS), how as codex:
            await codex.start(cwd=repo)

    with pytest.raises(UsageError, match="there is no harness 'nobody' to drive; known: codex"):
        asyncio.run(start(harness="nobody"))
    with pytest.raises(AgentNotFound, match="is not there"):
        asyncio.run(start(command="/no/such/codex"))
    with pytest.raises(UsageError, match="no transport 'x'; known: app-server, exec"):
        asyncio.run(start(mode="x"))


def test_a_workspace_is_checked_before_anything_is_asked(stage: MakeStage) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS), stage("- say: hi").connect() as codex:
            with pytest.raises(InvalidWorkspace, match="does not exist"):
                await codex.start(cwd="/no/such/place")

    asyncio.run(story())


def test_a_command_may_have_arguments_of_its_own(stage: MakeStage, repo: Path) -> None:
    async def story() -> None:
        play = stage("- say: hi")
        play.command = f"{play.command} -c model='gpt-5.1' app-server"
        async with asyncio.timeout(SECONDS), play.connect() as codex:
            session = await codex.start(cwd=repo)
            assert session.facts.model == "gpt-5.1"
            assert (await session.run("hello")).text == "hi"

    asyncio.run(story())
