"""Scripts as people write them: YAML in, a ``Script`` out, and one clear sentence for a mistake.

A step is ``kind: value``, where the value is the one thing that is always needed (``run: ls``) or a
mapping of options. The table below says, for every kind, which option the short form stands for.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import msgspec
import yaml

from dragoman.errors import UsageError, reason_of
from dragoman.rehearsal import script as kinds
from dragoman.rehearsal.script import PlanStep, Script, Step, Together, Turn

KINDS: dict[str, tuple[type[Step], str | None]] = {
    "say": (kinds.Say, "text"),
    "think": (kinds.Think, "summary"),
    "search": (kinds.Search, "query"),
    "run": (kinds.Run, "command"),
    "patch": (kinds.Patch, "patch"),
    "read": (kinds.Read, "path"),
    "write": (kinds.Write, None),
    "edit": (kinds.Edit, None),
    "plan": (kinds.Plan, "steps"),
    "mcp": (kinds.Mcp, None),
    "tool": (kinds.Tool, "name"),
    "agent": (kinds.Agent, "prompt"),
    "ask": (kinds.Ask, "question"),
    "item": (kinds.Item, "item"),
    "together": (Together, "steps"),
    "tokens": (kinds.Tokens, None),
    "headers": (kinds.Headers, "headers"),
    "pause": (kinds.Pause, "seconds"),
    "slow": (kinds.Slow, "seconds"),
    "http": (kinds.Http, "status"),
    "drop": (kinds.Drop, "saying"),
    "silence": (kinds.Silence, "seconds"),
    "fail": (kinds.Fail, "code"),
    "incomplete": (kinds.Incomplete, "reason"),
    "garbage": (kinds.Garbage, "text"),
    "overflow": (kinds.Fail, None),
}
"""Every kind of step: what it becomes, and the option that its short form gives."""

_BARE = ("drop", "silence", "overflow", "garbage", "incomplete")
_WHOLE = ("item", "headers", "together", "plan")  # a mapping or list is the value, not options
_OVERFLOW = {
    "code": "context_length_exceeded",
    "message": "Your input exceeds the context window of this model.",
}
_STATUS = {"done": "completed", "doing": "in_progress", "todo": "pending"}
_NOUNS = {
    **{"str": "text", "int": "a number", "float": "a number", "bool": "true or false"},
    **{"array": "a list", "object": "a mapping", "null": "nothing"},
}

_T = TypeVar("_T")
_Path: TypeAlias = tuple[str | int, ...]


class BadScript(UsageError):
    """A script says something that cannot be played; the sentence names the place."""

    def __init__(self, source: str, place: str, problem: str) -> None:
        super().__init__(source, place, problem)
        self.source = source
        self.place = place
        self.problem = problem

    def __str__(self) -> str:
        return ": ".join(part for part in (self.source, self.place, self.problem) if part)


class _Mistake(Exception):
    """A problem, and the way to it through the document."""

    def __init__(self, path: _Path, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem


def read_script(source: Script | str | os.PathLike[str]) -> Script:
    """A script from a file, or from its text: a string with more than one line, a colon or a dash."""
    if isinstance(source, Script):
        return source
    if isinstance(source, str) and ("\n" in source or ": " in source or source.startswith("- ")):
        return parse_script(source)
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise BadScript(str(path), "", reason_of(problem)) from problem
    except UnicodeDecodeError as problem:
        raise BadScript(str(path), "", "it is not UTF-8 text") from problem
    return parse_script(text, str(path))


def parse_script(text: str, source: str = "the script") -> Script:
    """The script that a YAML text describes."""
    try:
        return _script(yaml.safe_load(text))
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
        place = f"line {mark.line + 1}" if mark else ""
        why = getattr(problem, "problem", None) or str(problem)
        raise BadScript(source, place, f"this is not YAML: {why}") from problem
    except _Mistake as mistake:
        place = ", ".join(_words(mistake.path, text))
        raise BadScript(source, place, mistake.problem) from None


def _script(data: Any) -> Script:
    if isinstance(data, list):
        return Script((_turn(cast("Any", data), ("turns", 0)),))
    if not isinstance(data, dict):
        raise _Mistake((), "a script is a list of steps, or a mapping with `turns`")
    known = cast("dict[Any, Any]", data)
    _expect(known, Script.__struct_fields__, ())
    turns = known.get("turns", [])
    if not isinstance(turns, list):
        raise _Mistake(("turns",), "it should be a list with one entry for each prompt")
    read = [_turn(turn, ("turns", at)) for at, turn in enumerate(cast("list[Any]", turns))]
    rest = {name: value for name, value in known.items() if name != "turns"}
    settings = _convert(rest, Script, ())
    return msgspec.structs.replace(settings, turns=tuple(read))


def _turn(data: Any, path: _Path) -> Turn:
    if isinstance(data, list):
        return Turn(_steps(cast("list[Any]", data), path))
    if not isinstance(data, dict):
        raise _Mistake(path, "a turn is a list of steps, or a mapping with `when` and `steps`")
    known = cast("dict[Any, Any]", data)
    if len(known) == 1 and next(iter(known)) in KINDS:
        return Turn((_step(known, path),))
    _expect(known, Turn.__struct_fields__, path)
    steps = known.get("steps")
    if not isinstance(steps, list):
        raise _Mistake(path, "it needs `steps`, a list")
    when = known.get("when")
    if when is not None and not isinstance(when, str):
        raise _Mistake((*path, "when"), "it should be text; put it in quotes")
    return Turn(_steps(cast("list[Any]", steps), (*path, "steps")), when)


def _steps(data: Sequence[Any], path: _Path) -> tuple[Step, ...]:
    steps = tuple(_step(step, (*path, at)) for at, step in enumerate(data))
    spoken = False
    for at, step in enumerate(steps):
        if spoken and (isinstance(step, kinds.Http) or _is_unanswered(step)):
            raise _Mistake(
                (*path, at), "something is said before it in the same response; put it first"
            )
        spoken = isinstance(step, kinds.Say | kinds.Think | kinds.Search | kinds.Item) or (
            spoken and not isinstance(step, kinds.Call | Together)
        )
    return steps


def _is_unanswered(step: Step) -> bool:
    return isinstance(step, kinds.Drop) and step.unanswered


def _step(data: Any, path: _Path) -> Step:
    if isinstance(data, str):
        if data not in _BARE:
            raise _Mistake(path, f"a step is `kind: value`; did you mean `say: {data[:40]}`?")
        data = {data: None}
    if not isinstance(data, dict) or len(cast("dict[Any, Any]", data)) != 1:
        raise _Mistake(path, "a step is one `kind: value`; begin the next one with a dash")
    kind, value = next(iter(cast("dict[Any, Any]", data).items()))
    if kind not in KINDS:
        raise _Mistake(path, f"there is no step {kind!r}{_nearest(kind, KINDS)}")
    return _of_kind(kind, value, (*path, kind))


def _of_kind(kind: str, value: Any, path: _Path) -> Step:
    struct, short = KINDS[kind]
    if value is None:
        if kind not in _BARE:
            raise _Mistake(path, "it says nothing; give it a value")
        options: dict[Any, Any] = {}
    elif isinstance(value, dict) and (kind not in _WHOLE or kind == "plan"):
        options = dict(cast("dict[Any, Any]", value))
    elif value is True and kind in _BARE:
        options = {}
    elif short is None:
        raise _Mistake(path, f"it should be a mapping of {_listed(struct)}")
    else:
        options = {short: value}
    if kind == "overflow":
        options = _OVERFLOW | options
    if kind == "together":
        if not isinstance(value, list):
            raise _Mistake(path, "it should be a list of steps")
        inner = _steps(cast("list[Any]", value), path)
        if any(isinstance(step, Together) for step in inner):
            raise _Mistake(path, "one `together` cannot stand in another")
        return Together(inner)
    if kind == "plan" and isinstance(options.get("steps"), list):
        options["steps"] = [_plan_step(each, path) for each in options["steps"]]
    return _convert(options, struct, path)


def _plan_step(data: Any, path: _Path) -> PlanStep:
    if isinstance(data, dict) and len(cast("dict[Any, Any]", data)) == 1:
        status, text = next(iter(cast("dict[Any, Any]", data).items()))
        if status in _STATUS and isinstance(text, str):
            return _convert({"text": text, "status": _STATUS[status]}, PlanStep, path)
    raise _Mistake(path, "each step of a plan is `done: …`, `doing: …` or `todo: …`")


def _convert(value: Any, kind: type[_T], path: _Path) -> _T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise _Mistake(path, _plainly(str(problem), kind)) from problem


def _plainly(problem: str, kind: type) -> str:
    """msgspec's sentence, in the terms of a script."""
    what, _sep, where = problem.partition(" - at `$")
    option = where.strip("`.")
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", what):
        fields = msgspec.structs.fields(cast("type[Step]", kind))
        return f"there is no option {unknown[1]!r}" + _nearest(
            unknown[1], [field.encode_name for field in fields]
        )
    if missing := re.fullmatch(r"Object missing required field `(.*)`", what):
        return f"it needs `{missing[1]}`"
    if wrong := re.fullmatch(r"Expected `(.*)`, got `(.*)`", what):
        wants = " or ".join(_NOUNS.get(name.strip(), name) for name in wrong[1].split("|"))
        quotes = "; put it in quotes" if "text" in wants else ""
        return f"`{option}` should be {wants}, not {_NOUNS.get(wrong[2], wrong[2])}{quotes}"
    return f"`{option}`: {what[:1].lower()}{what[1:]}" if option else what


