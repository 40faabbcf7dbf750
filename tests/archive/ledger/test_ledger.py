from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.archive.finding import by_hand
from dragoman.archive.ledger.entries import RULES
from dragoman.archive.ledger.groups import BY, summary
from dragoman.archive.ledger.ledger import Ledger, LedgerFilter, LedgerRow, find_files
from dragoman.archive.ledger.prices import Prices
from dragoman.archive.ledger.reading import read_file_usage
from dragoman.model.messages import TurnEnded
from dragoman.model.turns import fold
from dragoman.model.usage import Usage
from dragoman.reading.read import read

RUNS = Path(__file__).parents[2] / "data" / "codex" / "runs"
LEDGER = RUNS.parent / "ledger"
FORK_0_146 = [RUNS / "0.146.0" / f"fork.rollout{number}.jsonl" for number in (1, 2)]


def ledger(paths: Iterable[Path]) -> Ledger:
    # One by one: tests have other things to do than to start processes.
    return Ledger({str(path): read_file_usage(path) for path in paths})


def spent(paths: Iterable[Path]) -> dict[str, int]:
    """Input and output by the end of each session's name."""
    tokens: dict[str, int] = {}
    for row in ledger(paths).rows():
        name = row.session_id[-4:]
        tokens[name] = tokens.get(name, 0) + row.usage.total_tokens
    return tokens


# Rows.


def test_a_row_says_where_it_stands_and_how_it_was_counted() -> None:
    first = next(ledger(FORK_0_146).rows())

    assert first == LedgerRow(
        session_id="01a1e226-18d3-7a62-9642-c87925ee51ec",
        turn_id=first.turn_id,
        at=datetime(2026, 11, 16, 2, 18, 30, 152000, tzinfo=UTC),
        model="gpt-5.5",
        project="/workspace",
        usage=Usage(130, 40, 0, 20, 5),
        file=str(FORK_0_146[0]),
        line=11,
        rule="response",
        price_version=Prices().of("gpt-5.5").version,  # pyright: ignore[reportOptionalMemberAccess]
        cost=Decimal("0.00107"),
    )


def test_every_row_points_at_a_line_that_tells_tokens() -> None:
    for row in ledger(RUNS.glob("*/*rollout*.jsonl")).rows():
        line = Path(row.file).read_bytes().split(b"\n")[row.line - 1]
        assert b"token" in line, row
        assert row.rule in RULES


def test_a_model_without_a_price_has_no_cost() -> None:
    rows = [row for row in ledger(RUNS.glob("*/*.jsonl")).rows() if row.price_version is None]

    assert rows
    assert {row.cost for row in rows} == {None}
    assert {row.model for row in rows} == {None, "some-unknown-model"}


# Rules.


def test_a_turn_is_worth_what_the_turn_itself_says() -> None:
    """The parser counts a turn's own tokens in another way: both must agree."""
    for path in sorted(RUNS.glob("*/*.jsonl")):
        if "fork.appserver" in path.name or "rollout2" in path.name:
            continue  # what is told there belongs to several sessions
        if fold(read(path))[-1].ended is None:
            continue  # nothing says what a turn without an end has spent in all
        turns = sum(
            message.usage.total_tokens
            for message in read(path, only={"turn_ended"})
            if isinstance(message, TurnEnded) and message.usage is not None
        )
        assert sum(spent([path]).values()) == turns, path


def test_a_counter_that_starts_anew_with_each_process_loses_nothing() -> None:
    [path] = LEDGER.glob("resume-0.39/*rollout.jsonl")
    rows = list(ledger([path]).rows())

    assert [row.usage.total_tokens for row in rows] == [140, 160, 180]
    assert rows[-1].rule == "counter restarted"


def test_an_overflow_costs_nothing_and_hides_nothing() -> None:
    [path] = RUNS.glob("*/err_then_ok.rollout.jsonl")
    account = read_file_usage(path)

    assert all(entry.usage for entry in account.entries)
    assert sum(spent([path]).values()) > account.entries[-1].total_input


# The same response in several files.


