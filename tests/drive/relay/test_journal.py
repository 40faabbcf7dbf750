from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dragoman.drive.relay import records
from dragoman.drive.relay.journal import JournalReader, RelayJournal, read_journal
from dragoman.drive.relay.records import Record, RecordSplitter


def _fill(journal: RelayJournal, count: int, size: int = 40) -> None:
    for _ in range(count):
        number = journal.next
        journal.append(records.OUTPUT, b"%d " % number + b"x" * size, at=number)


def test_lines_that_were_written_at_once_have_numbers_of_their_own(tmp_path: Path) -> None:
    journal = RelayJournal(str(tmp_path))
    journal.append(records.OUTPUT, b"one", at=5)
    journal.append(records.OUTPUT, b"two\nthree\n\nfive", at=6, count=4)
    journal.append(records.ENDED, b"0 ", at=7)

    for first, lines in ((2, b"two\nthree\n\nfive"), (3, b"three\n\nfive"), (4, b"\nfive")):
        data, _ = (reader := JournalReader(journal, first)).read()
        [record, *_] = RecordSplitter().receive(data)
        assert record == Record(first, 6 - first, 6, records.OUTPUT, lines)
        assert next(read_journal(str(tmp_path), first)) == record
        if first > 2:
            assert [each.number for each in RecordSplitter().receive(reader.read()[0])] == [6]
    assert journal.next == 7


def _rest(reader: JournalReader) -> tuple[list[int], list[int]]:
    """The numbers that are left to read, and the gaps before them."""
    splitter, gaps, found = RecordSplitter(), list[int](), list[int]()
    while reader.is_behind:
        data, gap = reader.read()
        if gap is not None:
            gaps.append(gap)
        for record in splitter.receive(data):
            assert len(record.lines()) == record.span
            found += range(record.number, record.end)
    return found, gaps


@pytest.mark.parametrize("first", [1, 2, 57, 199, 200, 201])
def test_a_reader_gets_every_record_from_its_number_on(tmp_path: Path, first: int) -> None:
    journal = RelayJournal(str(tmp_path), segment_bytes=1000)
    _fill(journal, 200)
    reader = JournalReader(journal, first)

    assert _rest(reader) == ([*range(first, 201)], [])
    _fill(journal, 100)
    assert _rest(reader) == ([*range(201, 301)], [])
    assert len(list(tmp_path.iterdir())) > 10


def test_a_part_of_a_large_journal_holds_whole_records(tmp_path: Path) -> None:
    journal = RelayJournal(str(tmp_path))
    _fill(journal, 30, size=50_000)
    journal.append(records.OUTPUT, b"y" * 3_000_000, at=1)
    _fill(journal, 30, size=50_000)
    reader, numbers = JournalReader(journal, 1), list[int]()
    while reader.is_behind:
        data, _ = reader.read()
        numbers += [record.number for record in RecordSplitter().receive(data)]

    assert numbers == [*range(1, 62)]


def test_the_oldest_files_are_deleted_and_a_reader_learns_what_it_missed(tmp_path: Path) -> None:
    journal = RelayJournal(str(tmp_path), segment_bytes=1000, max_bytes=5000)
    _fill(journal, 30)
    sleeping = JournalReader(journal, 5)
    _fill(journal, 1000)

    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 7000
    found, [gap] = _rest(sleeping)
    assert gap == journal.first - 1
    kept = [number for number in found if number <= 30]
    assert kept == [*range(5, kept[-1] + 1)]  # the file that it had open is read to its end
    assert [number for number in found if number > gap] == [*range(gap + 1, 1031)]
    assert JournalReader(journal, 1).read()[0].startswith(b"%d " % journal.first)


def test_a_record_that_cannot_be_written_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = RelayJournal(str(tmp_path))
    _fill(journal, 3)
    real = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) > 10:
            return real(file, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            journal.append(records.OUTPUT, b"lost" * 10, at=4)
    _fill(journal, 1)

    assert [record.number for record in read_journal(str(tmp_path))] == [1, 2, 3, 4]


def test_a_journal_without_a_relay_is_read_up_to_its_torn_end(tmp_path: Path) -> None:
    journal = RelayJournal(str(tmp_path), segment_bytes=1000)
    _fill(journal, 100)
    journal.close()
    last = max(tmp_path.iterdir())
    last.write_bytes(last.read_bytes()[:-7])

    whole = [record.number for record in read_journal(str(tmp_path), 42)]
    assert whole == [*range(42, 100)]
    assert next(read_journal(str(tmp_path))) == Record(1, 1, 1, b"o", b"1 " + b"x" * 40)
