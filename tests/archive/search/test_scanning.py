from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.archive.search.scanning import Pattern, scan
from support.archive.store_rows import file_row


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", b'{"x":"a plain word"}'),
        ('say "hi"', b'{"x":"say \\"hi\\" now"}'),
        ('say "hi"', b'{"x":"{\\"cmd\\":\\"say \\\\\\"hi\\\\\\"\\"}"}'),
        ("a\nb", b'{"x":"a\\nb"}'),
        ("C:\\dir", b'{"x":"C:\\\\dir"}'),
        ("文件", '{"x":"文件"}'.encode()),
        ("文件", b'{"x":"\\u6587\\u4ef6"}'),
        ("😀", b'{"x":"\\ud83d\\ude00"}'),
    ],
)
def test_text_is_found_however_json_writes_it(text: str, line: bytes) -> None:
    assert Pattern(text).find(line) > 0
    assert Pattern("not there").find(line) == -1


def test_lines_are_given_with_the_byte_where_they_begin(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo word word\nthree\nword")
    row = file_row(str(tmp_path / "a"))._replace(size=28)

    hits = list(scan([row], "word"))

    assert [(hit.offset, hit.line) for hit in hits] == [(4, b"two word word"), (24, b"word")]


def test_files_that_are_gone_or_empty_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    rows = [file_row(str(tmp_path / "gone"))._replace(size=9), file_row(str(tmp_path / "empty"))]
    rows.append(rows[1]._replace(size=5))  # emptied since it was indexed

    assert list(scan(rows, "word")) == []
