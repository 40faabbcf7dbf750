"""The content blocks of a message, live and on disk the same: what each is reported as."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from dragoman.harnesses.claude.session import ClaudeSession
from dragoman.harnesses.claude.tools import exit_code, output_text, result_status, tool_name
from dragoman.model.tools import BASH
from dragoman.wire.loose import as_dict, as_number, as_str

CALLS: Final = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
INTERRUPTED: Final = "[Request interrupted by user"


class ResultFacts(NamedTuple):
    """What a line says about the tool results on it, besides the blocks."""

    details: Any = None
    denials: dict[str, Any] = {}
    """Why a call was not run, by its id."""
    decisions: dict[str, Any] = {}


def report_assistant_block(
    session: ClaudeSession,
    channel: str,
    response_id: str | None,
    block: dict[str, Any],
    index: int | None,
) -> bool:
    """Report one block of a model response; False if its kind is not known."""
    assembler = session.assembler
    kind = as_str(block.get("type"))
    session.ensure_turn()
    block_id = session.next_block(response_id, index)
    if kind == "text":
        text = as_str(block.get("text")) or ""
        assembler.text(channel, text, message_id=response_id, item_id=block_id)
    elif kind == "thinking":
        assembler.thinking(channel, [as_str(block.get("thinking")) or ""], block_id)
    elif kind == "redacted_thinking":
        assembler.duplicate("thinking: redacted")
    elif kind in CALLS:
        report_call(session, block)
    elif kind is not None and kind.endswith("_tool_result"):
        report_result(session, block, ResultFacts())
    elif kind == "fallback":
        assembler.duplicate("fallback: the notice carries it")
    else:
        return False
    return True


def report_call(session: ClaudeSession, block: dict[str, Any]) -> None:
    native = as_str(block.get("name")) or ""
    call_id = as_str(block.get("id")) or ""
    given = as_dict(block.get("input"))
    session.assembler.call(call_id, tool_name(native), native, given)
    session.tools[call_id] = native
    session.plan.call(call_id, native, given)


def report_result(session: ClaudeSession, block: dict[str, Any], facts: ResultFacts) -> None:
    call_id = as_str(block.get("tool_use_id")) or ""
    output = output_text(block.get("content"))
    is_error = block.get("is_error") is True
    native = session.tools.pop(call_id, None)
    session.plan.result(call_id, facts.details, is_error=is_error)
    status = result_status(
        is_error=is_error,
        denial=facts.denials.get(call_id),
        decision=facts.decisions.get(call_id),
    )
    session.assembler.result(
        call_id,
        output,
        is_error=is_error,
        exit_code=exit_code(output, is_error=is_error) if native == BASH else None,
        duration_ms=_duration(facts.details),
        status=status,
    )


def _duration(details: Any) -> int | None:
    given = as_dict(details)
    took = as_number(given.get("totalDurationMs", given.get("durationMs")))
    return None if took is None or took < 0 else round(took)


def is_interruption(text: str) -> bool:
    return text.startswith(INTERRUPTED)
