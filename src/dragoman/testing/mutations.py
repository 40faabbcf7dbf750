"""Random damage to the lines of a recording: to bytes, to JSON values, to the order of lines.

The caller supplies the ``Random``, so that a failure can be repeated. Values that are replaced usually pass for what
they were, so that most of the line is still read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, TypeAlias, cast

# Harm to lines.

Lines: TypeAlias = list[bytes]

_JUNK: Final = (
    b"", b"   ", b"\r", b"null", b"[]", b"{}", b"0", b'""', b"[[[[", b'{"type":', b"warning: low disk",
    b'{"type":null}', b'{"type":{}}', b'{"type":"\\ud800"}', b'{"method":7}', b'{"id":0,"msg":null}',
    b'{"id":"","msg":{"type":""}}', b'{"dir":"<","msg":{"method":"thread/started"}}', b"\xff\xfe{\x00",
    b'{"timestamp":"x","type":"event_msg","payload":null}', b'{"type":"item.completed","item":{}}',
    b'{"record_type":"state"}', b"data: [DONE]", b"data: {", b"\x00" * 8, b'{"a":1,"a":2}',
    b'{"id":1,"result":{"thread":{}}}', b'{"id":1,"error":{"code":-32001,"message":"busy"}}',
)  # fmt: skip
_SNIPPETS: Final = (
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud83d", b"\\udc00", b"\\u0000", "\u2028".encode(),
    b"\xef\xbb\xbf", b"\r", b"\n", b"\\", b'"', b"{", b"}", b"[", b"]", b":", b",", b"null", b"-", b"e999",
)  # fmt: skip


def _drop_line(random: Random, lines: Lines) -> None:
    del lines[random.randrange(len(lines))]


def _repeat_line(random: Random, lines: Lines) -> None:
    lines.insert(random.randint(0, len(lines)), random.choice(lines))


def _swap_lines(random: Random, lines: Lines) -> None:
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _cut_file(random: Random, lines: Lines) -> None:
    del lines[random.randint(1, len(lines)) :]


def _skip_start(random: Random, lines: Lines) -> None:
    del lines[: random.randrange(len(lines))]


def _insert_junk(random: Random, lines: Lines) -> None:
    lines.insert(random.randint(0, len(lines)), random.choice(_JUNK))


def _join_lines(random: Random, lines: Lines) -> None:
    at = random.randrange(len(lines))
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


# Harm to bytes.


def _span(random: Random, line: bytes) -> tuple[int, int]:
    start = random.randint(0, len(line))
    return start, min(len(line), start + random.randint(0, 12))


def _drop_bytes(random: Random, line: bytes) -> bytes:
    start, end = _span(random, line)
    return line[:start] + line[end:]


def _repeat_bytes(random: Random, line: bytes) -> bytes:
    start, end = _span(random, line)
    return line[:end] + line[start:]


def _cut_line(random: Random, line: bytes) -> bytes:
    return line[: random.randint(0, len(line))]


def _insert_bytes(random: Random, line: bytes) -> bytes:
    at = random.randint(0, len(line))
    return line[:at] + random.choice(_SNIPPETS) + line[at:]


def _change_byte(random: Random, line: bytes) -> bytes:
    at = random.randrange(len(line)) if line else 0
    return line[:at] + bytes([random.randrange(256)]) + line[at + 1 :]


# Harm to JSON: values at random places become other values.

_Place: TypeAlias = tuple[dict[str, Any] | list[Any], Any]

_NUMBERS: Final[list[Any]] = [
    0, -1, 1, 7.5, -0.0, 1e308, 5e-324, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**400, 10**4299,
    10**4300 - 1, "0", "-1", "1e5", True, 1794781576384, 1794781576384000000,
]  # fmt: skip
_TIMES: Final[list[Any]] = [
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00", "2026-02-30T00:00:00Z", "x", 0,
    "2026-11-15T22:26:06", "2026-11-15", "2026-11-15T22:26:06.5+05:30", 1e308, -1, 1794781576384,
]  # fmt: skip
_STRINGS: Final[list[Any]] = [
    "", " ", "x", "null", "{}", "[]", "\ud800", "a\udc00b", "\x00", "\u2028", "😀", "é" * 300, "<tag>", "```",
    '{"output":"o","metadata":{"exit_code":"1"}}', "*** Begin Patch\n*** End Patch", "\n", "a\nb\r\nc",
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch", "\x1b[31mred",
    "data:image/png;base64,iVBORw0KGgo=", "file:///w/pic.png", "1h 2m 3s", "Wall time: 1e999 seconds",
    "completed", "failed", "inProgress", "in_progress", "declined", "interrupted", "user", "assistant",
    "developer", "message", "function_call", "function_call_output", "token_count", "agentMessage",
]  # fmt: skip
_HOLDERS: Final[list[Any]] = [
    None, [], [None], [[]], [{}], ["a", 1, None], {}, {"type": None}, {"text": 1}, {"": ""},
    {"type": "x", "text": "y"}, {"content": [{"text": {}}]}, {"secs": 10**400, "nanos": -1},
    {"secs": 1e308, "nanos": 1e308}, {"secs": 10**400},
]  # fmt: skip
_VALUES: Final[list[Any]] = [*_NUMBERS, *_TIMES, *_STRINGS, *_HOLDERS]


def places(value: Any) -> Iterator[_Place]:
    """Yield every place in a value that holds another one."""
    stack = [value]
    while stack:
        holder = stack.pop()
        if isinstance(holder, dict):
            pairs = list(cast("dict[str, Any]", holder).items())
        elif isinstance(holder, list):
            pairs = list(enumerate(cast("list[Any]", holder)))
        else:
            continue
        for key, inner in pairs:
            yield cast("_Place", (holder, key))
            stack.append(inner)


def _get(place: _Place) -> Any:
    holder, key = place
    return holder[key]


def _put(place: _Place, value: Any) -> None:
    holder, key = place
    holder[key] = value


def _replace(random: Random, places: list[_Place]) -> None:
    place = random.choice(places)
    value, pool = _get(place), _VALUES
    if random.random() < 0.5:  # something that may still pass for what it was
        if isinstance(value, int | float):
            pool = _NUMBERS
        elif isinstance(value, str):
            pool = _TIMES if value[:2] == "20" else _STRINGS
        else:
            pool = _HOLDERS
    _put(place, random.choice(pool))


def _retype(random: Random, places: list[_Place]) -> None:
    place = random.choice(places)
    value = _get(place)
    forms: list[Callable[[], Any]] = [
        lambda: str(value),
        lambda: [value],
        lambda: {"value": value},
        lambda: json.dumps(value),
        lambda: bool(value),
        lambda: len(str(value)),
        lambda: len(str(value)) + 0.5,
        lambda: list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else None,
    ]
    _put(place, random.choice(forms)())


def _swap_values(random: Random, places: list[_Place]) -> None:
    one, other = random.choice(places), random.choice(places)
    copy = json.loads(json.dumps(_get(other)))  # a value must not come to hold itself
    _put(one, copy)


def _remove(random: Random, places: list[_Place]) -> None:
    holder, key = random.choice(places)
    del holder[key]


def _rename(random: Random, places: list[_Place]) -> None:
    holder, key = random.choice(places)
    if isinstance(holder, dict):
        names = [key for inner, key in places if isinstance(inner, dict)]
        changed = str(key).upper() + "_", snake(str(key)), camel(str(key)), random.choice(names)
        holder[random.choice(changed)] = holder.pop(key)


def _add(random: Random, places: list[_Place]) -> None:
    holder, _ = random.choice(places)
    if isinstance(holder, dict):
        names = [key for inner, key in places if isinstance(inner, dict)]
        holder[random.choice([*names, "unheard_of"])] = random.choice(_VALUES)
    else:
        holder.insert(random.randint(0, len(holder)), random.choice(_VALUES))


def _nest(random: Random, places: list[_Place]) -> None:
    place = random.choice(places)
    value = _get(place)
    for _ in range(random.choice((1, 2, 60, 2000))):
        value = [value] if random.random() < 0.5 else {"type": value}
    _put(place, value)


def _inside_string(random: Random, places: list[_Place]) -> None:
    """Damage JSON that is carried in a string, like the arguments of calls."""
    for place in random.sample(places, len(places)):
        text = _get(place)
        if isinstance(text, str) and text.startswith(("{", "[")):
            try:
                inner = json.loads(text)
            except ValueError:
                continue
            _put(place, json.dumps(_harmed(random, inner)))
            return


def snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_IN_JSON: Final = (
    _replace, _replace, _replace, _retype, _retype, _swap_values, _remove, _remove, _rename, _add, _nest,
    _inside_string,
)  # fmt: skip
_IN_BYTES: Final = (_drop_bytes, _repeat_bytes, _cut_line, _insert_bytes, _change_byte)
_IN_LINES: Final = (
    _drop_line, _repeat_line, _swap_lines, _cut_file, _skip_start, _insert_junk, _join_lines,
)  # fmt: skip


def _harmed(random: Random, value: Any) -> Any:
    holder = [value]
    random.choice(_IN_JSON)(random, list(places(holder)))
    return holder[0] if holder else None


def _harm_json(random: Random, line: bytes) -> bytes:
    prefix, data = (b"data: ", line[6:]) if line.startswith(b"data: ") else (b"", line)
    try:
        value = _harmed(random, json.loads(data))
        text = json.dumps(value, ensure_ascii=random.random() < 0.7, separators=(",", ":"))
    except (ValueError, RecursionError):
        return line
    return prefix + text.encode("utf-8", "surrogatepass")


def mutated(random: Random, lines: Sequence[bytes], strangers: Sequence[bytes] = ()) -> Lines:
    """Return the lines with some damage: mostly little of it, in values.

    ``strangers`` are lines of other streams, of which some may be inserted.
    """
    made = list(lines)
    for _ in range(random.choice((1, 1, 2, 3, 5, 12))):
        if not made:
            break
        dice = random.random()
        if dice < 0.65:
            at = random.randrange(len(made))
            made[at] = _harm_json(random, made[at])
        elif dice < 0.8:
            at = random.randrange(len(made))
            made[at] = random.choice(_IN_BYTES)(random, made[at])
        elif dice < 0.82 and strangers:
            made.insert(random.randint(0, len(made)), random.choice(strangers))
        else:
            random.choice(_IN_LINES)(random, made)
    return made
