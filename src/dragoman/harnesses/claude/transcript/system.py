"""``system`` rows: what the program itself noted while the agent worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dragoman.harnesses.claude.retries import retry_text
from dragoman.harnesses.claude.transcript.shapes import System
from dragoman.harnesses.claude.values import command_line, level_of, local_output
from dragoman.wire.loose import as_dict, as_list, as_str

if TYPE_CHECKING:
    from dragoman.harnesses.claude.transcript.parser import TranscriptParser

CHANNEL: Final = "system"
_ENDS: Final = frozenset(("turn_duration", "away_summary"))
_NOTED: Final = frozenset(
    ("turn_duration", "memory_saved", "agents_killed", "file_snapshot", "turn_starting")
)


def report_system(parser: TranscriptParser, row: System) -> bool:
    """Report the row; False if its kind is not known."""
    session = parser.session
    assembler = session.assembler
    if row.subtype in _ENDS:
        session.close_turn(may_go_on=True)
    content = as_str(row.content)
    match row.subtype:
        case "api_error":
            _api_error(parser, row)
        case "compact_boundary":
            parser.compactions.boundary(session)
        case "local_command":
            _local_command(parser, content or "")
        case "stop_hook_summary":
            errors = [text for each in as_list(row.hookErrors) if (text := as_str(each))]
            for text in errors:
                assembler.notice(CHANNEL, "warning", text)
            if not errors:
                assembler.duplicate("state: stop hooks")
        case subtype if subtype in _NOTED:
            assembler.duplicate(f"state: {subtype.replace('_', ' ')}")
        case _ if content is not None:
            assembler.notice(CHANNEL, level_of(row.level), content)
        case _:
            return False
    return True


def _api_error(parser: TranscriptParser, row: System) -> None:
    error = as_dict(row.error)
    what = as_str(error.get("formatted")) or as_str(error.get("message"))
    text = retry_text(what, None, row.retryAttempt, row.maxRetries, row.retryInMs)
    parser.session.assembler.notice(CHANNEL, "warning", text, will_retry=True)


def _local_command(parser: TranscriptParser, content: str) -> None:
    """A command of the program itself: as it was typed, or what it printed."""
    session = parser.session
    typed = command_line(content)
    if typed is not None:
        session.begin_turn()
        session.assembler.prompt(CHANNEL, typed)
        return
    output = local_output(content)
    session.assembler.notice(CHANNEL, "info", content if output is None else output)
    session.stop_reason = session.stop_reason or "end_turn"
