from __future__ import annotations

from typing import Any

import pytest

from dragoman.harnesses.writing.edits import FileEdit, Hunk, changes_in
from dragoman.model.messages import ToolCall


def _changes(tool: str, **given: Any) -> list[FileEdit] | None:
    return changes_in(ToolCall(call_id="c", tool=tool, native_tool=tool, input=given))


def test_a_file_that_is_written() -> None:
    assert _changes("Write", file_path="/a", content="x\n") == [
        FileEdit(path="/a", kind="add", content="x\n")
    ]


def test_one_place_or_several_of_a_file() -> None:
    one = {"old_string": "a", "new_string": "b"}
    other = {"old_string": "c", "new_string": ""}

    assert _changes("Edit", file_path="/a", **one) == [
        FileEdit(path="/a", kind="update", hunks=(Hunk("a", "b"),))
    ]
    assert _changes("Edit", file_path="/a", edits=[one, other]) == [
        FileEdit(path="/a", kind="update", hunks=(Hunk("a", "b"), Hunk("c", "")))
    ]


def test_a_list_of_changes_with_diffs() -> None:
    changes = [
        {"path": "/new", "kind": "add", "diff": "x\n"},
        {"path": "/gone", "kind": "delete", "diff": "y\n"},
        {"path": "/a", "kind": "update", "diff": "@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@\n-x\n+y\n"},
        {"path": "/b", "kind": "update", "move_path": "/c"},
    ]

    assert _changes("Edit", changes=changes) == [
        FileEdit(path="/new", kind="add", content="x\n"),
        FileEdit(path="/gone", kind="delete", content="y\n"),
        FileEdit(path="/a", kind="update", hunks=(Hunk("one\ntwo", "one\n2"), Hunk("x", "y"))),
        FileEdit(path="/b", kind="update", move_path="/c"),
    ]


def test_names_of_files_and_missing_newlines_are_no_lines_of_a_hunk() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n"
    assert _changes("Edit", changes=[{"path": "/a", "kind": "update", "diff": diff}]) == [
        FileEdit(path="/a", kind="update", hunks=(Hunk("one", "two"),))
    ]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"file_path": "/a"},
        {"file_path": "/a", "old_string": "x"},
        {"changes": [{"path": "/a", "kind": "update"}]},
        {"changes": ["odd"]},
        {"file_path": 3, "content": None},
    ],
)
def test_an_input_that_does_not_say_what_changed(given: dict[str, Any]) -> None:
    assert _changes("Edit", **given) is None


def test_other_tools_change_nothing() -> None:
    assert _changes("Read", file_path="/a", content="x") is None
