"""``dragoman chat``: an interactive conversation with an agent."""

from __future__ import annotations

import sys
from typing import Any

from dragoman.cli import lazy_click as click
from dragoman.cli.run_options import AgentOptions, agent_options, resume_options
from dragoman.cli.streams import standard_output
from dragoman.errors import UsageError


@click.command(short_help="Chat with an agent.")
@click.argument("prompt", required=False)
@resume_options
@agent_options
def chat(prompt: str | None, resume: str | None, last: bool, **options: Any) -> int:
    """Chat with an agent, starting with PROMPT if given.

    What you type while the agent works is sent to it at once. /help lists the other commands.
    Ctrl-C interrupts a turn, Ctrl-D quits. From a pipe, each line is a prompt that runs when the
    one before has ended. The exit code is that of the last turn.
    """
    if prompt is not None and not prompt.strip():
        raise UsageError("the prompt is empty: omit it, or say what the agent should do")
    agent = AgentOptions.given(**options)
    agent.check()
    from dragoman.cli.live.loop import run_async

    agent, session = agent.resuming(resume, last=last)
    return run_async(lambda: _chat(agent, prompt, session))


async def _chat(options: AgentOptions, prompt: str | None, resume: str | None) -> int:
    from dragoman.cli.chat.lines import PipedLines, TypedLines
    from dragoman.cli.chat.loop import ChatLoop
    from dragoman.cli.live.live import view_for
    from dragoman.cli.live.loop import EXIT_CODES, live_screen

    view = view_for(standard_output())
    with live_screen(view) as presses:
        async with options.connected(view, ahead=True) as (agent, keyboard):
            options.warn(agent, view)
            session = await options.start(agent, resume=resume)
            talk = ChatLoop(agent, session, options, view, presses)
            typed = keyboard is not None and sys.stdin.isatty()
            lines = TypedLines(keyboard, view, talk.status) if typed and keyboard else PipedLines()
            with lines.open():
                await talk.go_on(lines, prompt)
    return EXIT_CODES[talk.last.outcome] if talk.last else 0