def _expect(data: dict[Any, Any], known: Sequence[str], path: _Path) -> None:
    for name in data:
        if name not in known:
            raise _Mistake(path, f"there is no {name!r} here{_nearest(name, known)}")


def _nearest(word: object, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(str(word), names, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"


def _listed(struct: type[Step]) -> str:
    return ", ".join(f"`{each.encode_name}`" for each in msgspec.structs.fields(struct))


def _words(path: _Path, text: str) -> list[str]:
    """The place for a human: ``line 7, turn 2, step 3``."""
    words: list[str] = []
    node = cast("Any", yaml).compose(text, Loader=yaml.SafeLoader)
    if isinstance(node, yaml.SequenceNode) and path[:1] == ("turns",):
        path = path[2:]  # a script that is only a list is its one turn
        words.append("")
    names = {"turns": "turn", "steps": "step"}
    counting = "step"
    for part in path:
        if isinstance(part, int):
            words.append(f"{counting} {part + 1}")
            counting = "step"
            if isinstance(node, yaml.SequenceNode):
                node = node.value[part]
        else:
            counting = names.get(part, "step")
            if part not in names:
                words.append(part)
            if isinstance(node, yaml.MappingNode):
                node = next((v for k, v in node.value if k.value == part), node)
    line = [f"line {node.start_mark.line + 1}"] if node is not None and path else []
    return [*line, *(word for word in words if word)]
