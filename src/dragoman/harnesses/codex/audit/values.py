"""The values on a line, and the forms in which a message may hold each of them.

A message seldom holds a value exactly as on the wire: a command has lost the shell around it, an output its
header, bytes are text. A check that nothing is lost needs to know these forms, and only these.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.codex.audit.omissions import UNSAID_RULES, reason
from dragoman.harnesses.codex.tools.commands import command_line
from dragoman.harnesses.codex.tools.outputs import clean, clean_mcp
from dragoman.harnesses.codex.tools.patches import changes_in_patch
from dragoman.harnesses.codex.values.durations import milliseconds
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.harnesses.contract.reading import Value
from dragoman.wire import jsonl

_MOVED: Final = re.compile(r"\n*Moved to: [^\n]*\n*\Z")
_PLAN: Final = re.compile(r"<proposed_plan>\n?(.*?)\n?</proposed_plan>\n?", re.DOTALL)
_PICTURE: Final = re.compile(r"</?image\b[^>]*>")
"""What the harness writes around a picture for the model."""
_Forms = list[list[Any]]
"""Ways to emit a value: each is a list of parts that must all be present."""
_HEAD: Final = 400
_SAID_BY_KIND: Final = re.compile(
    r"rejected by user|Rejected\(|Success\. Updated the following files:|\ASleep completed\.\Z"
    r"|\AWall time: [\d.]+ seconds\nSleep completed\.\Z"
    r"|\A ?Turn interrupted\Z|\Aattached local image path\Z"
    r'|\A\{"message":"Wait completed\."'
)
"""A refusal or an end, which is the status; the list of files of a change, which the call has."""
_ENVELOPE: Final = frozenset(
    ("dir", "t", "jsonrpc", "id", "method", "type", "timestamp", "ordinal")
)
"""Fields of the outermost object about the line itself: which it is, when and where it was written."""


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line that some message has to hold, each with its place on the line.

    ``rule`` is the reason why the line has emitted no message of its own.
    """
    if rule in UNSAID_RULES:
        return
    data = line.strip().removeprefix(b"data:").strip()
    try:
        given = as_dict(jsonl.loads(data))
    except jsonl.NotJson:
        return
    if "dir" in given and isinstance(given.get("msg"), dict):
        given = as_dict(given["msg"])
    name, body = _subject(given)
    for place, value in body.items():
        yield from _inside(f"{name}.{place}", place, value)


