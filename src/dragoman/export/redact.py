"""Mask what must not be shared: keys, tokens, passwords, e-mail addresses, the names of home directories.

Equal values get equal placeholders (``[secret-1]``, ``[email-2]``), so that a transcript still makes
sense. A value that was recognized once is masked wherever it occurs later. Reports contain the kind, number
and places of the values, never the values. Deltas are dropped: a secret may be split across them, and the
complete text always follows.

This finds what looks like a secret. It does not examine images, and does not understand text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

import msgspec

from dragoman.export.base import Exporter, Format, Masked, Options
from dragoman.model.messages import Delta, Message
from dragoman.model.secrets.assigning import is_named_secret
from dragoman.model.secrets.finding import find_secrets

_T = TypeVar("_T")
_PLAIN: Final = frozenset((type(None), bool, int, float, datetime))
"""What holds no text."""

_DOMAIN: Final = re.compile(
    r"@(?P<domain>(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}(?P<top>[A-Za-z]{2,24}))(?![\w@-]|\.\w)"
)
_USER: Final = re.compile(r"(?<![\w.+/=:%-])[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}\Z")
_NO_MAIL: Final = re.compile(
    r"(?i)service|socket|timer|target|mount|py|js|ts|jsx|tsx|mjs|md|png|jpg|jpeg|gif|svg|webp|json|lock|tgz|gz|zip|whl"
    r"|css|html|htm|txt|sh|toml|yaml|yml|rs|go|rb|java|kt|swift|so|dll|local|internal|test|invalid|localhost"
)
"""Ends of text that only looks like an address: units, packages, files, local hosts."""
_NO_PERSON: Final = frozenset({"git", "noreply", "no-reply", "npm", "actions", "bot"})
_HOME: Final = re.compile(r"/(?:home|Users|var/home)/(?P<name>[A-Za-z0-9_][A-Za-z0-9._-]*)")
_WINDOWS_HOME: Final = re.compile(
    r"[A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/)(?P<name>[A-Za-z0-9_][A-Za-z0-9._-]*)"
)
_NO_HOME: Final = frozenset({"Shared", "Public", "Default"})
_DATA: Final = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]*")
_REMEMBERED: Final = 500
"""How many recognized values are searched for everywhere."""
_LONGEST_COMMAND: Final = 10_000
_SHORT: Final = 80
_PLACES: Final = 5
"""How many source lines are kept for each value."""


class _Found:
    __slots__ = ("count", "kind", "lines", "placeholder")

    def __init__(self, placeholder: str, kind: str) -> None:
        self.placeholder = placeholder
        self.kind = kind
        self.count = 0
        self.lines: list[int] = []


class Redactor:
    """Masks the messages of one session."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets`` are values to mask whatever they look like."""
        self._found: dict[bytes, _Found] = {}
        self._numbers: dict[str, int] = {}
        self._values: list[str] = []
        self._line = 0
        self._clean: set[str] = set()
        """Short texts in which nothing was found: ids and names, which every message repeats."""
        self.images = 0
        """The number of images, which are not examined."""
        for value in secrets:
            self._remember(value, shortest=6)

    def redact(self, messages: Iterable[Message]) -> Iterator[Message]:
        for message in messages:
            if not isinstance(message, Delta):
                yield self.message(message)

    def message(self, message: Message) -> Message:
        self._line = message.line
        return self._struct(message)

    def source_line(self, line: bytes) -> bytes:
        """A source line, masked like its content."""
        try:
            value: Any = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            text = line.decode("utf-8", "surrogateescape")
            return self.text(text).encode("utf-8", "surrogateescape")
        masked = self._deep(value)
        return line if masked is value else msgspec.json.encode(masked)

    @property
    def masked(self) -> Sequence[Masked]:
        """What was masked so far, most often first."""
        found = [
            Masked(
                placeholder=each.placeholder,
                kind=each.kind,
                count=each.count,
                lines=tuple(each.lines),
            )
            for each in self._found.values()
            if each.count
        ]
        return sorted(found, key=lambda each: -each.count)

    def text(self, text: str) -> str:
        """The text with everything masked that must not be shared."""
        if len(text) < 5 or text in self._clean:
            return text
        masked = self._masked(text)
        if len(text) <= _SHORT and masked == text:
            if len(self._clean) >= _REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return masked

    def _masked(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = re.sub(re.escape(value), lambda it: self._placeholder("secret", it[0]), text)
        text = self._hidden(text)
        if "@" in text:
            text = self._without_addresses(text)
        if "Users" in text:
            text = _WINDOWS_HOME.sub(self._home, text)
        if "/home/" in text or "/Users/" in text:
            text = _HOME.sub(self._home, text)
        return text

    def _hidden(self, text: str) -> str:
        """The text with every secret in it masked."""
        parts: list[str] = []
        at = 0
        for found in find_secrets(text):
            if not text.startswith("[secret-", found.begin):
                value = text[found.begin : found.end]
                parts += [text[at : found.begin], self._placeholder("secret", value, found.kind)]
                at = found.end
        return "".join([*parts, text[at:]]) if at else text

    def _without_addresses(self, text: str) -> str:
        parts: list[str] = []
        at = 0
        for found in _DOMAIN.finditer(text):
            begin = max(at, found.start() - 65)
            user = _USER.search(text[begin : found.start()])
            if user and _is_address(user[0], found["domain"], found["top"]):
                address = f"{user[0]}@{found['domain']}".lower()
                masked = self._placeholder("email", address, "e-mail address")
                parts += [text[at : begin + user.start()], masked]
                at = found.end()
        return "".join([*parts, text[at:]]) if at else text

    def _struct(self, value: _T) -> _T:
        """The same message with every text in it masked; itself if there was nothing to mask."""
        if not isinstance(value, msgspec.Struct):
            return cast("_T", self._deep(value))
        changed = {
            name: new
            for name in value.__struct_fields__
            if (old := getattr(value, name)).__class__ not in _PLAIN
            and (new := self._struct(old)) is not old
        }
        return msgspec.structs.replace(value, **changed) if changed else value

    def _deep(self, value: Any) -> Any:
        """The same JSON value with every text in it masked; itself if there was nothing to mask.

        Agent output may be nested deeper than Python can recurse, so this uses a list: each container is
        copied when it is found, and masked in place later.
        """
        if not isinstance(value, dict | list):
            return self._leaf(value)
        whole = cast("Any", value)
        top = _copied(whole)
        waiting: list[Any] = [top]
        is_changed = False
        while waiting:
            container = waiting.pop()
            is_changed = self._mask_own(container) or is_changed
            inner: list[Any] = []
            for key, item in _items(container):
                if isinstance(item, msgspec.Struct):
                    container[key] = self._struct(item)
                    is_changed = is_changed or container[key] is not item
                elif isinstance(item, dict | list):
                    container[key] = _copied(cast("Any", item))
                    inner.append(container[key])
            waiting += reversed(inner)  # so that placeholders are counted in the order of the text
        return top if is_changed else whole

    def _mask_own(self, container: Any) -> bool:
        """Mask the texts directly in this container; return whether there were any."""
        if isinstance(container, list):
            items = cast("list[Any]", container)
            masked = self._array(items)
            is_changed = masked != items
            items[:] = masked
            return is_changed
        fields = self._object(container)
        is_changed = fields != container
        if is_changed:
            container.clear()
            container.update(fields)
        return is_changed

    def _leaf(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value.startswith("data:") and _DATA.fullmatch(value):
            self.images += 1
            return value
        return self.text(value)

    def _object(self, items: dict[Any, Any]) -> dict[Any, Any]:
        """The fields of an object with their own texts masked."""
        # {"name": "DB_PASSWORD", "value": "…"}: one field names the content of the other.
        called: Any = items.get("name") or items.get("key")
        made: dict[Any, Any] = {}
        for name, value in items.items():
            named = called if name in ("value", "Value") and isinstance(called, str) else name
            made[self._leaf(name)] = self._field(named, value)
        return made

    def _array(self, items: list[Any]) -> list[Any]:
        """The items of an array with their own texts masked."""
        hidden = _in_command(items)
        return [
            self._placeholder("secret", item, "password or key")
            if isinstance(item, str) and item in hidden
            else self._leaf(item)
            for item in items
        ]

    def _field(self, name: Any, value: Any) -> Any:
        """The value of a field, whose name may say that it is a secret."""
        if isinstance(name, str) and isinstance(value, str) and is_named_secret(name, value):
            masked = self.text(value)
            return (
                self._placeholder("secret", value, "password or key") if masked == value else masked
            )
        return self._leaf(value)

    def _home(self, match: re.Match[str]) -> str:
        before = match.string[max(0, match.start() - 2) : match.start()]
        is_inside = re.search(r"[\w.~-]$", before) and not re.search(r"\\[nrt]$", before)
        if match["name"] in _NO_HOME or is_inside:
            return match[0]
        return self._placeholder("home", match["name"], "home directory")

    def _placeholder(self, word: str, value: str, kind: str = "known value") -> str:
        key = sha256(f"{word} {value}".encode("utf-8", "surrogatepass")).digest()
        found = self._found.get(key)
        if found is None:
            number = self._numbers[word] = self._numbers.get(word, 0) + 1
            name = f"[{word}-{number}]" if word != "home" else f"~{number if number > 1 else ''}"
            found = self._found[key] = _Found(name, kind)
            if word == "secret":
                self._remember(value, shortest=8)
        found.count += 1
        if len(found.lines) < _PLACES and self._line and self._line not in found.lines:
            found.lines.append(self._line)
        return found.placeholder

    def _remember(self, value: str, *, shortest: int) -> None:
        """Search for this value from now on, unless that would mask ordinary words."""
        if len(value) < shortest or len(self._values) >= _REMEMBERED or "\n" in value:
            return
        if shortest > 6 and not re.search(r"[0-9]", value):
            return
        self._values.append(value)
        self._clean.clear()
        # Longest first: a value may be a prefix of another one.
        self._values.sort(key=len, reverse=True)


def _in_command(items: list[Any]) -> set[str]:
    """The arguments of a command that are secrets because of the argument before: ``["-p", "…"]``."""
    is_command = any(isinstance(item, str) and item.startswith("-") for item in items)
    if not is_command or not all(isinstance(item, str) for item in items):
        return set()
    line = " ".join(items)
    found = find_secrets(line) if len(line) < _LONGEST_COMMAND else []
    return {line[each.begin : each.end] for each in found}


def _copied(container: Any) -> Any:
    if isinstance(container, dict):
        return dict(cast("dict[Any, Any]", container))
    return list(cast("list[Any]", container))


def _items(container: Any) -> list[tuple[Any, Any]]:
    if isinstance(container, dict):
        return list(cast("dict[Any, Any]", container).items())
    return list(enumerate(cast("list[Any]", container)))


def _is_address(user: str, domain: str, top: str) -> bool:
    """Whether the address belongs to a person, not to a program or an example."""
    user, domain = user.lower(), domain.lower()
    return not (
        _NO_MAIL.fullmatch(top)
        or user in _NO_PERSON
        or "noreply" in user + domain
        or re.search(r"(?:^|\.)example(?:\.|$)", domain)
        or domain.split(".")[0].isdigit()
    )


class Redacting:
    """Wraps an exporter and masks its messages."""

    def __init__(self, exporter: Exporter, redactor: Redactor) -> None:
        self._exporter = exporter
        self.redactor = redactor
        self.wants_lines = exporter.wants_lines

    def export(self, messages: Iterable[Message]) -> bytes:
        return self._exporter.export(self.redactor.redact(messages))

    def finish(self) -> bytes:
        return self._exporter.finish()


def redacting(made: Format, options: Options, secrets: Iterable[str] = ()) -> Redacting:
    """Create an exporter of this format that masks its messages and reports what it masked."""
    redactor = Redactor(secrets)

    def source_line(number: int) -> bytes | None:
        line = options.source_line(number)
        return None if line is None else redactor.source_line(line)

    masking = replace(options, source_line=source_line, masked=lambda: redactor.masked)
    return Redacting(made.make(masking), redactor)


def summary(masked: Sequence[Masked]) -> str:
    """What was masked, in one line: kinds and counts."""
    counts: dict[str, int] = {}
    for each in masked:
        counts[each.kind] = counts.get(each.kind, 0) + each.count
    return ", ".join(f"{kind}: {count:,}" for kind, count in counts.items())
