"""Stories told to ``codex app-server``: one process, many sessions, approvals, tools."""

from __future__ import annotations

import asyncio
from typing import Any

from plays import Play, of
from releases import Version
from scenarios import APP_SERVER, Stories

from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
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

STORIES = Stories("app-server", APP_SERVER)

WORK = """
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
WORDS_REPEATED: Version = (0, 97, 0)
FREE: dict[str, Any] = {"sandbox": "danger-full-access", "approvals": "never"}


def check_work(play: Play, told: list[Message], *, plan: bool = True) -> None:
    """Everything that WORK does was told, and was done."""
    assert [m.text for m in of(Prompt, told)] == ["Write the answer"]
    assert [m.text for m in of(Thinking, told)] == ["I look first."]
    assert [m.text for m in of(Text, told)] == ["Done."]
    steps = [step.text for m in of(Plan, told)[-1:] for step in m.steps]
    assert steps == (["look", "write"] if plan else [])
    calls = {m.call_id: m for m in of(ToolCall, told)}
    results = {m.call_id: m for m in of(ToolResult, told)}
    assert calls.keys() == results.keys()
    ran = next(m for m in calls.values() if m.input.get("command") == "cat README.md")
    assert (results[ran.call_id].output.strip(), results[ran.call_id].exit_code) == ("hello", 0)
    assert (play.repo / "answer.txt").read_text(encoding="utf-8") == "42\n"
    ended = of(TurnEnded, told)
    assert [m.outcome for m in ended] == ["completed"]
    assert ended[0].usage is not None
    assert ended[0].usage.output_tokens > 0


@STORIES.story("a task: thinking, plan, command, patch, answer")
async def _task(play: Play) -> None:
    play.script(WORK)
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo, **FREE)
        told = [message async for message in session.run("Write the answer")]
    assert isinstance(told[0], SessionStarted)
    assert isinstance(told[-1], TurnEnded)
    check_work(play, told)


async def _approval(play: Play, decision: str) -> list[Message]:
    play.script(f"- {play.asking('touch made')}\n- say: After the question.")
    async with play.connect(policy=lambda request: decision) as codex:  # pyright: ignore[reportUnknownLambdaType]
        session = await codex.start(cwd=play.repo, **play.asks)
        told = (await session.run("try")).messages
    asked = of(ApprovalRequested, told)
    assert [(m.kind, m.detail.get("command")) for m in asked] == [("command", "touch made")]
    assert [m.decision for m in of(ApprovalSettled, told)] == [decision]
    return told


def _ended(told: list[Message]) -> tuple[list[str], list[str]]:
    return [m.outcome for m in of(TurnEnded, told)], [m.text for m in of(Text, told)]


@STORIES.story("an approval: allowed")
async def _allowed(play: Play) -> None:
    told = await _approval(play, "allow")
    assert _ended(told) == (["completed"], ["After the question."])
    assert (play.repo / "made").exists()


@STORIES.story("an approval: denied, and the turn goes on")
async def _denied(play: Play) -> None:
    told = await _approval(play, "deny")
    assert _ended(told) == (["completed"], ["After the question."])
    assert [m.status for m in of(ToolResult, told)] == ["declined"]
    assert not (play.repo / "made").exists()


@STORIES.story("an approval: cancelled, and the turn ends")
async def _cancelled(play: Play) -> None:
    told = await _approval(play, "cancel")
    assert _ended(told) == (["interrupted"], [])
    assert not (play.repo / "made").exists()


@STORIES.story("an approval: for the session, and the same is not asked again")
async def _for_session(play: Play) -> None:
    step = play.asking("touch made")
    play.script(f"turns:\n- - {step}\n  - say: one\n- - {step}\n  - say: two")
    asked: list[str] = []
    told: list[Message] = []

    def person(request: ApprovalRequested) -> str:
        asked.append(request.approval_id)
        return "allow_for_session"

    async with play.connect(ask=person) as codex:
        session = await codex.start(cwd=play.repo, **play.asks)
        for prompt in ("first", "second"):
            told += (await session.run(prompt)).messages
    assert _ended(told) == (["completed", "completed"], ["one", "two"])
    assert len(of(ToolResult, told)) == 2
    assert len(asked) == 1
    assert [m.decision for m in of(ApprovalSettled, told)] == ["allow", "allow"]


@STORIES.story("an approval of a patch: denied, then allowed")
async def _patch(play: Play) -> None:
    patch = """patch: |
        *** Begin Patch
        *** Add File: answer.txt
        +42
        *** End Patch"""
    play.script(f"turns:\n- - {patch}\n  - say: one\n- - {patch}\n  - say: two")
    decisions = iter(("deny", "allow"))
    answer = play.repo / "answer.txt"
    async with play.connect(policy=lambda request: next(decisions)) as codex:  # pyright: ignore[reportUnknownLambdaType]
        session = await codex.start(cwd=play.repo, **play.asks)
        told = (await session.run("try")).messages
        assert _ended(told) == (["completed"], ["one"])
        assert [m.kind for m in of(ApprovalRequested, told)] == ["edit"]
        assert [m.decision for m in of(ApprovalSettled, told)] == ["deny"]
        assert not answer.exists()
        told = (await session.run("again")).messages
    assert _ended(told) == (["completed"], ["two"])
    assert [m.decision for m in of(ApprovalSettled, told)] == ["allow"]
    assert answer.read_text(encoding="utf-8") == "42\n"


@STORIES.story("an unanswered question is denied")
async def _nobody(play: Play) -> None:
    async def nobody(request: ApprovalRequested) -> str:
        await asyncio.sleep(60)
        return "allow"

    play.script(f"- {play.asking('touch made')}\n- say: After the question.")
    async with play.connect(ask=nobody, ask_seconds=0.3) as codex:
        session = await codex.start(cwd=play.repo, **play.asks)
        told = (await session.run("try")).messages
    assert [m.decision for m in of(ApprovalSettled, told)] == ["deny"]
    assert _ended(told) == (["completed"], ["After the question."])
    assert not (play.repo / "made").exists()


@STORIES.story("a word to a running turn")
async def _steer(play: Play) -> None:
    stage = play.script("- run: sleep 1\n- say: ok")
    told: list[Message] = []
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo, **FREE)
        async for message in session.run("work"):
            told.append(message)
            if isinstance(message, ToolCall):
                await session.steer("only the parser")
    assert _ended(told)[0] == ["completed"]
    assert b"only the parser" in stage.requests[-1].raw, "the model has not heard it"
    # Before, neither the stream nor the file tells the word: only the model hears it.
    repeats = play.release >= WORDS_REPEATED
    assert [m.text for m in of(Prompt, told)][1:] == (["only the parser"] if repeats else [])


@STORIES.story("an interrupt, and the next turn works")
async def _interrupt(play: Play) -> None:
    play.script("turns:\n- - run: sleep 5\n- - say: fine")
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo, **FREE)
        told: list[Message] = []
        async for message in session.run("work"):
            told.append(message)
            if isinstance(message, ToolCall):
                await session.interrupt()
        assert _ended(told) == (["interrupted"], [])
        assert len(of(ToolCall, told)) == len({m.call_id for m in of(ToolResult, told)}) == 1
        result = await session.run("again")
        assert (result.outcome, result.text) == ("completed", "fine")


@STORIES.story("a session resumed in another process")
async def _resume(play: Play) -> None:
    stage = play.script("turns: [[{say: first}], [{say: second}]]")
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo)
        assert (await session.run("my first prompt")).text == "first"
    async with play.connect() as codex:
        again = await codex.start(cwd=play.repo, resume=session.id)
        assert (again.id, again.facts.resumed) == (session.id, True)
        assert (await again.run("and the next")).text == "second"
    assert b"my first prompt" in stage.requests[-1].raw


@STORIES.story("a session branched off", since=(0, 80, 0))
async def _fork(play: Play) -> None:
    stage = play.script("""