@pytest.mark.parametrize(
    ("release", "own", "inherited"),
    [("0.87.0", 520, 540), ("0.146.0", 440, 510), ("0.166.0", 460, 540)],
)
def test_a_fork_does_not_pay_for_its_parent_again(release: str, own: int, inherited: int) -> None:
    parent, fork = (RUNS / release / f"fork.rollout{number}.jsonl" for number in (1, 2))
    alone, both = spent([parent]), spent([parent, fork])

    [name] = alone
    assert both[name] == alone[name]
    assert {each: tokens for each, tokens in both.items() if each != name} == {
        next(each for each in both if each != name): own
    }
    if release != "0.166.0":  # which only refers to its parent
        assert spent([fork])[name] == inherited


def test_the_row_of_the_sessions_own_file_is_kept() -> None:
    rows = [row for row in ledger(FORK_0_146).rows() if row.session_id.endswith("51ec")]

    assert {row.file for row in rows} == {str(FORK_0_146[0])}


def test_a_revert_spends_twice_what_looks_the_same() -> None:
    files = [RUNS / "0.166.0" / f"revert.rollout{number}.jsonl" for number in (1, 2)]
    first, second = spent(files[:1]), spent(files[1:])

    [name] = first
    assert spent(files)[name] == first[name] + second[name]


@pytest.mark.parametrize(
    "case",
    [
        "0.87.0/fork",
        "0.146.0/fork",
        "0.166.0/fork",
        "0.166.0/revert",
        "0.128.0/subagent_v1",
        "0.166.0/subagent_v1",
        "0.125.0/subagent_v2",
        "0.153.0/kill_then_resume",
        "0.166.0/review",
    ],
)
def test_a_recording_of_the_program_adds_nothing_to_its_session_files(case: str) -> None:
    release, _, name = case.partition("/")
    files = sorted((RUNS / release).glob(f"{name}.rollout*.jsonl"))
    assert files
    streams = list((RUNS / release).glob(f"{name}.appserver.jsonl"))

    assert spent([*files, *streams]) == spent(files)


@pytest.mark.parametrize("case", ["0.107.0/subagent_v1", "0.135.0/subagent_v2"])
def test_totals_of_turns_add_nothing_to_a_session_file(case: str) -> None:
    release, _, name = case.partition("/")
    files = sorted((RUNS / release).glob(f"{name}.exec-rollout*.jsonl"))

    assert spent([*files, RUNS / release / f"{name}.exec.jsonl"]) == spent(files)


def test_captures_of_one_session_go_on_from_each_other() -> None:
    """Since 0.79 each run tells the whole session's total."""
    captures = [path for path in LEDGER.glob("resume-0.166/*.jsonl") if "fork" not in path.name]
    totals = [read_file_usage(path).entries[-1] for path in captures]
    greatest = max(entry.total_input + entry.total_output for entry in totals)

    [session] = {entry.session[-4:] for entry in totals}
    assert spent(captures) == {session: greatest}


def test_a_session_that_nobody_names_is_one_file() -> None:
    [capture] = LEDGER.glob("resume-0.39/resume.exec.jsonl")

    [session] = {row.session_id for row in ledger([capture]).rows()}
    assert session.startswith("unnamed-")


# Orders.

_FAMILIES = [
    [*FORK_0_146, RUNS / "0.146.0" / "fork.appserver.jsonl"],
    sorted(RUNS.glob("0.166.0/revert.*.jsonl")),
    sorted(RUNS.glob("0.125.0/subagent_v2.*.jsonl")),
    sorted(LEDGER.glob("resume-0.166/*.jsonl")),
    sorted(LEDGER.glob("resume-0.104/*.jsonl")),
]
_ACCOUNTS = {str(path): read_file_usage(path) for family in _FAMILIES for path in family}


@given(st.data())
def test_neither_the_order_of_files_nor_their_repetition_matters(data: st.DataObject) -> None:
    family = [str(path) for path in data.draw(st.sampled_from(_FAMILIES))]
    given_files = data.draw(st.permutations(family * 2))

    accounts = {path: _ACCOUNTS[path] for path in given_files}
    assert list(Ledger(accounts).rows()) == list(
        Ledger({path: _ACCOUNTS[path] for path in family}).rows()
    )


def test_a_copy_under_another_name_adds_nothing(tmp_path: Path) -> None:
    for family in _FAMILIES:
        copies: list[Path] = []
        for number, path in enumerate(family):
            copy = tmp_path / f"{random.Random(number).random()}-{path.parent.name}-{path.name}"
            copy.write_bytes(path.read_bytes())
            copies.append(copy)
        assert spent([*copies, *family]) == spent(family)


