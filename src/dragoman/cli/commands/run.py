"""``dragoman run``: one prompt, one turn, and an exit code with its outcome.

On a terminal the turn is shown live. Into a pipe or a file goes the plain transcript, or the format of
``--to``, and nothing else; ``--quiet`` writes only the answer. Notices and questions to the user then
go to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.run_options import (
    AgentOptions,
    agent_options,
    notify,
    prompt_from,
    resume_options,
    schema_from,
)
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from dragoman.cli.live.live import LiveView
    from dragoman.export.base import Exporter
    from dragoman.model.messages import Message


@click.command(short_help="Run one prompt and watch the agent work.")
@click.argument("prompt")
@click.option(
    "-i", "--image", "images", multiple=True, metavar="FILE", help="Attach an image. Repeatable."
)
@resume_options
@click.option("--output-schema", "schema", metavar="FILE", help="JSON schema of the answer.")
@click.option(
    "--to",
    metavar="FORMAT",
    help="Stream this format instead; see `dragoman dialects`.",
    shell_complete=completing.formats,
)
@click.option("-q", "--quiet", is_flag=True, help="Print only the answer.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Interrupt the turn after this time.",
)
@click.option("--exec", "one_shot", is_flag=True, help="Use a separate process, without approvals.")
@agent_options
def run(
    prompt: str,
    images: tuple[str, ...],
    resume: str | None,
    last: bool,
    schema: str | None,
    to: str | None,
    quiet: bool,
    timeout: float | None,
    one_shot: bool,
    **options: Any,
) -> int:
    """Run PROMPT (`-` reads it from standard input) and watch the agent work.

    Ctrl-C interrupts the turn; a second Ctrl-C quits. Exit code 0: completed, 1: failed, 2: usage
    error, 130: interrupted.

    \b
    dragoman run "fix the failing test"
    dragoman run "why is this slow?" --to messages | jq .type
    git diff | dragoman run - --quiet --access read
    """
    if to and quiet:
        raise click.UsageError("use either --to or --quiet.")
    if one_shot:
        options["asking"] = "never"
    agent = AgentOptions.given(**options)
    agent.check()
    asked = {
        "images": agent.images(images),
        "effort": agent.effort,
        "output_schema": schema_from(schema),
    }
    from dragoman.cli.live.loop import run_async

    output = _Output(to=to, quiet=quiet)
    transport = "exec" if one_shot else None
    text = prompt_from(prompt)
    agent, session = agent.resuming(resume, last=last)
    return run_async(lambda: _run(agent, output, text, asked, session, timeout, transport))


async def _run(
    options: AgentOptions,
    output: _Output,
    prompt: str,
    asked: dict[str, Any],
    resume: str | None,
    seconds: float | None,
    transport: str | None,
) -> int:
    from dragoman.cli.live.loop import EXIT_CODES, live_screen, show_turn

    with live_screen(output.view) as presses:
        connected = options.connected(
            output.view, transport=transport, shows=not output.is_view, seconds=seconds
        )
        async with connected as (agent, _):
            options.warn(agent, output.view)
            output.pid = lambda: getattr(agent, "pid", None)
            session = await options.start(agent, resume=resume)
            turn = session.run(prompt, **asked)
            ended = await show_turn(turn, session, output.view, presses, output.show)
            output.close()
    if ended is None:
        return 1
    if ended.outcome == "failed" and not output.is_view:
        notify(ended.error.message if ended.error else "the turn failed")
    return EXIT_CODES[ended.outcome]


class _Output:
    """Sends the messages of a run to the view or to an exporter, or keeps only the answer."""

    def __init__(self, *, to: str | None, quiet: bool) -> None:
        from dragoman.cli.live.live import view_for
        from dragoman.reading.formats import check_format

        stdout = standard_output()
        self._stream: BinaryIO = stdout.buffer
        self.is_view = to is None and not quiet
        # Questions and notices are for the user, so they stay out of standard output.
        self.view: LiveView = view_for(stdout if self.is_view else sys.stderr)
        self._made: Exporter | None = None
        self._answer = ""
        self.pid: Callable[[], int | None] = lambda: None
        """The agent's process id, once it runs."""
        if to is not None:
            check_format(to)
        self._to = to

    def show(self, message: Message) -> None:
        if self.is_view:
            self.view.show(message)
        elif self._to is not None:
            self._write(self._exporter(self._to).export([message]))
        else:
            from dragoman.model.messages import Text

            if isinstance(message, Text):
                self._answer = message.text

    def _exporter(self, to: str) -> Exporter:
        # Made when there is something to write: until then, the agent starts.
        if self._made is None:
            from dragoman.reading.mapper import make_exporter

            self._made, _ = make_exporter(to, width=self.view.width, pid=lambda: self.pid())
        return self._made

    def close(self) -> None:
        if self._to is not None:
            self._write(self._exporter(self._to).finish())
        if self._answer:
            self._write(f"{self._answer.rstrip()}\n".encode("utf-8", "backslashreplace"))

    def _write(self, data: bytes) -> None:
        if data:
            self._stream.write(data)
            self._stream.flush()