turns:
- [{say: first}]
- {when: branch, steps: [{say: second}]}
- {when: trunk, steps: [{say: third}]}
""")
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo)
        assert (await session.run("my first prompt")).text == "first"
        branch = await session.fork()
        assert branch.id != session.id
        assert (await branch.run("on the branch")).text == "second"
        assert b"my first prompt" in stage.requests[-1].raw
        assert (await session.run("on the trunk")).text == "third"
        assert b"on the branch" not in stage.requests[-1].raw


@STORIES.story("a Python function as a tool", since=(0, 97, 0))
async def _tool(play: Play) -> None:
    asked: list[str] = []

    def lookup_ticket(number: str) -> dict[str, str]:
        """Look a ticket up."""
        asked.append(number)
        return {"title": "Broken door"}

    stage = play.script(
        "- tool: {name: lookup_ticket, arguments: {number: T-7}}\n- say: It is a door."
    )
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo, approvals="never", tools=[lookup_ticket])
        result = await session.run("What is T-7?")
    assert asked == ["T-7"]
    assert [m.tool for m in of(ToolCall, result.messages)] == ["lookup_ticket"]
    outputs = [(m.output, m.is_error) for m in of(ToolResult, result.messages)]
    assert outputs == [('{"title":"Broken door"}', False)]
    assert result.text == "It is a door."
    assert b"Broken door" in stage.requests[-1].raw, "the model has not got it"


async def _failing(play: Play, fault: str, kind: str, retryable: bool) -> None:
    play.script(f"turns:\n- - {fault}\n- - say: fine")
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo)
        result = await session.run("work")
        assert result.outcome == "failed"
        assert result.error is not None
        assert (result.error.kind, result.error.retryable) == (kind, retryable), result.error
        again = await session.run("again")
        assert (again.outcome, again.text) == ("completed", "fine")


@STORIES.story("a model that refuses the key (401)")
async def _unauthorized(play: Play) -> None:
    await _failing(play, "http: 401", "response_error", retryable=False)


@STORIES.story("a model that fails (500)")
async def _broken(play: Play) -> None:
    await _failing(play, "http: 500", "turn_failed", retryable=True)


@STORIES.story("a session compacted", since=(0, 96, 0))
async def _compact(play: Play) -> None:
    play.script("turns: [[{say: hello}]]\notherwise: a summary")
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo)
        await session.run("hi")
        result = await session.compact()
        assert result.outcome == "completed"
        assert len(of(Compacted, result.messages)) == 1
        assert (await session.run("go on")).outcome == "completed"


@STORIES.story("a schema for a turn's answer", since=(0, 79, 0))
async def _schema(play: Play) -> None:
    stage = play.script("""- say: '{"n": 1}'""")
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo)
        result = await session.run("count", output_schema=schema)
    assert result.text == '{"n": 1}'
    assert b"json_schema" in stage.requests[-1].raw


@STORIES.story("a session that leaves no file", since=(0, 90, 0))
async def _ephemeral(play: Play) -> None:
    play.script("- say: hello")
    async with play.connect() as codex:
        session = await codex.start(cwd=play.repo, ephemeral=True)
        assert (await session.run("hi")).text == "hello"
    assert play.session_file(session.id) is None


@STORIES.story("eight sessions at once")
async def _many(play: Play) -> None:
    play.script("otherwise: all is well")
    async with play.connect() as codex:

        async def one(number: int) -> tuple[str, list[str]]:
            session = await codex.start(cwd=play.repo)
            result = await session.run(f"number {number}")
            return result.text, [m.text for m in of(Prompt, result.messages)]

        async with asyncio.TaskGroup() as tasks:
            working = [tasks.create_task(one(number)) for number in range(8)]
    told = [task.result() for task in working]
    assert told == [("all is well", [f"number {number}"]) for number in range(8)]
