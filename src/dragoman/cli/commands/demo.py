"""``dragoman demo``: the real agent fixes a failing test, without a key or a network.

The agent's program, its sandbox, its session file and its approvals are real. Only the model is a
stand-in that plays the script in ``demo_data``.
"""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.program import invoked_as
from dragoman.cli.run_options import AgentOptions
from dragoman.cli.streams import standard_output
from dragoman.errors import UsageError

if TYPE_CHECKING:
    from dragoman.cli.live.live import LiveView
    from dragoman.model.messages import ApprovalRequested, Message
    from dragoman.rehearsal import Script
    from dragoman.rehearsal.agents.known import AgentName

_ASKS_ALWAYS: Final = "untrusted"
_PROMPT: Final = "Fix the failing test"
_FILES: Final = ("greet.py", "test_greet.py")
_PAUSE_SECONDS: Final = 2.0


def _scripted_agents() -> list[str]:
    """The agents that the stand-in model can serve, the default one first."""
    from dragoman.client.surveying import driven_names
    from dragoman.rehearsal.agents.known import USUAL_AGENTS

    return [each.name for each in driven_names() if each.name in USUAL_AGENTS]


@click.command(short_help="Watch the real agent fix a test, without a key or a network.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: allow the change after a short pause.")
@click.option("--quick", is_flag=True, help="Skip the pauses.")
@agent_option("Agent to run: {agents}. The first is the default.", names=_scripted_agents)
@click.option(
    "--command", metavar="PATH", help="The agent's program. Found automatically by default."
)
@click.option("--page", is_flag=True, help="Run in the browser, on the page that `serve` opens.")
@click.option("--open/--no-open", "opens", default=True, hidden=True)
def demo(
    yes: bool,
    quick: bool,
    harness: str | None,
    command: str | None,
    page: bool,
    opens: bool,
) -> int:
    """Watch the real agent fix a failing test in a temporary repository.

    The model is a stand-in that plays a script, so this needs no key and no network, and costs
    nothing. Everything else is real: the agent's program, its commands, the change to the file, the
    approval that it asks you for, and the session file that it writes.
    """
    from dragoman.cli.live.loop import run_async
    from dragoman.rehearsal import Rehearsal

    name = _scripted(harness)
    access, asking = _cautious(name, command)
    folder = Path(tempfile.mkdtemp(prefix="dragoman-demo-"))
    workspace = _make_workspace(folder / "greeter")
    with Rehearsal(_script(quick=quick), agent=name, home=folder / "home") as stage:
        if page:
            first = {"cwd": str(workspace), "prompt": _PROMPT, "access": access, "asking": asking}
            return _page(folder, workspace, name, command, stage.env, first, opens=opens)
        options = AgentOptions(
            cwd=str(workspace),
            harness=name,
            access=access,
            asking=asking,
            command=command,
            env=stage.env,
        )
        return run_async(
            lambda: _demo(options, folder, yes=yes, pause=0 if quick else _PAUSE_SECONDS)
        )


def _scripted(harness: str | None) -> AgentName:
    """The agent, if the stand-in model can serve it."""
    from dragoman.client.surveying import driven_names
    from dragoman.rehearsal.agents.known import USUAL_AGENTS

    name = harness or driven_names()[0].name
    for each in USUAL_AGENTS:
        if each == name:
            return each
    raise UsageError(f"the demo runs {' or '.join(USUAL_AGENTS)}, not {name}")


def _cautious(harness: str, command: str | None) -> tuple[str | None, str | None]:
    """Access and asking with which the agent asks about the change to the file.

    An agent that can be set to ask about everything gets full access: its script is harmless, and some
    machines cannot sandbox commands. Others ask by default.
    """
    from dragoman.client.examining import capabilities

    offered = asyncio.run(capabilities(command, harness=harness))
    asks_always = any(each.value == _ASKS_ALWAYS for each in offered.asking)
    return ("full", _ASKS_ALWAYS) if asks_always else (None, None)


def _page(
    folder: Path,
    workspace: Path,
    harness: str,
    command: str | None,
    env: dict[str, str],
    first: dict[str, Any],
    *,
    opens: bool,
) -> int:
    from dragoman.cli.commands.serve import Serving, run

    serving = Serving(
        data=folder / "data",
        port=0,
        roots=[workspace],
        harness=harness,
        command=command,
        env=env,
        home=folder / "home",
        opens=opens,
        otherwise=_only_edits,
        first=first,
    )
    return run(serving)