# Silence and trouble.


def test_a_session_without_usage_is_unknown_not_free() -> None:
    [path] = RUNS.glob("0.8.0/*tools*rollout.jsonl")
    quiet = ledger([path])

    assert list(quiet.rows()) == []
    assert len(quiet.silent_sessions()) == 1
    told = summary(quiet, "session")
    assert told.total.usage is None
    assert told.total.silent_sessions == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"

    assert list(ledger([gone]).problems) == [str(gone)]


@pytest.mark.parametrize("content", [b"", b"\n", b"not json\n", b'{"a":1}\n', b"\xff\xfe"])
def test_a_file_that_is_no_session_has_no_rows(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)

    assert list(ledger([path]).rows()) == []


# Choosing and summing.


def test_rows_are_chosen_by_time_project_and_model() -> None:
    everything = ledger(RUNS.glob("*/*rollout*.jsonl"))
    noon = datetime(2026, 11, 16, 0, 0, tzinfo=UTC)

    def count(choice: LedgerFilter) -> int:
        return len(list(everything.rows(choice)))

    timed = [row for row in everything.rows() if row.at is not None]
    early, late = count(LedgerFilter(until=noon)), count(LedgerFilter(since=noon))
    assert early
    assert late
    assert early + late == len(timed)
    assert count(LedgerFilter(project="/workspace")) == count(LedgerFilter(project="space")) > 0
    assert count(LedgerFilter(project="/elsewhere")) == 0
    assert 0 < count(LedgerFilter(model="GPT-5.5")) < len(timed)


@pytest.mark.parametrize("by", BY)
def test_sums_are_the_sums_of_their_rows(by: str) -> None:
    everything = ledger(RUNS.glob("*/*.jsonl"))
    rows = list(everything.rows())
    told = summary(everything, by)  # pyright: ignore[reportArgumentType]

    usage, cost, unpriced = Usage(), Decimal(0), 0
    for row in rows:
        usage += row.usage
        cost += row.cost or 0
        unpriced += row.usage.total_tokens if row.cost is None else 0
    assert told.total.usage == usage
    assert told.total.cost == cost
    assert told.total.unpriced_tokens == unpriced
    assert told.total.responses == len(rows) == sum(group.responses for group in told.groups)
    assert sum((group.cost or Decimal(0) for group in told.groups), Decimal(0)) == cost


def test_days_are_in_order_and_others_by_size() -> None:
    everything = ledger(RUNS.glob("*/*rollout*.jsonl"))
    days = [group.key for group in summary(everything, "day").groups]
    models = [group.usage for group in summary(everything, "model").groups]

    assert days == sorted(days, key=lambda day: (day.startswith("("), day))
    sizes = [usage.total_tokens for usage in models if usage is not None]
    assert sizes == sorted(sizes, reverse=True)


# Finding.


def test_the_files_of_every_harness_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "16"
    folder.mkdir(parents=True)
    (tmp_path / "archived_sessions").mkdir()
    (folder / "rollout-a.jsonl").write_bytes(b"")
    (folder / "rollout-b.jsonl.zst").write_bytes(b"")
    (folder / "notes.txt").write_bytes(b"")
    (tmp_path / "archived_sessions" / "rollout-c.jsonl").write_bytes(b"")

    found = find_files((), {"CODEX_HOME": str(tmp_path)})

    assert sorted(Path(each.path).name[8] for each in found) == ["a", "b", "c"]
    assert [each.path for each in find_files([folder / "rollout-a.jsonl"])] == [
        each.path for each in by_hand([folder / "rollout-a.jsonl"])
    ]


def test_a_session_that_only_copied_rows_are_left_of_has_the_harness_of_that_file() -> None:
    files = sorted(
        (Path(__file__).parents[2] / "data/claude/claude-transcript/fork").glob("*.jsonl")
    )
    ledger = Ledger.read(by_hand(files), prices=Prices())

    sessions = {row.session_id for row in ledger.rows()}
    assert sessions - set(ledger.sessions)  # the parent has no file
    assert {ledger.harness_of(each) for each in sessions} == {"claude"}
    assert ledger.harness_of("no such session") is None
