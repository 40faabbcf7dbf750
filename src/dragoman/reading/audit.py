"""Account for every line of a stream: it produced a message, or it duplicates a line that did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from dragoman.harnesses import values
from dragoman.harnesses.contract.reading import Value
from dragoman.model.messages import Malformed, Message, Unknown, type_of
from dragoman.reading.evidence import Evidence
from dragoman.reading.read import feed, make_parser
from dragoman.reading.sniffing import SniffingParser
from dragoman.reading.sources import Damage, Source, batches
from dragoman.wire.lines import DEFAULT_MAX_LINE

_SHOWN = 200
"""How many characters of a lost value are shown."""
EMITTED = ""
"""The reason of a line that is no duplicate: it emitted a message."""


@dataclass(frozen=True, slots=True)
class LostValue:
    """A value on a line that no message contains."""

    line: int
    reason: str
    """Why the line was dropped; empty if it emitted a message without this value."""
    place: str
    value: str

    @property
    def rule(self) -> str:
        """The earlier name of ``reason``."""
        return self.reason


@dataclass(slots=True)
class Account:
    """What happened to each line of one stream."""

    dialect: str | None = None
    lines: int = 0
    messages: Counter[str] = field(default_factory=Counter[str])
    """Messages produced, by type."""
    duplicates: Counter[str] = field(default_factory=Counter[str])
    """Lines dropped as duplicates, by the reason, which names what they repeat."""
    unknown: Counter[str] = field(default_factory=Counter[str])
    """Messages of type ``unknown``, by native type."""
    malformed: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Lines that are not valid JSON, with the problem."""
    unaccounted: list[int] = field(default_factory=list[int])
    """Lines that produced nothing and match no duplicate rule. Always empty unless there is a bug."""
    emitting: int = 0
    """How many lines produced a message."""
    lost: list[LostValue] = field(default_factory=list["LostValue"])
    """Values of duplicate lines that no message contains. Always empty unless there is a bug."""
    unread: list[LostValue] = field(default_factory=list["LostValue"])
    """Values of lines that emitted a message without them: fields that a later release may have added."""
    damage: str | None = None

    @property
    def twins(self) -> Counter[str]:
        """The earlier name of ``duplicates``."""
        return self.duplicates

    @property
    def told(self) -> int:
        """The earlier name of ``emitting``."""
        return self.emitting

    @property
    def is_whole(self) -> bool:
        return not self.unaccounted and not self.lost and self.damage is None


def audit(
    source: Source, *, dialect: str | None = None, max_line: int = DEFAULT_MAX_LINE
) -> Account:
    """Read a stream to its end and account for each of its lines.

    Lines are verified, not trusted: each value of a line, duplicate or not, must appear in some
    message, or at a place that the harness lists as deliberately omitted.
    """
    account = Account(dialect=dialect)
    parser = make_parser(dialect, audit=True)
    open_lines: dict[int, None] = {}
    emitting: set[int] = set()
    lines: dict[int, bytes] = {}
    evidence = Evidence()
    doubtful: list[tuple[int, str, Value]] = []

    def doubt(line: int, reason: str) -> None:
        found = values(lines.get(line, b""), reason, account.dialect or "")
        doubtful.extend((line, reason, value) for value in found)

    def settle() -> None:
        if isinstance(parser, SniffingParser) and parser.dialect is not None:
            account.dialect = parser.dialect.name
        messages = parser.messages()
        duplicates = dict(parser.duplicates())
        for message in messages:
            _count(account, message)
            evidence.add(message)
            if open_lines.pop(message.line, 0) is None:
                emitting.add(message.line)
                # a line may repeat another and still bring out what waited for it
                doubt(message.line, duplicates.get(message.line, EMITTED))
        for line, reason in duplicates.items():
            if open_lines.pop(line, 0) is None:
                account.duplicates[reason] += 1
                doubt(line, reason)
        for line in lines.keys() - open_lines.keys():
            del lines[line]
        account.emitting += len(emitting)
        emitting.clear()
        doubtful[:] = [each for each in doubtful if not evidence.holds(each[2])]

    for batch in batches(source, max_line=max_line):
        for line in batch:
            if isinstance(line, Damage):
                account.damage = line.problem
                continue
            account.lines += 1
            open_lines[account.lines] = None
            if isinstance(line, bytes):
                lines[account.lines] = line
        feed(parser, batch)
        settle()
    parser.receive_eof("left")
    settle()
    account.unaccounted = list(open_lines)
    for line, reason, value in doubtful:
        found = LostValue(line, reason, value.place, str(value.value)[:_SHOWN])
        (account.lost if reason else account.unread).append(found)
    return account


def _count(account: Account, message: Message) -> None:
    account.messages[type_of(type(message))] += 1
    if isinstance(message, Unknown):
        account.unknown[message.native_type] += 1
    elif isinstance(message, Malformed):
        account.malformed.append((message.line, message.problem))
