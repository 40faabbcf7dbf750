from __future__ import annotations

from collections import Counter

from dragoman.cli.reports.audit import account_text
from dragoman.reading.audit import Account, LostValue


def test_an_account_says_what_became_of_the_lines_and_by_which_rules() -> None:
    account = Account(
        dialect="codex-exec",
        lines=12,
        emitting=9,
        messages=Counter({"text": 2, "tool_call": 7}),
        duplicates=Counter({"blank line": 1, "call: told when it began": 2}),
        unknown=Counter({"new.thing": 1}),
        malformed=[(3, "not JSON")],
    )

    assert account_text(account, "run.jsonl") == (
        "run.jsonl: 12 lines, codex-exec\n"
        "         9 emitted a message\n"
        "         3 duplicate a line that did\n"
        "         0 are unaccounted for\n"
        "         0 values are lost\n"
        "\n"
        "9 messages\n"
        "         7 tool_call\n"
        "         2 text\n"
        "\n"
        "duplicates, by reason\n"
        "         2 call: told when it began\n"
        "         1 blank line\n"
        "\n"
        "unknown, by native type\n"
        "         1 new.thing\n"
        "\n"
        "malformed\n"
        "  line 3: not JSON"
    )


def test_fields_that_are_not_read_are_counted_by_their_place() -> None:
    unread = [LostValue(line, "", place, "x") for line, place in ((1, "a.b"), (2, "a.b"), (3, "c"))]
    text = account_text(Account(lines=3, emitting=3, unread=unread), "a")

    assert "         3 values are in fields that are not read\n" in text
    assert text.endswith(
        "not read: fields of lines that emitted a message without them\n"
        "         2 a.b\n"
        "         1 c"
    )


def test_an_account_of_nothing_is_short() -> None:
    assert account_text(Account(), "-") == (
        "-: 0 lines, no known dialect\n"
        "         0 emitted a message\n"
        "         0 duplicate a line that did\n"
        "         0 are unaccounted for"
    )


def test_lines_that_were_lost_and_damage_come_last() -> None:
    text = account_text(Account(lines=3, unaccounted=[2, 3], damage="it ends early"), "a")

    assert text.endswith(
        "         2 are unaccounted for\n"
        "\n"
        "unaccounted for: lines 2, 3\n"
        "\n"
        "not read to the end: it ends early"
    )


def test_long_lists_are_cut() -> None:
    account = Account(
        malformed=[(line, "not JSON") for line in range(1, 26)], unaccounted=list(range(30, 60))
    )

    rows = account_text(account, "a").splitlines()

    assert rows[rows.index("malformed") + 20 :][:3] == ["  line 20: not JSON", "  … and 5 more", ""]
    assert rows[-1].endswith(" 48, 49")
