"""``dragoman tail``: follows sessions while other programs write them."""

from __future__ import annotations

import os
import shutil

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.archive_options import home_option, open_archive
from dragoman.cli.streams import standard_output


@click.command(short_help="Follow sessions while other programs write them.")
@click.argument("session_id", metavar="[ID]", required=False, shell_complete=completing.sessions)
@agent_option("Follow only sessions of this agent: {agents}.")
@click.option("--tools", is_flag=True, help="Also show tool output.")
@click.option("--json", "as_json", is_flag=True, help="Print messages as JSON lines.")
@click.option("--redact", is_flag=True, help="Mask keys, tokens, passwords and e-mail addresses.")
@home_option
def tail(
    session_id: str | None,
    harness: str | None,
    tools: bool,
    as_json: bool,
    redact: bool,
    paths: tuple[str, ...],
) -> int:
    """Follow all sessions that are being written, or only the session ID, until Ctrl-C.

    \b
    dragoman tail
    dragoman tail --json | jq 'select(.type == "tool_call") | .input'
    """
    from dragoman.archive.transcripts import transcript
    from dragoman.export.redact import Redactor
    from dragoman.model.messages import ToolResult, encode
    from dragoman.model.secrets import secrets_in

    redactor = Redactor(secrets_in(os.environ)) if redact else None
    archive = open_archive(paths, wanted=session_id)
    out = standard_output()
    width = shutil.get_terminal_size().columns
    exporter = transcript(full=False, context=False, colour=out.isatty(), width=width)
    if not as_json:
        where = session_id or ", ".join(archive.place.existing_folders)
        click.echo(f"dragoman: following {where}; press Ctrl-C to stop", err=True)
    try:
        for batch in archive.tail(session_id, harness=harness):
            messages = [heard.message for heard in batch]
            if redactor is not None:
                messages = [*redactor.redact(messages)]
            if as_json:
                text = b"".join(encode(message) + b"\n" for message in messages)
            else:
                shown = [
                    message
                    for message in messages
                    if tools or not isinstance(message, ToolResult) or message.is_error
                ]
                text = exporter.export(shown)
            if text:
                out.write(text.decode())
                out.flush()
    except KeyboardInterrupt:
        return 130
    return 0
