"""What a tool gave back, without the wrapping that was put around it for the model.

Codex writes tool outputs into history as the model saw them, and that has changed with the
releases: a JSON wrapper with metadata (to 0.58, and for patches to 0.125), ``Exit code:`` headers,
``Chunk ID:`` headers, ``Wall time:`` headers, lists of content. Refusals and failures are sentences.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, NamedTuple

import msgspec

from dragoman.harnesses.codex.values.loose import as_dict, as_int, as_list, as_number, as_str
from dragoman.model.messages import ResultStatus
from dragoman.wire.jsonl import UNREADABLE

_HEADER: Final = re.compile(
    r"(?:Command: [^\n]*\n)?"
    r"(?:Chunk ID: [^\n]*\n)?"
    r"(?:Exit code: (?P<exit>-?\d{1,9})\n)?"
    r"(?:Wall time:? (?P<wall>\d{1,9}(?:\.\d{1,9})?) seconds\n?)?"
    r"(?:Process exited with code (?P<code>-?\d{1,9})\n)?"
    r"(?:Process running with session ID (?P<session>\d+)\n)?"
    r"(?:Original token count: \d+\n)?"
    r"(?:Total output lines: \d+\n)?"
    r"Output:(?:\n|\Z)"
)
_FINISHED: Final = re.compile(
    r"Chunk ID: [^\n]*\nWall time: (\d{1,9}(?:\.\d{1,9})?) seconds\nProcess exited with code (-?\d{1,9})\n"
    r"(?:Original token count: \d+\n)?Output:\n"
).match
_STARTS: Final = frozenset(("Chunk ID:", "Exit code", "Wall time", "Command: "))
_SCRIPT: Final = re.compile(
    r"Script (?P<state>[^\n]*)\n(?:Wall time:? (?P<wall>\d{1,9}(?:\.\d{1,9})?) seconds\n)?(?:Output:\n)?"
)
_WALL_THEN_TEXT: Final = re.compile(r"Wall time:? (?P<wall>\d{1,9}(?:\.\d{1,9})?) seconds\n")
_DECLINED: Final = re.compile(
    r"(?:exec command|patch|command) rejected by user|rejected by user|\bRejected\(", re.IGNORECASE
)
_IN_DECLINED: Final = "rejected"
"""A substring, in lower case, of everything that the pattern finds: looking for it costs a hundredth."""
_ABORTED: Final = re.compile(r"aborted(?: by user(?: after [\d.]+s)?)?\s*\Z")
_FAILED: Final = re.compile(
    r"unsupported (?:custom tool )?call: |failed to parse function arguments: "
    r"|apply_patch verification failed: |(?:exec_command|write_stdin|shell|apply_patch) failed(?:: | for )"
    r"|approval policy is |approval required by policy|(?:execution )?error: |sandbox error: "
    r"|failed in sandbox|failed to (?:execute|spawn|locate|read|run) |unable to locate image "
    r"|tool call error: |err: |`[^`]*` is not supported|Unknown process id|Command blocked by "
)


_RESULT_KEYS: Final = frozenset(
    ("Ok", "Err", "content", "structuredContent", "structured_content", "isError", "is_error")
)


class Cleaned(NamedTuple):
    """One tool output, unwrapped."""

    text: str
    exit_code: int | None = None
    duration_ms: int | None = None
    is_error: bool = False
    status: ResultStatus | None = None
    running: str | None = None
    """The session of a command that is still running, so this is not its end."""


class _Metadata(msgspec.Struct):
    exit_code: int | None = None
    duration_seconds: float | None = None


class _Wrapper(msgspec.Struct, forbid_unknown_fields=True):
    output: str
    metadata: _Metadata


_wrapper = msgspec.json.Decoder(_Wrapper)


def finished(output: str) -> tuple[str, int, int] | None:
    """What a finished command printed, its exit code and its milliseconds, since 0.98.

    This is what most outputs of a session are; it saves them the way through :func:`clean`.
    """
    found = _FINISHED(output)
    if found is None:
        return None
    return output[found.end() :], int(found[2]), round(float(found[1]) * 1000)


def clean(output: Any) -> Cleaned:
    """The output of a shell command, a patch or another of Codex's own tools."""
    if isinstance(output, list):
        return _of_list(as_list(output))
    if not isinstance(output, str):
        # 0.3x wrote {"content": …, "success": …} for a short while.
        parts = as_dict(output)
        text = parts.get("content", parts.get("output"))
        cleaned = clean(text) if isinstance(text, str | list) else Cleaned(_json(output))
        return cleaned._replace(is_error=True) if parts.get("success") is False else cleaned
    if output.startswith('{"output":'):
        try:
            wrapped = _wrapper.decode(output)
        except UNREADABLE:
            return Cleaned(output)
        code, seconds = wrapped.metadata.exit_code, wrapped.metadata.duration_seconds
        return Cleaned(wrapped.output, code, _ms(seconds), bool(code))
    if output[:9] in _STARTS:
        return _of_header(output)
    return _of_sentence(output)


