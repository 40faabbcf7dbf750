"""The report of ``dragoman convert --audit``."""

from __future__ import annotations

from collections import Counter

from dragoman.reading.audit import Account


def account_text(account: Account, name: str) -> str:
    """The account as text: the outcome of each line, and the rules behind it."""
    rows = [
        f"{name}: {account.lines} lines, {account.dialect or 'no known dialect'}",
        f"  {account.emitting:>8} emitted a message",
        f"  {account.duplicates.total():>8} duplicate a line that did",
        f"  {len(account.unaccounted):>8} are unaccounted for",
    ]
    if account.emitting or account.duplicates or account.lost:
        rows.append(f"  {len(account.lost):>8} values are lost")
    if account.unread:
        rows.append(f"  {len(account.unread):>8} values are in fields that are not read")
    if account.messages:
        rows += ["", f"{account.messages.total()} messages"]
        rows += [f"  {count:>8} {kind}" for kind, count in account.messages.most_common()]
    if account.duplicates:
        rows += ["", "duplicates, by reason"]
        rows += [f"  {count:>8} {reason}" for reason, count in account.duplicates.most_common()]
    if account.unknown:
        rows += ["", "unknown, by native type"]
        rows += [f"  {count:>8} {kind}" for kind, count in account.unknown.most_common()]
    if account.malformed:
        rows += ["", "malformed"]
        rows += [f"  line {line}: {problem}" for line, problem in account.malformed[:20]]
        if len(account.malformed) > 20:
            rows.append(f"  … and {len(account.malformed) - 20} more")
    if account.lost:
        rows += ["", "lost: values that no message contains"]
        rows += [f"  line {each.line}: {each.place}: {each.value!r}" for each in account.lost[:20]]
        if len(account.lost) > 20:
            rows.append(f"  … and {len(account.lost) - 20} more")
    if account.unread:
        places = Counter(each.place for each in account.unread)
        rows += ["", "not read: fields of lines that emitted a message without them"]
        rows += [f"  {count:>8} {place}" for place, count in places.most_common(20)]
        if len(places) > 20:
            rows.append(f"  … and {len(places) - 20} more fields")
    if account.unaccounted:
        rows += ["", f"unaccounted for: lines {', '.join(map(str, account.unaccounted[:20]))}"]
    if account.damage:
        rows += ["", f"not read to the end: {account.damage}"]
    return "\n".join(rows)
