"""Stories told to ``codex exec``: a process for each prompt."""

from __future__ import annotations

from app_server_stories import WORK, check_work
from plays import Play
from releases import Version
from scenarios import EXEC, Stories

from dragoman.model.messages import TurnEnded

PLAN_TOOL: Version = (0, 48, 0)
"""Before, plans are an option of the command line."""
THREAD_TOTALS: Version = (0, 79, 0)
STORIES = Stories("exec", EXEC)


@STORIES.story("a task: thinking, plan, command, patch, answer")
async def _task(play: Play) -> None:
    play.script(WORK)
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo, sandbox="danger-full-access")
        result = play.hear(await session.run("Write the answer"))
    assert isinstance(result.messages[-1], TurnEnded)
    check_work(play, result.messages, plan=play.release >= PLAN_TOOL)


@STORIES.story("a session resumed")
async def _resume(play: Play) -> None:
    stage = play.script("turns: [[{say: first}], [{say: second}], [{say: third}]]")
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo)
        assert play.hear(await session.run("my first prompt")).text == "first"
        name = session.id
        assert play.hear(await session.run("and the next")).text == "second"
        assert session.id == name
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo, resume=name)
        # A new session here knows not what was spent, and from THREAD_TOTALS on the total goes on.
        counts = play.release < THREAD_TOTALS
        assert play.hear(await session.run("and the last"), counts=counts).text == "third"
        assert session.id == name
    assert b"my first prompt" in stage.requests[-1].raw


@STORIES.story("a session branched off", since=(0, 148, 0))
async def _fork(play: Play) -> None:
    stage = play.script("turns: [[{say: first}], [{say: second}]]")
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo)
        assert play.hear(await session.run("my first prompt")).text == "first"
        branch = await session.fork()
        assert play.hear(await branch.run("on the branch")).text == "second"
        assert branch.id != session.id
    assert b"my first prompt" in stage.requests[-1].raw


@STORIES.story("a schema for the answer")
async def _schema(play: Play) -> None:
    stage = play.script("""- say: '{"n": 1}'""")
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo)
        result = play.hear(await session.run("count", output_schema=schema))
    assert result.text == '{"n": 1}'
    assert b"json_schema" in stage.requests[-1].raw


@STORIES.story("a session that leaves no file", since=(0, 99, 0))
async def _ephemeral(play: Play) -> None:
    play.script("- say: hello")
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo, ephemeral=True)
        assert play.hear(await session.run("hi")).text == "hello"
    assert session.id
    assert play.session_file(session.id) is None


async def _failing(play: Play, fault: str, kind: str, retryable: bool) -> None:
    play.script(f"- {fault}")
    async with play.connect_exec() as codex:
        session = await codex.start(cwd=play.repo)
        result = play.hear(await session.run("work"))
    assert result.outcome == "failed"
    assert result.error is not None
    assert (result.error.kind, result.error.retryable) == (kind, retryable), result.error


@STORIES.story("a model that refuses the key (401)")
async def _unauthorized(play: Play) -> None:
    await _failing(play, "http: 401", "response_error", retryable=False)


@STORIES.story("a model that fails (500)")
async def _broken(play: Play) -> None:
    await _failing(play, "http: 500", "turn_failed", retryable=True)