async def _demo(options: AgentOptions, folder: Path, *, yes: bool, pause: float) -> int:
    from dragoman.cli.live.live import view_for
    from dragoman.cli.live.loop import EXIT_CODES, live_screen, show_turn
    from dragoman.client.surveying import title_of
    from dragoman.model.messages import ApprovalRequested, ApprovalSettled

    view = view_for(standard_output())
    seen: Counter[str] = Counter()

    asked: set[str] = set()

    def show(message: Message) -> None:
        # The agent asks about every command, and the policy below allows it: show only the change.
        if isinstance(message, ApprovalRequested) and message.kind == "edit":
            asked.add(message.approval_id)
        if (
            isinstance(message, ApprovalRequested | ApprovalSettled)
            and message.approval_id not in asked
        ):
            return
        seen[str(type(message).__struct_config__.tag)] += 1
        view.show(message)

    answer = _answering(view, pause) if yes or not view.interactive else None
    with live_screen(view) as presses:
        connected = options.connected(view, policy=_only_edits, ask=answer)
        async with connected as (agent, _):
            session = await options.start(agent)
            ended = await show_turn(session.run(_PROMPT), session, view, presses, show)
            version = agent.facts.version if agent.facts else None
        title = title_of(options.harness)
        view.write_rows(_summary(title, version, seen, folder, session.id, options.harness))
    return EXIT_CODES[ended.outcome] if ended else 1


def _only_edits(request: ApprovalRequested) -> bool | None:
    """A policy that allows everything except changes to files, which the user decides."""
    return None if request.kind == "edit" else True


def _answering(view: LiveView, seconds: float) -> Callable[[ApprovalRequested], Awaitable[bool]]:
    """An answer function that allows after a pause, so that a viewer can read the request."""

    async def allow(request: ApprovalRequested) -> bool:
        before = view.footed
        view.footer(["(this demo allows the change by itself in a moment)"])
        await asyncio.sleep(seconds)
        view.footer(before)
        return True

    return allow


def _summary(
    title: str,
    version: str | None,
    seen: Counter[str],
    folder: Path,
    session_id: str,
    harness: str | None,
) -> list[str]:
    files = sorted((folder / "home").rglob(f"*{session_id}*.jsonl"))
    rows = [
        f"That was the real {title}{f' (release {version})' if version else ''} with a stand-in model:"
        " no key, no network, no cost.",
        f"{sum(seen.values())} messages: {seen['tool_call']} tool calls, {seen['plan']} plans, "
        f"{seen['approval_requested']} approval, {seen['delta']} deltas.",
        "",
        f"workspace     {folder / 'greeter'}",
    ]
    program = invoked_as()
    if files:
        file = shlex.quote(str(files[0]))
        rows.append(f"session file  {files[0]}")
        rows.append(f"read it       {program} convert --to markdown {file}")
        rows.append(f"see it again  {program} replay --speed 4 {file}")
    rows.append(f"on a page     {program} demo --page{_unless_usual(harness)}")
    rows.append(f"your turn     {program} doctor   # is your own agent installed and signed in?")
    return rows


def _make_workspace(folder: Path) -> Path:
    folder.mkdir(parents=True)
    data = resources.files("dragoman.cli") / "demo_data"
    for name in _FILES:
        text = (data / f"{name}.txt").read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    who = ("-c", "user.name=Demo", "-c", "user.email=demo@example.invalid")
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "A greeting"]):
        try:
            subprocess.run(
                ["git", *words], cwd=folder, capture_output=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            break  # git is missing; the demo works without it
    return folder


def _script(*, quick: bool) -> Script:
    import msgspec

    from dragoman.rehearsal import parse_script
    from dragoman.rehearsal.script import Pause, Slow

    data = resources.files("dragoman.cli") / "demo_data" / "fix-the-test.yaml"
    script = parse_script(data.read_text(encoding="utf-8"), "the demo's script")
    if not quick:
        return script
    turns = [
        msgspec.structs.replace(
            turn, steps=tuple(step for step in turn.steps if not isinstance(step, Pause | Slow))
        )
        for turn in script.turns
    ]
    return msgspec.structs.replace(script, turns=tuple(turns))


def _unless_usual(harness: str | None) -> str:
    """The option that names the agent, unless it is the one that runs without it."""
    from dragoman.client.surveying import driven_names

    return "" if harness in (None, driven_names()[0].name) else f" --harness {harness}"
