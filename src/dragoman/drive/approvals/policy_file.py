"""Read policy files (TOML) strictly, so that a typo never becomes a permission.

::

    default = "ask"

    [[rule]]
    name = "reading is fine"
    command = ["git status", "git diff", "ls"]
    options = ["-s", "--stat", "-l", "-a"]
    path = "**"
    decision = "allow"

Every key must be known and every value must have the right type. An error names the line and the rule, and
none of the file is used.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast

from dragoman.drive.approvals.policy import ASK
from dragoman.drive.approvals.rules import ACTIONS, KINDS, BadRule, Rule, Rules, rule
from dragoman.errors import UsageError, reason_of

_TOP: Final = ("default", "rule")
_TEXTS: Final = ("decision", "name", "message")
_CONDITIONS: Final = (
    "kind",
    "command",
    "command_regex",
    "options",
    "cwd",
    "path",
    "tool",
    "server",
    "text",
)
_KEYS: Final = (*_TEXTS, *_CONDITIONS)
_HEADER: Final = re.compile(r"\s*\[\[\s*(?:rule|'rule'|\"rule\")\s*\]\]")


class BadPolicy(UsageError):
    """An invalid policy file."""

    def __init__(
        self, source: str, problem: str, *, line: int | None = None, rule: str | None = None
    ) -> None:
        super().__init__(source, problem, line, rule)
        self.source = source
        self.problem = problem
        self.line = line
        self.rule = rule
        """As in ``rule 2 ("reading is fine")``."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (self.source, self.problem, self.line, self.rule)

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line is not None else ""
        rule = f", {self.rule}" if self.rule is not None else ""
        return f"{self.source}{line}{rule}: {self.problem}"


def _revive(source: str, problem: str, line: int | None, rule: str | None) -> BadPolicy:
    return BadPolicy(source, problem, line=line, rule=rule)


def read_policy(
    path: str | os.PathLike[str],
    *,
    resolve: Callable[[str], str] | None = os.path.realpath,
    cwd: str | None = None,
) -> Rules:
    """Read the rules in a file. Raises :class:`BadPolicy`.

    Symbolic links are resolved on this machine: an edit is allowed only if both the path and its target are.
    Pass ``resolve=None`` for an agent on another machine. ``cwd`` is the session's directory for requests that
    do not name it.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadPolicy(str(path), reason_of(error)) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadPolicy(str(path), "it is not UTF-8", line=line) from error
    return parse_policy(text, str(path), resolve=resolve, cwd=cwd)


def parse_policy(
    text: str,
    source: str = "policy",
    *,
    resolve: Callable[[str], str] | None = None,
    cwd: str | None = None,
) -> Rules:
    """Parse the rules in a text. Raises :class:`BadPolicy`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPolicy(source, f"it is not TOML: {error}") from error
    lines = text.replace("\r\n", "\n").split("\n")
    for key in table:
        if key not in _TOP:
            raise BadPolicy(source, _no_such("key", key, _TOP), line=_line_of(key, lines))
    default = table.get("default", ASK)
    if default not in ACTIONS:
        problem = _no_such("decision", default, ACTIONS)
        raise BadPolicy(source, problem, line=_line_of("default", lines))
    given = table.get("rule", [])
    if not isinstance(given, list) or not all(
        isinstance(each, dict) for each in cast("list[Any]", given)
    ):
        problem = "rules are written [[rule]], with two brackets"
        raise BadPolicy(source, problem, line=_line_of("rule", lines))
    tables = cast("list[dict[str, Any]]", given)
    rules = [_rule(each, number, lines, source) for number, each in enumerate(tables, 1)]
    return Rules(rules, default=default, resolve=resolve, cwd=cwd)


def _rule(table: dict[str, Any], number: int, lines: list[str], source: str) -> Rule:
    name = table.get("name")
    title = f'rule {number} ("{name}")' if isinstance(name, str) else f"rule {number}"

    def bad(key: str | None, problem: str) -> BadPolicy:
        return BadPolicy(source, problem, line=_line_in_rule(number, key, lines), rule=title)

    for key, value in table.items():
        if key not in _KEYS:
            raise bad(key, _no_such("key", key, _KEYS))
        if key in _TEXTS and not isinstance(value, str):
            raise bad(key, f"{key} is a text, not {_named(value)}")
        if key == "options" and value == []:
            continue  # permits no option
        if key in _CONDITIONS and not _is_texts(value):
            raise bad(key, f"{key} is a text or a list of texts, none of them empty")
    if "decision" not in table:
        raise bad(None, f"it has no decision; one of {', '.join(ACTIONS)}")
    if table["decision"] not in ACTIONS:
        raise bad("decision", _no_such("decision", table["decision"], ACTIONS))
    if not any(key in table for key in _CONDITIONS if key not in ("options", "cwd")):
        raise bad(None, f'it matches everything; write default = "{table["decision"]}" instead')
    for kind in _several(table.get("kind", [])):
        if kind not in KINDS:
            raise bad("kind", _no_such("kind", kind, KINDS))
    conditions: dict[str, Any] = {key: table[key] for key in _CONDITIONS if key in table}
    for key in ("path", "cwd"):
        if key in conditions:
            conditions[key] = [os.path.expanduser(each) for each in _several(conditions[key])]
    _check_sense(table, bad)
    try:
        return rule(table["decision"], name=name, message=table.get("message"), **conditions)
    except BadRule as error:
        raise bad(error.field, error.problem) from error


def _check_sense(table: dict[str, Any], bad: Callable[[str | None, str], BadPolicy]) -> None:
    """Reject a rule that could never match."""
    kinds = _several(table.get("kind", []))
    for key in ("command", "command_regex", "cwd"):
        if key in table and kinds and "command" not in kinds:
            raise bad(key, f'{key} is for kind = "command"')
    if "path" in table and kinds and not {"command", "edit"}.intersection(kinds):
        raise bad("path", 'path is for kind = "edit" or "command"')
    if "cwd" in table and not any(key in table for key in ("command", "command_regex", "kind")):
        raise bad("cwd", "cwd says where a command may run; the rule names no command")


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else cast("list[str]", value)


def _is_texts(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, str) and each.strip() for each in cast("list[Any]", value))


def _named(value: object) -> str:
    names = {"bool": "true or false", "int": "a number", "list": "a list", "dict": "a table"}
    kind = type(value).__name__
    return names.get(kind, f"a {kind}")


def _no_such(what: str, given: object, known: Sequence[str]) -> str:
    close = get_close_matches(str(given), known, n=1)
    hint = f'did you mean "{close[0]}"?' if close else f"known: {', '.join(known)}"
    return f"unknown {what} {given!r}; {hint}"


def _line_of(key: str, lines: list[str], start: int = 0, end: int | None = None) -> int | None:
    """The line that sets a key or starts a table, found without parsing TOML again."""
    begins = re.compile(rf"\s*\[*\s*['\"]?{re.escape(key)}['\"]?\s*[=.\]]")
    for number in range(start, len(lines) if end is None else end):
        if begins.match(lines[number]):
            return number + 1
    return None


def _line_in_rule(number: int, key: str | None, lines: list[str]) -> int | None:
    headers = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    if len(headers) < number:
        return None  # inline tables
    start = headers[number - 1]
    end = headers[number] if number < len(headers) else len(lines)
    return (_line_of(key, lines, start, end) if key else None) or start + 1
