"""The results of calls: what a command printed, how it ended, and whether a call was denied.

The model is given a command's output together with facts about it (``Output: …``, ``Exit Code: 3``, ``Process
Group PGID: 20438``). People are shown the output alone, where the program keeps it apart.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from dragoman.harnesses.gemini_tools.parts import parts_of
from dragoman.model.messages import ResultStatus
from dragoman.model.tools import BASH
from dragoman.wire.loose import as_dict, as_int, as_list, as_str

_WRAPPED: Final = re.compile(r"\A<untrusted_context>\n?(.*?)\n?</untrusted_context>\Z", re.DOTALL)
_EXIT_CODE: Final = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_OUTPUT: Final = re.compile(
    r"^Output: (.*?)(?=\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): |\Z)",
    re.DOTALL | re.MULTILINE,
)
_DENIED: Final = re.compile(
    r"user (?:has )?(?:denied|declined|rejected|cancelled|canceled|did not allow)"
    r"|did not allow|permission denied by|denied by policy|not allowed by",
    re.IGNORECASE,
)


class CallResult(NamedTuple):
    """The result of a call."""

    output: str
    is_error: bool
    exit_code: int | None
    status: ResultStatus


def call_result(tool: str, response: Any, *, status: str | None, display: Any = None) -> CallResult:
    """The result of a call of this tool, from what the model was given and what people were shown."""
    given = as_dict(as_dict(response).get("response"))
    error = as_str(given.get("error"))
    text = unwrapped(error if error is not None else _text(given))
    is_error = error is not None if status is None else status != "success"
    if status == "cancelled":
        denied = _DENIED.search(text) is not None
        return CallResult(text, True, None, "declined" if denied else "failed")
    if tool != BASH:
        return CallResult(text, is_error, None, "failed" if is_error else "completed")
    code = exit_code(text, display)
    is_error = is_error or code not in (None, 0)
    return CallResult(
        _printed(text, display), is_error, code, "failed" if is_error else "completed"
    )


def unwrapped(text: str) -> str:
    """The text without the mark that it comes from outside."""
    found = _WRAPPED.match(text)
    return found[1] if found else text


def exit_code(text: str, display: Any = None) -> int | None:
    """The exit code of a command, if anything says it."""
    code = as_int(as_dict(display).get("exitCode"))
    if code is not None:
        return code
    found = _EXIT_CODE.search(text)
    return int(found[1]) if found else None


def _printed(text: str, display: Any) -> str:
    """What a command printed."""
    shown = as_dict(display)
    printed = as_str(display) or as_str(shown.get("output")) or as_str(shown.get("text"))
    if printed:
        return printed
    found = _OUTPUT.search(text)
    if found is None:
        return text
    return "" if found[1].strip() == "(empty)" else found[1]


def _text(given: dict[str, Any]) -> str:
    """The text of a response that is no error; what is no text is named."""
    output = given.get("output")
    if isinstance(output, str):
        return output
    content = given.get("content", output)
    if isinstance(content, str):
        return content
    blocks = [as_dict(each) for each in as_list(content)]
    if blocks:
        texts = [as_str(block.get("text")) or f"[{block.get('type', 'part')}]" for block in blocks]
        return "\n".join(texts)
    return parts_of(given).text
