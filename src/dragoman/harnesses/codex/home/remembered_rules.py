"""The rules that Codex remembers when something is always allowed: one line each, in ``rules/*.rules``.

``prefix_rule(pattern=["git", "push"], decision="allow")`` or
``network_rule(host="example.com", protocol="https", decision="allow")``. The files are Starlark; a line that
Codex has written is also a Python expression. What people have written over several lines is left to them.
"""

from __future__ import annotations

from typing import Any, Final, cast

from dragoman.harnesses.contract.program import Remembered, Remembers

_LONGEST: Final = 10_000


def read_rule(line: str) -> Remembered | None:
    """The rule that a line is, if it is one."""
    if not line.startswith(("prefix_rule(", "network_rule(")) or len(line) > _LONGEST:
        return None
    import ast  # only here: it costs as much time as this harness

    try:
        call = ast.parse(line.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            return None
        given = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    decision, host, pattern = (given.get(name) for name in ("decision", "host", "pattern"))
    said = decision if isinstance(decision, str) else "allow"
    if line.startswith("network_rule("):
        return Remembered(decision=said, host=host) if isinstance(host, str) else None
    if not isinstance(pattern, list) or not pattern:
        return None
    words = [_word(each) for each in cast("list[Any]", pattern)]
    return Remembered(decision=said, prefix=tuple(words))


def _word(word: Any) -> str:
    """A word, or alternatives for one."""
    return word if isinstance(word, str) else "|".join(map(str, cast("list[Any]", word)))


REMEMBERS: Final = Remembers(folder="rules", suffix=".rules", read=read_rule)