def _of_header(output: str) -> Cleaned:
    found = _HEADER.match(output)
    if found is None:
        wall = _WALL_THEN_TEXT.match(output)
        if wall is None:
            return Cleaned(output)
        return _of_sentence(output[wall.end() :])._replace(duration_ms=_ms(float(wall["wall"])))
    exit_text, wall_text, code_text, running = found.group("exit", "wall", "code", "session")
    code_text = exit_text or code_text
    code = int(code_text) if code_text else None
    duration = _ms(float(wall_text)) if wall_text else None
    return Cleaned(output[found.end() :], code, duration, bool(code), None, running)


def _of_sentence(output: str) -> Cleaned:
    """Text with no header: the output of a tool, or the harness's reason why there is none."""
    head = output[:400]
    if _IN_DECLINED in head.lower() and _DECLINED.search(head):
        return Cleaned(output, is_error=True, status="declined")
    if _FAILED.match(head):
        return Cleaned(output, is_error=True)
    if _ABORTED.match(head):
        return Cleaned(output, is_error=True, status="abandoned")
    return Cleaned(output)


def _of_list(parts: list[Any]) -> Cleaned:
    """A list of content: the first text may be a header; images are named, not shown."""
    texts = [text for part in parts if (text := _of_part(as_dict(part))) is not None]
    if not texts:
        return Cleaned("")
    first, rest = texts[0], texts[1:]
    if script := _SCRIPT.match(first):
        rest = [first[script.end() :], *rest] if first[script.end() :] else rest
        failed = not script["state"].startswith(("completed", "running"))
        return Cleaned("\n".join(rest), None, _seconds(script["wall"]), failed)
    if first[:9] in _STARTS and (header := _HEADER.match(first)):
        rest = [first[header.end() :], *rest] if first[header.end() :] else rest
        return _of_header(first)._replace(text="\n".join(rest))
    return clean("\n".join(texts)) if len(texts) == 1 else Cleaned("\n".join(texts))


def _of_part(part: dict[str, Any]) -> str | None:
    if (text := as_str(part.get("text"))) is not None:
        return text
    kind = as_str(part.get("type")) or "content"
    if "image" not in kind.lower():
        return f"[{kind}]"
    address = as_str(part.get("image_url")) or as_str(part.get("imageUrl")) or ""
    if address.startswith("data:"):
        address = address[5:].partition(";")[0]
    return f"[image {address or as_str(part.get('mimeType')) or ''}]".replace(" ]", "]")


def clean_mcp(output: Any) -> Cleaned:
    """The output of an MCP or dynamic tool, which may be any text at all, JSON included."""
    if not isinstance(output, str):
        return clean(output)
    duration = None
    if output.startswith("Wall time") and (header := _HEADER.match(output)):
        duration, output = _seconds(header["wall"]), output[header.end() :]
    if output.startswith('[{"'):
        content = _content(output)
        if content is not None:
            return Cleaned(content, duration_ms=duration)
    return _of_sentence(output)._replace(duration_ms=duration)


def _content(output: str) -> str | None:
    """The text of a JSON list of content blocks; None if it is not one."""
    try:
        blocks = as_list(msgspec.json.decode(output))
    except UNREADABLE:
        return None
    if not all(isinstance(as_dict(block).get("type"), str) for block in blocks):
        return None
    return "\n".join(text for block in blocks if (text := _of_part(as_dict(block))) is not None)


def mcp_result(result: Any, error: Any = None) -> Cleaned:
    """The result of an MCP call as events and items carry it.

    ``{"content": […], "structuredContent"?, "isError"?}``, the same inside ``{"Ok": …}``, or a
    failure as ``{"Err": "…"}`` or as a separate error.
    """
    if error:
        kept = mcp_result(result).text if result else ""
        words = as_str(error) or _of_error(as_dict(error)) or _json(error)
        return Cleaned("\n".join(filter(None, (words, kept))), is_error=True)
    if isinstance(result, str):
        return Cleaned(result)
    parts = as_dict(result)
    if result is not None and not _RESULT_KEYS & parts.keys():
        return Cleaned(_json(result))  # not a form that an MCP server may answer in; kept unchanged
    if "Err" in parts:
        return Cleaned(as_str(parts["Err"]) or _json(parts["Err"]), is_error=True)
    parts = as_dict(parts.get("Ok", parts))
    structured = parts.get("structuredContent", parts.get("structured_content"))
    if structured is not None:
        text = _json(structured)
    else:
        blocks = [as_dict(block) for block in as_list(parts.get("content"))]
        text = "\n".join(found for block in blocks if (found := _of_part(block)) is not None)
    return Cleaned(text, is_error=parts.get("isError", parts.get("is_error")) is True)


def _of_error(error: dict[str, Any]) -> str | None:
    """The sentence of an error; None if it contains more than that."""
    return as_str(error.get("message")) if error.keys() <= {"message", "type"} else None


def content_text(items: Any) -> str:
    """The text of a list of content items, such as a dynamic tool's answer."""
    found = (_of_part(as_dict(item)) for item in as_list(items))
    return "\n".join(text for text in found if text is not None)


def exit_code_of(value: Any) -> int | None:
    return as_int(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _seconds(text: str | None) -> int | None:
    return _ms(float(text)) if text else None


def _ms(seconds: float | None) -> int | None:
    number = as_number(seconds)
    took = -1 if number is None else number * 1000
    return round(took) if math.isfinite(took) and took >= 0 else None
