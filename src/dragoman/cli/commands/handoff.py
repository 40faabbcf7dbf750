"""``dragoman handoff``: hands a saved session off to another agent, which continues it as its own."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.archive_options import home_option, last_session, open_archive
from dragoman.cli.streams import standard_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dragoman.archive.handoff.handing_off import Handoff


@click.command(short_help="Hand a session off to another agent.")
@click.argument("session_id", metavar="ID", required=False, shell_complete=completing.sessions)
@click.option("--last", is_flag=True, help="Hand off the newest session.")
@click.option(
    "--to",
    metavar="HARNESS",
    shell_complete=completing.receivers,
    help="The agent that continues the session.",
)
@click.option(
    "--turns",
    metavar="RANGE",
    help="Only these turns: 3, 3.., ..5, 2..4, or -2.. for the last two.",
)
@click.option(
    "-C", "--cwd", metavar="DIR", help="Directory of the new session. The old one's by default."
)
@click.option("--run", "prompt", metavar="PROMPT", help="Continue at once with this prompt.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@home_option
def handoff(
    session_id: str | None,
    last: bool,
    to: str | None,
    turns: str | None,
    cwd: str | None,
    prompt: str | None,
    as_json: bool,
    paths: tuple[str, ...],
) -> int:
    """Hand the saved session ID off to another agent.

    Writes the conversation as a new session of that agent, which continues it as its own. The old session stays as
    it is. Prints how to continue, and what the new session does not carry over. Secrets in the conversation are not
    masked; only you can read the new file.

    \b
    dragoman handoff 01a1e219 --to claude
    dragoman handoff --last --to codex --turns 3.. --run "finish the tests"
    """
    if (session_id is None) != last:
        raise click.UsageError("which session? Give an ID or --last.")
    if to is None:
        raise click.UsageError("to which agent? Give --to HARNESS.")
    if prompt is not None and as_json:
        raise click.UsageError("use either --run or --json.")
    from dragoman.archive.handoff.handing_off import check_receiver

    check_receiver(to)
    with open_archive(paths, wanted=session_id) as archive:
        source = last_session(archive) if session_id is None else archive.get(session_id)
        done = archive.hand_off(source, to=to, turns=turns, cwd=cwd)
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode(done.as_json()).decode())
        return 0
    for line in _report(done):
        click.echo(line)
    return _continue(done, prompt) if prompt is not None else 0


def _continue(done: Handoff, prompt: str) -> int:
    from dragoman.cli.commands.run import run

    click.echo()
    arguments = ["--resume", done.session_id, "--cwd", done.cwd, "--", prompt]
    return run.main(args=arguments, prog_name="dragoman run", standalone_mode=False) or 0


def _report(done: Handoff) -> Iterator[str]:
    turns = f"{done.turns} turn{'s' * (done.turns != 1)}"
    calls = f"{done.tool_calls} tool call{'s' * (done.tool_calls != 1)}"
    yield f"Handed off {done.source_session_id} to {done.title}: {turns}, {calls}"
    yield f"  session  {done.session_id}"
    yield f"  file     {done.path}"
    for head, is_kept in (("Not carried over", False), ("Carried over in another form", True)):
        losses = [loss for loss in done.losses if loss.kept is is_kept]
        if losses:
            yield f"\n{head}"
        for loss in losses:
            yield from _hung(f"  {loss.count:>4} {loss.kind:<15}", loss.sentence)
    yield "\nContinue"
    yield f"  {done.in_shell(done.native_command)}"
    yield f"  {done.in_shell(done.command)}"


def _hung(head: str, words: str) -> list[str]:
    from dragoman.cli.live.cells import hung
    from dragoman.rendering import render

    width = shutil.get_terminal_size().columns if standard_output().isatty() else 100
    return hung(head, render.flat(words), width - 1)
