from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner

from dragoman.archive.ledger.groups import LedgerGroup
from dragoman.archive.ledger.rate_limits import Limits, LimitWindow
from dragoman.cli.commands.usage import usage
from dragoman.cli.reports.usage import limit_lines
from dragoman.cli.reports.usage_table import short, table, tokens_of
from dragoman.cli.tables import money
from dragoman.model.usage import Usage

RUNS = Path(__file__).parents[1] / "data" / "codex" / "runs"
FORK = [str(RUNS / "0.146.0" / f"fork.rollout{number}.jsonl") for number in (1, 2)]

Run: TypeAlias = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in a home of its own; what it wrote."""
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")

    def run(*words: str, fails: bool = False) -> str:
        answer = CliRunner().invoke(usage, words, standalone_mode=True)
        assert (answer.exit_code != 0) is fails, answer.output
        return answer.output

    return run


def paths(*files: str) -> list[str]:
    return [word for file in files for word in ("--path", file)]


def told(text: str) -> Any:
    return json.loads(text)


# The table.


def test_a_table_has_tokens_money_bars_and_a_sum(run: Run) -> None:
    lines = run("--by", "session", *paths(*FORK)).splitlines()

    assert lines[0].split() == ["session", "input", "cached", "output", "reasoning", "cost"]
    assert len([line for line in lines if "█" in line]) == 2
    assert lines[4].split() == ["total", "1,040", "240", "120", "30", "$0.0077"]
    assert "\x1b" not in "".join(lines)


def test_a_table_is_not_wider_than_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for width in (60, 80, 120, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        for by in ("day", "project", "model", "session"):
            head = run("--by", by, *paths(str(RUNS))).split("\n\n")[0]
            assert max(map(len, head.splitlines())) <= width


def test_unknown_is_said_not_counted_as_nothing(run: Run) -> None:
    text = run("--by", "model", *paths(str(RUNS)))

    assert re.search(r"some-unknown-model +[\d,]+ .* unknown", text)
    assert "+?" in text
    assert "no known price for some-unknown-model" in text
    assert "without reported usage" in text


def test_a_session_without_usage_is_a_row_of_its_own(run: Run) -> None:
    [path] = RUNS.glob("0.8.0/chat*rollout.jsonl")
    text = run("--by", "session", *paths(str(path)))

    assert re.search(r"^[0-9a-f-]{36} +unknown$", text, re.MULTILINE)


def test_an_empty_home_says_so(run: Run) -> None:
    assert run() == "no usage found in 0 files\n"


def test_a_time_that_ends_before_it_begins_is_a_mistake(run: Run) -> None:
    text = run("--since", "2026-11-16", "--until", "2026-11-15", fails=True)

    assert "--since is after --until" in text
    assert run("--since", "2026-11-16", "--until", "2026-11-16", *paths(*FORK)).startswith("day ")


def test_a_cache_that_cannot_be_written_is_no_trouble(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    told = run(*paths(*FORK))
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "file" / "cache"))

    assert run(*paths(*FORK)) == told


def test_what_is_no_session_is_named_or_passed_over(run: Run, tmp_path: Path) -> None:
    day = tmp_path / "home" / "sessions"
    (day / "folder.jsonl").mkdir(parents=True)
    (day / "garbage.jsonl").write_bytes(b"garbage")
    (day / "empty.jsonl").write_bytes(b"")
    shutil.copy(FORK[0], day)

    text = run()
    assert f"not read: cannot read {day / 'folder.jsonl'}: it is a directory" in text
    assert re.search(r"^2026-11-16 +[\d,]+ ", text, re.MULTILINE)


def test_the_agents_own_folder_is_read(run: Run, tmp_path: Path) -> None:
    day = tmp_path / "home" / "sessions" / "2026" / "11" / "16"
    day.mkdir(parents=True)
    for file in FORK:
        shutil.copy(file, day)

    text = run()
    assert re.search(r"^2026-11-16 +1,040 ", text, re.MULTILINE)
    assert (tmp_path / "cache" / "usage.msgpack").exists()
    assert run() == text


def test_names_from_a_file_cannot_command_the_terminal() -> None:
    group = LedgerGroup(key="a\x1b[2Jb\nc", usage=Usage(1), cost=Decimal(1))
    text = "".join(table([group], group, "project", 80))

    assert "\x1b" not in text
    assert "\n" not in text


def test_colours_are_for_terminals() -> None:
    group = LedgerGroup(key="a", usage=Usage(1), cost=Decimal(1))

    assert "\x1b[" in "".join(table([group], group, "day", 80, color=True))
    assert "\x1b[" not in "".join(table([group], group, "day", 80))


def test_long_names_keep_their_end_and_wide_ones_their_place() -> None:
    groups = [
        LedgerGroup(key="/a/very/long/path/" * 9 + "project", usage=Usage(5), cost=Decimal(1)),
        LedgerGroup(key="/仕事/翻訳", usage=Usage(5, 0, 3), cost=Decimal(2)),
    ]
    lines = list(table(groups, groups[0], "project", 90))

    assert "/project " in lines[1]
    assert lines[1].startswith("…")
    assert "cache write" in lines[0]
    assert lines[2].index("$") + 4 == lines[1].index("$")  # four characters of two cells each


# Numbers.


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.00k"),
        (12_345, "12.3k"),
        (999_600, "1.00M"),
        (10**12, "1.00T"),
    ],
)
def test_counts_can_be_short(count: int, words: str) -> None:
    assert short(count) == words


def test_small_sums_keep_their_digits() -> None:
    assert money(Decimal("0.0042")) == "$0.0042"
    assert money(Decimal("1234.5")) == "$1,234.50"
    assert money(Decimal(0)) == "$0.00"
    assert tokens_of(Usage(10, 4, 2, 3, 1)) == "10 in, 4 cached, 2 written, 3 out, 1 reasoning"


# JSON.


def test_json_has_everything_the_table_has(run: Run) -> None:
    answer = told(run("--json", "--by", "model", *paths(*FORK)))

    [group] = answer["groups"]
    assert group["key"] == "gpt-5.5"
    assert group["usage"]["input_tokens"] == 1040
    assert group["cost"] == pytest.approx(0.00772)  # pyright: ignore[reportUnknownMemberType]
    assert (group["responses"], group["sessions"]) == (6, 2)
    assert answer["total"]["usage"] == group["usage"]
    assert answer["models_without_price"] == answer["silent_sessions"] == []


def test_json_says_null_for_what_is_unknown(run: Run) -> None:
    [path] = RUNS.glob("0.8.0/chat*rollout.jsonl")
    answer = told(run("--json", "--by", "session", *paths(str(path))))

    [group] = answer["groups"]
    assert group["usage"] is group["cost"] is answer["total"]["usage"] is None
    assert answer["silent_sessions"] == [group["key"]]


# Choosing.


def test_days_bound_what_is_counted(run: Run) -> None:
    def responses(*words: str) -> int:
        return told(run("--json", *words, *paths(*FORK)))["total"]["responses"]

    assert responses("--since", "2026-11-16", "--until", "2026-11-16") == 6
    assert responses("--since", "2026-11-17") == responses("--until", "2026-11-15") == 0
    assert responses("--project", "workspace", "--model", "GPT") == 6
    assert responses("--project", "elsewhere") == responses("--model", "none") == 0


@pytest.mark.parametrize("day", ["today", "yesterday", "7d", "2026-01-01"])
def test_days_can_be_said_in_several_ways(run: Run, day: str) -> None:
    run("--since", day, *paths(*FORK))


@pytest.mark.parametrize("day", ["soon", "2026-13-01", "99999999999d", ""])
def test_what_is_no_day_is_refused(run: Run, day: str) -> None:
    assert "is not a day" in run("--since", day, *paths(*FORK), fails=True)


def test_a_path_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    assert "does not exist" in run("--path", str(tmp_path / "none"), fails=True)


# Explaining.


def test_an_explanation_has_every_row_its_rule_and_its_price(run: Run) -> None:
    text = run("--by", "day", *paths(*FORK), "--explain", "2026-11-16")

    assert text.count("[response]  ") == 0
    assert text.count("fork.rollout1.jsonl:") == 4
    assert text.count("fork.rollout2.jsonl:") == 2
    assert "fork.rollout1.jsonl:11  session 01a1e226-18d3" in text
    assert "[response] the tokens of one model response" in text
    assert "gpt-5.5: $5 input, $0.5 cached, $5 written, $30 output per million (genai" in text
    assert "requests above 272,000 tokens" in text


def test_a_session_is_explained_by_the_beginning_of_its_name(run: Run) -> None:
    text = run("--by", "session", *paths(*FORK), "--explain", "01a1e226-18d3")

    assert text.count("rollout1.jsonl:") == 4
    assert "rollout2" not in text
    assert run(*paths(*FORK), "--explain", "1999-01-01").startswith("no rows of 1999-01-01")


def test_rows_can_be_had_as_json(run: Run) -> None:
    rows = [told(line) for line in run("--json", *paths(*FORK), "--explain").splitlines()]

    assert len(rows) == 6
    assert rows[0]["rule"] == "response"
    assert rows[0]["cost"] == "0.00107"
    assert rows[0]["line"] == 11


def test_a_model_without_price_is_explained_as_such(run: Run) -> None:
    text = run("--by", "model", *paths(str(RUNS)), "--explain", "some-unknown-model")

    assert "some-unknown-model: no known price" in text
    assert "no price  [response]" in text


# Own prices.


def test_own_prices_are_found_where_settings_lie(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "dragoman"
    folder.mkdir(parents=True)
    (folder / "prices.toml").write_text('[models."gpt-*"]\ninput = 1000\noutput = 0\n')

    assert "$1.04" in run(*paths(*FORK))


def test_own_prices_can_be_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[models."gpt-*"]\ninput = 2000\noutput = 0\n')

    assert "$2.08" in run("--prices", str(file), *paths(*FORK))


# Limits.


def test_limits_say_when_they_are_reset() -> None:
    now = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
    windows = [
        LimitWindow("primary", 12.4, datetime(2026, 11, 16, 14, 5, tzinfo=UTC)),
        LimitWindow("secondary", 50.0, datetime(2026, 11, 20, 15, 0, tzinfo=UTC)),
        LimitWindow("over", 99.0, datetime(2026, 11, 16, 11, 0, tzinfo=UTC)),
        LimitWindow("odd"),
    ]
    lines = list(limit_lines(Limits(now, "file", windows), now))

    assert lines[0].startswith("limits (reported 2026-11-16")
    assert "primary: 12 % used" in lines[1]
    assert lines[1].endswith("(in 2 h 5 min)")
    assert lines[2].endswith("(in 4 d 3 h)")
    assert "was reset" in lines[3]
    assert lines[4] == "  odd: unknown"


def test_limits_stand_below_the_table_and_in_json(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    limits = {"primary": {"used_percent": 7.0, "window_minutes": 300, "resets_at": 4_000_000_000}}
    payload = {"type": "token_count", "info": None, "rate_limits": limits}
    row = {"timestamp": "2026-11-16T02:00:00.000Z", "type": "event_msg", "payload": payload}
    file.write_text(json.dumps(row) + "\n")

    assert "primary: 7 % used, resets 2096-10-02" in run(*paths(str(file)))
    [window] = told(run("--json", *paths(str(file))))["limits"]["windows"]
    assert window["used_percent"] == 7
