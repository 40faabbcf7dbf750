"""The report of ``dragoman convert --audit``."""

from __future__ import annotations

from dragoman.reading.audit import Account


def account_text(account: Account, name: str) -> str:
    """The account as text: the outcome of each line, and the rules behind it."""
    rows = [
        f"{name}: {account.lines} lines, {account.dialect or 'no known dialect'}",
        f"  {account.told:>8} emitted a message",
        f"  {account.twins.total():>8} duplicate others",
        f"  {len(account.unaccounted):>8} are unaccounted for",
    ]
    if account.twins or account.lost:
        rows.append(f"  {len(account.lost):>8} values of duplicates are in no message")
    if account.messages:
        rows += ["", f"{account.messages.total()} messages"]
        rows += [f"  {count:>8} {kind}" for kind, count in account.messages.most_common()]
    if account.twins:
        rows += ["", "duplicates, by rule"]
        rows += [f"  {count:>8} {rule}" for rule, count in account.twins.most_common()]
    if account.unknown:
        rows += ["", "unknown, by native type"]
        rows += [f"  {count:>8} {kind}" for kind, count in account.unknown.most_common()]
    if account.malformed:
        rows += ["", "malformed"]
        rows += [f"  line {line}: {problem}" for line, problem in account.malformed[:20]]
        if len(account.malformed) > 20:
            rows.append(f"  … and {len(account.malformed) - 20} more")
    if account.lost:
        rows += ["", "lost: values of duplicates that are in no message"]
        rows += [f"  line {each.line}: {each.place}: {each.value!r}" for each in account.lost[:20]]
        if len(account.lost) > 20:
            rows.append(f"  … and {len(account.lost) - 20} more")
    if account.unaccounted:
        rows += ["", f"unaccounted for: lines {', '.join(map(str, account.unaccounted[:20]))}"]
    if account.damage:
        rows += ["", f"not read to the end: {account.damage}"]
    return "\n".join(rows)
