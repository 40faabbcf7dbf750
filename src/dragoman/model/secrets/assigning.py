r"""Find values that a text assigns to names that sound secret.

=========================  =============================================================
``name = value``           code, settings, ``:=``, ``=>``, ``: str =``, ``?name=value&``
``"name": "value"``        JSON, at any depth of quoting
``--name value``           options of a command, also as items of a list
``NAME "value"``           ``#define``, SQL
``setName("value")``       calls, and ``define('NAME', 'value')``
``<name>value</name>``     XML, and ``key="name" value="value"``
``name: NAME`` ``value:``  two lines of YAML or fields of JSON
``| name | value |``       a table
=========================  =============================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dragoman.model.secrets.judging import Setting, is_secret
from dragoman.model.secrets.naming import STEMS, Sound, sound

_Q: Final = r"\\{0,7}[\"'`]"
_ASSIGN: Final = re.compile(
    rf"""(?x)
    (?P<tail>[A-Za-z0-9_.-]{{0,30}})                    # the rest of the name
    (?:
      (?P<pair>(?:{_Q})?,?(?:\s|\\{{1,7}}n){{1,24}}(?:{_Q})?[Vv]alue(?:{_Q})?\s{{0,2}}[:=]\s{{0,3}})
    | (?P<mark>
        (?:{_Q})? \]? (?:\*\*|__)? \s{{0,4}}
        (?::\s?(?:&'?\w*\ ?)?[A-Za-z][\w.|\ \[\],<>?]{{0,40}}(?<!\ )\ =(?=\s) # an annotation between
          |\ (?:string|String|\[\]byte)\ =(?=\s)
          |:=|=>|->|<-|={{1,3}}|!==?|\+=|\?=|:)
        (?:\*\*|__)? (?P<blank>[\ \t]{{0,8}})
      )
    | (?P<list>{_Q},\s{{0,3}})(?={_Q})
    | (?P<call>\(\s{{0,3}})(?={_Q})
    | (?P<element>>)(?=[^<\s])
    | (?P<attribute>{_Q}\s{{1,4}}[Vv]alue=)(?={_Q})
    | (?P<content>{_Q}>)(?=[^<\s])
    | (?P<cell>[ ]{{0,20}}\|[ ]{{0,20}})
    | (?P<space>[\ \t]{{1,4}}(?:(?:is|was|to):?[ ](?=\S)|(?={_Q})))
    )
    """
)
_IN_NAME: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-")
_OPTION: Final = re.compile(
    rf"-(?<![\w-]-)(?P<name>-?[A-Za-z][\w-]{{2,40}})(?:[ ]{{1,3}}|{_Q},\s{{0,3}}(?={_Q}))(?!-)"
)
_OPENING: Final = re.compile(
    r"(?:[brufBRUF@LN]{1,2}|(?:new )?[\w.:]*(?:from|[Ss]ecret(?:Str|String|Value)?|[Pp]assword|str|String|Some|Buffer"
    r"|decode|encode|of)\(\s?)?(?P<quote>\\{0,7}(?:\"\"\"|'''|[\"'`]))"
)
_FALLBACK: Final = re.compile(
    r"(?:[\w.]{0,40}(?:env|ENV|getenv|Getenv|environ\.get|fetch|config)\(\s?\\{0,7}[\"'][\w.]{1,60}\\{0,7}[\"'],\s?"
    r"|[\w.]{1,60}(?:\[\\{0,7}[\"']\w{1,60}\\{0,7}[\"']\])?\s?(?:\|\||\?\?|\?:|or)\s)(?=\\{0,7}[\"'`])"
)
_BLOCK: Final = re.compile(
    r"[|>][+-]?[0-9]?(?:\r?\n|\\n)(?P<indent>[+-]?[ \t]+)(?P<value>[^\r\n\\]{4,4000})"
)
_WORD: Final = re.compile(r"(?:[^\s\"'`\\]|\\(?![nrt\"'\\])){4,4000}")
_INLINE: Final = re.compile(r"[^\s\"'`\\,;&|)}\]>]{4,4000}")
_QUERY: Final = re.compile(r"[^\s\"'`\\&#<>]{4,4000}")
_REST: Final = re.compile(r"[^\r\n\"'\\]{4,400}")
_COMMENT: Final = re.compile(r"\s+(?:#|//|--|/\*|<!--).*$")
_LINE_START: Final = re.compile(
    r"(?:^|\n|\\n|\\r|\\t|[\"'`])[+ -]?[ \t]*(?:- )?(?:export |set |setenv |declare (?:-x )?|readonly |local |env |ENV "
    r"|ARG |-e |--env[ =]|\$env:|set -x? ?|[#;] ?)?\Z"
)
_SETTER: Final = re.compile(
    r"(?i)^(?!get|fetch|load|read|find|has|is|check|valid|verify|require|prompt|ask|hash|encrypt|decrypt|parse|create"
    r"|generate|make|reset|forgot|input)(?:set|with|add|use|new)?_?(?:\w+_)?(?:pass|secret$|api_?key|token$)"
)
_PUTS: Final = re.compile(
    r"(?:define|setenv|putenv|set\w*|put|add\w*|append|header|setdefault|config|with\w*|property|insert|environ\w*)\(\s{0,3}\\{0,7}[\"'][\w.$-]{0,60}\Z"
)
_TUPLE: Final = re.compile(r"(?<![\w\])])\(\s{0,3}\\{0,7}[\"'][\w.$-]{0,60}\Z")
_CELL: Final = re.compile(r"`?(?P<value>[^\s|`]{6,200})`?[ ]*\|")
_KEYED: Final = re.compile(r"(?:key|name|id|Key|Name)=\\{0,7}[\"'][\w.$:-]{0,60}\Z")


def lowered(text: str) -> str:
    """The text in lower case, with every character at its original index."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(each.lower() if each.isascii() else each for each in text)
    return lower


def assigned(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of the values. ``lower`` is the text in lower case."""
    if "-" in text:
        yield from _options(text)
    for stem in STEMS:
        at = lower.find(stem)
        while at >= 0:
            found = _ASSIGN.match(text, at + len(stem))
            if found is not None:
                span = _value(text, at, found)
                if span is not None:
                    yield span
            at = lower.find(stem, at + len(stem))


def _options(text: str) -> Iterator[tuple[int, int]]:
    """``--name value``, also as items of a list."""
    for found in _OPTION.finditer(text):
        kind = sound(found["name"])
        span = _read(text, found.end(), found["name"], kind, "word") if kind else None
        if span is not None:
            yield span


def is_named_secret(name: str, value: str) -> bool:
    """Whether a field with this name and value contains a secret."""
    kind = sound(name[-80:])
    return kind is not None and is_secret(kind, name, value, "quoted")


def _begin_of_name(text: str, at: int) -> int:
    begin = at
    first = max(0, at - 60)
    while begin > first and text[begin - 1] in _IN_NAME:
        begin -= 1
    # An escape that ends where the name begins is no part of it: ``\nPASSWORD``.
    if begin > 0 and text[begin - 1] == "\\" and text[begin] in "nrt" and begin < at:
        begin += 1
    return begin


def _value(text: str, at: int, found: re.Match[str]) -> tuple[int, int] | None:
    begin = _begin_of_name(text, at)
    if text.startswith("${", begin - 2) and begin > 1:
        return None  # ${NAME:-…}: a reference to a variable
    name = text[begin : found.end("tail")].lstrip("-+.$")
    kind = sound(name)
    if kind is None:
        return None
    if found["mark"] is not None:
        return _assigned(text, begin, name, kind, found)
    if found["pair"] is not None or found["attribute"] is not None:
        return _read(text, found.end(), name, kind, "line")
    before = text[max(0, begin - 80) : begin]
    if found["list"] is not None:
        if _PUTS.search(before):
            return _read(text, found.end(), name, kind, "quoted")
        # Two strings side by side may be anything: ("password", "phrase").
        span = _read(text, found.end(), name, kind, "quoted") if _TUPLE.search(before) else None
        return span if span and not text[span[0] : span[1]].isalpha() else None
    if found["call"] is not None:
        return _read(text, found.end(), name, kind, "quoted") if _sets(name) else None
    if found["element"] is not None:
        return _until_tag(text, found.end(), name, kind) if before.endswith("<") else None
    if found["content"] is not None:
        return _until_tag(text, found.end(), name, kind) if _KEYED.search(before) else None
    if found["cell"] is not None:
        return _cell(text, found.end(), name, kind)
    return _spaced(text, found, name, kind)


def _sets(name: str) -> bool:
    """Whether a function of this name takes a secret: ``setPassword``, not ``get_password``."""
    return _SETTER.match(name.rpartition(".")[2]) is not None


def _assigned(
    text: str, begin: int, name: str, kind: Sound, found: re.Match[str]
) -> tuple[int, int] | None:
    at = found.end()
    if text.startswith(("|", ">"), at) and (block := _BLOCK.match(text, at)):
        return _judged(text, *block.span("value"), name, kind, "line")
    at = _fallback(text, at)
    if _OPENING.match(text, at):
        return _read(text, at, name, kind, "quoted")
    if "==" in found["mark"] or "!=" in found["mark"]:
        # A comparison: what is not in quotes is a variable.
        return _comparison(text, at, name, kind)
    before = text[max(0, begin - 40) : begin]
    if before.endswith(("?", "&", ";")) and not found["blank"]:
        value = (_QUERY if before[-1] != ";" else _INLINE).match(text, at)
        return _judged(text, *value.span(), name, kind, "word") if value else None
    if _LINE_START.search(before):
        return _line(text, at, name, kind, is_spaced=bool(found["blank"]))
    value = _INLINE.match(text, at)
    if value is None:
        return None
    begin, end = value.span()
    after = text[end : end + 1]
    if after in (",", ")", "]", "}", ";") and not (after in ",;}" and _ends_field(text, end)):
        return _judged(text, begin, end, name, kind, "argument")
    if after and after in "&|;,":
        whole = _WORD.match(text, at)
        if whole is not None and not re.search(r"[=:]|\s", whole[0]) and after != ";":
            end = whole.end()
    if found["blank"] and _goes_on(text, end):
        return _judged(text, begin, end, name, kind, "argument")
    return _judged(text, begin, end, name, kind, "word")


def _fallback(text: str, at: int) -> int:
    """Find the fallback value of a variable: ``process.env.PW || "…"``, ``env('PW', '…')``."""
    found = _FALLBACK.match(text, at)
    return found.end() if found else at


def _comparison(text: str, at: int, name: str, kind: Sound) -> tuple[int, int] | None:
    value = _INLINE.match(text, at)
    if value is None:
        return None
    end = value.end() - value[0].endswith(":")
    return _judged(text, at, end, name, kind, "argument")


def _ends_field(text: str, at: int) -> bool:
    """Whether another ``name=`` or ``name:`` follows, as in a connection string."""
    return (
        re.match(r"[,;]\s?[\w ]{1,30}=|;?\s*(?:\r?\n|\\n|$|[\"'`])", text[at : at + 40]) is not None
    )


def _goes_on(text: str, at: int) -> bool:
    """Whether a sentence continues here."""
    return re.match(r"[ \t]+[A-Za-z(]", text[at : at + 4]) is not None


def _line(text: str, at: int, name: str, kind: Sound, *, is_spaced: bool) -> tuple[int, int] | None:
    """The value of a setting on a line of its own."""
    rest = _REST.match(text, at)
    if rest is None:
        return None
    value = _COMMENT.sub("", rest[0]).rstrip()
    if " " not in value:
        word = _WORD.match(text, at)
        end = word.end() if word else at + len(value)
        whole = text[at:end].rstrip(",;({")
        # A comma or a semicolon at the end of the line: code, where a name is a variable's.
        setting: Setting = "argument" if at + len(whole) < end else "line"
        return _judged(text, at, at + len(whole), name, kind, setting)
    if is_spaced:
        if kind in ("password", "phrase"):
            return _judged(text, at, at + len(value), name, kind, "line")
        return None
    # export NAME=value; command, NAME=value command
    word = _WORD.match(text, at)
    if word is None:
        return None
    end = word.end()
    while text[end - 1] in ";&|,":
        end -= 1
    return _judged(text, at, end, name, kind, "word")


def _read(text: str, at: int, name: str, kind: Sound, setting: Setting) -> tuple[int, int] | None:
    """The value that starts here, quoted or up to the end of the line."""
    opening = _OPENING.match(text, at)
    if opening is None:
        value = _WORD.match(text, at)
        return _judged(text, *value.span(), name, kind, setting) if value else None
    begin = opening.end()
    end = _closing(text, begin, opening["quote"])
    return _judged(text, begin, end, name, kind, "quoted")


def _closing(text: str, begin: int, quote: str) -> int:
    """Find the end of a quoted value: the same quote, unless it is escaped once more."""
    mark = quote.lstrip("\\")
    depth = len(quote) - len(mark)
    limit = min(len(text), begin + 4000)
    at = text.find(mark, begin, limit)
    while at >= 0:
        slashes = 0
        while at - slashes > begin and text[at - slashes - 1] == "\\":
            slashes += 1
        if slashes <= depth or (depth == 0 and slashes % 2 == 0):
            at -= min(slashes, depth)
            break
        at = text.find(mark, at + 1, limit)
    end = at if at >= 0 else limit
    newline = text.find("\n", begin, end)
    return newline if newline >= 0 and len(mark) == 1 else end


def _until_tag(text: str, at: int, name: str, kind: Sound) -> tuple[int, int] | None:
    end = text.find("<", at, at + 4000)
    return _judged(text, at, end, name, kind, "line") if end >= 0 else None


def _cell(text: str, at: int, name: str, kind: Sound) -> tuple[int, int] | None:
    value = _CELL.match(text, at)
    if value is None or not re.search("[0-9]", value["value"]):
        return None
    return _judged(text, *value.span("value"), name, kind, "argument")


def _spaced(text: str, found: re.Match[str], name: str, kind: Sound) -> tuple[int, int] | None:
    """``NAME "value"``, ``the password is value``."""
    at = found.end()
    says = found["space"].strip()
    opening = _OPENING.match(text, at)
    if opening is not None:
        end = _closing(text, opening.end(), opening["quote"])
        if " " in text[opening.end() : end]:
            return None
        return _judged(text, opening.end(), end, name, kind, "quoted")
    if says:
        value = _INLINE.match(text, at)
        if value and re.search("[0-9]", value[0]) and re.search("[A-Za-z]", value[0]):
            end = value.end() - (value[0][-1] in ".,:!?")
            return _judged(text, at, end, name, kind, "argument")
    return None


def _judged(
    text: str, begin: int, end: int, name: str, kind: Sound, setting: Setting
) -> tuple[int, int] | None:
    return (begin, end) if is_secret(kind, name, text[begin:end], setting) else None
