from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dragoman.store.database import Database
from dragoman.store.entries import _UNSPACED, Entries, IndexedLine, IndexedMessage, spaced
from dragoman.store.search import MessageSearch
from support.archive.store_rows import lines, put


def test_drafts_are_taken_back_words_and_all(database: Database) -> None:
    file_id = put(database, "stays")
    entries = Entries(database)
    entries.add(file_id, [(IndexedMessage("text", 1, 2, 10, 5), "drafted 文件")], drafts=True)
    assert lines(database, "drafted") == [2]

    entries.take_back_drafts(file_id)
    entries.add(file_id, [(IndexedMessage("text", 1, 3, 10, 5), "final")])

    assert (lines(database, "drafted"), lines(database, "final")) == ([], [3])
    assert database.row("SELECT count(*) FROM texts WHERE texts MATCH 'drafted'")[0] == 0
    assert entries.known_from(file_id, 2) == [IndexedLine(3, "text")]
    assert entries.count() == 2


def test_neighbours_stay_in_the_file(database: Database) -> None:
    put(database, "before", path="/home/0.jsonl", session="s0")
    put(database, "a", "b", "c", "d")
    [match] = MessageSearch(database).find("b").matches

    near = MessageSearch(database).get(Entries(database).near(match.entry_id, 2))

    assert [each.line for each in near] == [1, 2, 3, 4]
    assert {each.session_id for each in near} == {"s1"}


def test_entries_by_the_byte_where_they_begin(database: Database) -> None:
    file_id = put(database, "a", "b", "c")

    assert set(Entries(database).by_offsets(file_id, [10, 20, 999])) == {10, 20}


def test_halves_of_surrogate_pairs_do_no_harm(database: Database) -> None:
    file_id = put(database, "half \ud800 pair")
    Entries(database).add(file_id, [(IndexedMessage("tool_call", 1, 9, 0, 1, "odd\udfff"), "tool")])

    assert lines(database, "pair") == [1]
    assert lines(database, "tool") == [9]


_EACH = st.sampled_from("aß\u2192\u201c \u0e01\u1780\u3042\u4e00\uff66\U00020000\U0001f600")


@given(st.text(st.characters() | _EACH, max_size=20))
def test_the_quick_look_misses_no_script_without_spaces(text: str) -> None:
    assert spaced(text) == re.sub(_UNSPACED, r" \g<0> ", text)


def test_the_first_and_the_last_of_every_script_without_spaces_are_words() -> None:
    ranges = re.findall(r"(\\[uU]\w+)-(\\[uU]\w+)", _UNSPACED)
    ends = [int(end[2:], 16) for pair in ranges for end in pair]
    assert len(ends) > 20

    for end in ends:
        assert spaced(f"é{chr(end)}b") == f"é {chr(end)} b", hex(end)
    for other in (0x80, 0xDFF, 0x1FFF, 0x2000, 0x2E7F, 0xFFFF, 0x1F600, 0x40000, 0x10FFFF):
        assert spaced(f"é{chr(other)}b") == f"é{chr(other)}b", hex(other)