def _subject(line: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The line's type, and its content under that name."""
    method = as_str(line.get("method"))
    rest = {key: value for key, value in line.items() if key not in _ENVELOPE}
    if method is not None:
        params = as_dict(line.get("params"))
        event = as_dict(params.get("msg"))
        if event:
            kind = as_str(event.get("type")) or method.rpartition("/")[2]
            outside = {key: value for key, value in params.items() if key not in ("msg", "id")}
            return f"event/{kind}", {**outside, **_untyped(event)}
        if method.startswith("codex/event/"):
            return f"event/{method.rpartition('/')[2]}", _untyped(params)
        return method, params
    if isinstance(line.get("msg"), dict):
        event = as_dict(line["msg"])
        return f"event/{event.get('type')}", _untyped(event)
    if isinstance(line.get("op"), dict):
        return f"op/{as_dict(line['op']).get('type')}", _untyped(as_dict(line["op"]))
    if "result" in line or ("error" in line and "type" not in line):
        return "answer", as_dict(line.get("result")) or rest
    kind = as_str(line.get("type")) or "line"
    payload = as_dict(line.get("payload"))
    if payload:
        outside = {f"row {key}": value for key, value in rest.items() if key != "payload"}
        inner = as_str(payload.get("type"))
        if kind == "event_msg":
            return f"event/{inner}", {**outside, **_untyped(payload)}
        if kind == "response_item":
            return f"response_item/{inner}", {**outside, **_untyped(payload)}
        return kind, {**outside, **payload}
    return kind, rest


def _untyped(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "type"}


def _inside(place: str, key: str, value: Any) -> Iterator[Value]:
    """The values in a value, as deep as they are nested."""
    if value is None or value in ("", [], {}) or isinstance(value, bool) or _is_empty(key, value):
        return
    kind = as_str(as_dict(value).get("type")) if key == "item" else None
    place = f"{place}({kind})" if kind else place
    if reason(place):
        return
    known = _FORMS.get(key)
    forms = known(value) if known is not None else None
    if forms is not None:
        yield Value(place, value, forms)
    elif isinstance(value, dict):
        for inner_key, inner in as_dict(value).items():
            yield from _inside(f"{place}.{inner_key}", inner_key, inner)
    elif isinstance(value, list):
        for inner in as_list(value):
            yield from _inside(f"{place}[]", key, inner)
    else:
        yield Value(place, value, _plain(value))


def _plain(value: Any) -> _Forms:
    """A value as it was, or inside JSON that a message keeps whole."""
    spelled = json.dumps(value, ensure_ascii=False)[1:-1] if isinstance(value, str) else value
    return [[value]] if spelled == value else [[value], [spelled]]


def _is_empty(key: str, value: Any) -> bool:
    """Whether a value adds nothing to a message of its kind."""
    if isinstance(value, str):
        return _SAID_BY_KIND.search(value[:_HEAD]) is not None
    return value == -1 and key in ("exit_code", "exitCode")  # there is none: it was not run


def _command(value: Any) -> _Forms | None:
    if isinstance(value, dict):
        return None
    script = command_line(value)
    words = as_list(value) or [value]
    return [words, [script], _patched(script), _patched_lines(script)]


def _patched(text: str) -> list[Any]:
    """The parts of a patch that are emitted one by one."""
    start = text.find("*** Begin Patch")
    changes = changes_in_patch(text[start:], None) if start >= 0 else []
    return [change.get("diff") or change.get("path") for change in changes] or [text]


def _patched_lines(text: str) -> list[Any]:
    """The lines of a patch, which may be emitted among more of the file."""
    start = text.find("*** Begin Patch")
    end = text.find("*** End Patch")
    lines = text[start:end].split("\n") if 0 <= start < end else [text]
    return [line for line in lines if not line.startswith(("***", "@@"))]


def _output(value: Any) -> _Forms | None:
    if isinstance(value, dict) and not {"content", "output"} & value.keys():
        return None
    cleaned = [clean(value).text, clean_mcp(value).text]
    inner = [_json_leaves(text) for text in cleaned]
    whole = [value] if isinstance(value, str) else _json_leaves(value)
    lines = [text.split("\n") for text in cleaned]  # what streamed may be emitted in pieces
    return [whole, *([each] for each in cleaned), *inner, *lines]


def _printed(value: Any) -> _Forms | None:
    # what a command wrote to its two outputs is emitted as one text, in the order in which it came
    return [[value], value.split("\n")] if isinstance(value, str) else None


def _arguments(value: Any) -> _Forms | None:
    if not isinstance(value, str):
        return None
    try:
        given = as_dict(json.loads(value))
    except ValueError:
        return [[value], _patched(value)]
    command = given.pop("command", given.pop("cmd", None))
    rest = _json_leaves(given)
    forms = _command(command) if command else None
    return [[value], *([*form, *rest] for form in forms or [_json_leaves(command)])]


def _json_leaves(value: Any) -> list[Any]:
    """All that is in a value, or in the JSON that it spells."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return [value]
    if isinstance(value, dict):
        given = as_dict(value)
        told = [inner for key, inner in given.items() if not reason(f"json.{key}")]
        return [leaf for inner in told for leaf in _json_leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in as_list(value) for leaf in _json_leaves(inner)]
    return [] if value is None or isinstance(value, bool) else [value]


def _patch(value: Any) -> _Forms | None:
    return [[value], _patched(value), _patched_lines(value)] if isinstance(value, str) else None


def _diff(value: Any) -> _Forms | None:
    return [[value], [_MOVED.sub("\n", value)]] if isinstance(value, str) else None


def _duration(value: Any) -> _Forms | None:
    took = milliseconds(value)
    if took is None:
        return None
    near = {took, took + 1} if isinstance(value, dict | float | str) else {took}
    return [[each] for each in near]


def _chunk(value: Any) -> _Forms | None:
    if isinstance(value, list):
        given = as_list(value)
        if not all(isinstance(byte, int) for byte in given):
            return None
        return [[bytes(byte & 0xFF for byte in given).decode(errors="replace")]]
    try:
        return [[value], [base64.b64decode(value, validate=True).decode()]]
    except (binascii.Error, ValueError, TypeError):
        return None


def _text(value: Any) -> _Forms | None:
    if not isinstance(value, str):
        return None
    planned = _PLAN.findall(value)
    lines = [line.strip().removeprefix("- ") for each in planned for line in each.split("\n")]
    shown = _PICTURE.sub("", value)
    parts = value.split("\n")  # a thought may be emitted part by part
    return [[value], [shown], parts, *([[_PLAN.sub("", value).strip(), *lines]] if planned else [])]


def _path(value: Any) -> _Forms | None:
    return [[value], [value.removeprefix("file://")]] if isinstance(value, str) else None


_FORMS: Final = {
    "command": _command,
    "cmd": _command,
    "codex_command": _command,
    "output": _output,
    "stdout": _printed,
    "stderr": _printed,
    "arguments": _arguments,
    "input": _patch,
    "diff": _diff,
    "duration": _duration,
    "duration_ms": _duration,
    "durationMs": _duration,
    "chunk": _chunk,
    "text": _text,
    "message": _text,
    "cwd": _path,
    "path": _path,
}
