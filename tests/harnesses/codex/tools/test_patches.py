from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.tools.patches import (
    absolute,
    changes_in_list,
    changes_in_map,
    changes_in_patch,
    changes_of,
    edit_call,
)

HUNK = "@@ -1,2 +1,2 @@\n hello\n-world\n+mundo\n"
MOVED = "@@ -1 +1 @@\n-alpha\n+beta\n"
TWO_FILES: list[dict[str, Any]] = [
    {"path": "/workspace/a1.txt", "kind": "add", "diff": "a\n"},
    {"path": "/workspace/added.txt", "kind": "update", "diff": HUNK},
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text() | st.sampled_from(["path", "kind", "type", "diff", "add", "move_path"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


# Four shapes, one list.


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {
                "/workspace/added.txt": {"update": {"unified_diff": HUNK, "move_path": None}},
                "/workspace/a1.txt": {"add": {"content": "a\n"}},
            },
            id="events to 0.58",
        ),
        pytest.param(
            {
                "/workspace/added.txt": {
                    "type": "update",
                    "unified_diff": HUNK,
                    "move_path": None,
                },
                "/workspace/a1.txt": {"type": "add", "content": "a\n"},
            },
            id="events and rollouts",
        ),
        pytest.param(
            [
                {
                    "path": "/workspace/added.txt",
                    "kind": {"type": "update", "move_path": None},
                    "diff": HUNK,
                },
                {"path": "/workspace/a1.txt", "kind": {"type": "add"}, "diff": "a\n"},
            ],
            id="app-server",
        ),
    ],
)
def test_one_change_to_two_files_is_the_same_in_every_shape(changes: Any) -> None:
    assert changes_of(changes) == TWO_FILES


def test_the_patch_itself_says_the_same_but_for_the_line_numbers() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: a1.txt\n+a\n*** Update File: added.txt\n"
        "@@\n hello\n-world\n+mundo\n*** End Patch"
    )

    assert changes_in_patch(patch, "/workspace") == [
        TWO_FILES[0],
        {**TWO_FILES[1], "diff": "@@\n hello\n-world\n+mundo\n"},
    ]


def test_exec_says_only_which_files() -> None:
    changes = [
        {"path": "/workspace/gone.txt", "kind": "delete"},
        {"path": "/workspace/added.txt", "kind": "add"},
    ]

    assert changes_in_list(changes) == [
        {"path": "/workspace/added.txt", "kind": "add"},
        {"path": "/workspace/gone.txt", "kind": "delete"},
    ]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(
            {
                "/workspace/mv_src.txt": {
                    "update": {"unified_diff": MOVED, "move_path": "/workspace/mv_dst.txt"}
                }
            },
            id="events to 0.58",
        ),
        pytest.param(
            {
                "/workspace/mv_src.txt": {
                    "type": "update",
                    "unified_diff": MOVED,
                    "move_path": "/workspace/mv_dst.txt",
                }
            },
            id="events and rollouts",
        ),
        pytest.param(
            [
                {
                    "path": "/workspace/mv_src.txt",
                    "kind": {"type": "update", "move_path": "/workspace/mv_dst.txt"},
                    "diff": f"{MOVED}\n\nMoved to: /workspace/mv_dst.txt",
                }
            ],
            id="app-server, which says it twice",
        ),
        pytest.param(
            [
                {
                    "path": "/workspace/mv_src.txt",
                    "kind": {"type": "update", "movePath": "/workspace/mv_dst.txt"},
                    "diff": MOVED,
                }
            ],
            id="in camelCase",
        ),
    ],
)
def test_a_file_that_moves_names_where_to(changes: Any) -> None:
    assert changes_of(changes) == [
        {
            "path": "/workspace/mv_src.txt",
            "kind": "update",
            "move_path": "/workspace/mv_dst.txt",
            "diff": MOVED,
        }
    ]


def test_a_file_that_says_moved_to_and_does_not_move_keeps_its_words() -> None:
    diff = "@@\n-x\n+Moved to: y\n\n\nMoved to: z"

    [change] = changes_in_list([{"path": "/a", "kind": {"type": "update"}, "diff": diff}])
    assert change["diff"] == diff


@pytest.mark.parametrize(
    ("value", "change"),
    [
        ("delete", {"kind": "delete"}),
        ({"delete": {"content": "was\n"}}, {"kind": "delete", "diff": "was\n"}),
        ({"type": "delete", "content": "was\n"}, {"kind": "delete", "diff": "was\n"}),
        ({"type": "delete"}, {"kind": "delete"}),
        ({}, {"kind": "update"}),
        (None, {"kind": "update"}),
    ],
    ids=str,
)
def test_a_deleted_file_may_come_with_or_without_its_content(
    value: Any, change: dict[str, Any]
) -> None:
    assert changes_in_map({"/workspace/gone.txt": value}) == [
        {"path": "/workspace/gone.txt", **change}
    ]


# The patch language.


@pytest.mark.parametrize(
    ("patch", "changes"),
    [
        pytest.param(
            "*** Begin Patch\n*** Add File: added.txt\n+hello\n+world\n*** End Patch",
            [{"path": "/workspace/added.txt", "kind": "add", "diff": "hello\nworld\n"}],
            id="add",
        ),
        pytest.param(
            "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch\n",
            [{"path": "/workspace/gone.txt", "kind": "delete"}],
            id="delete",
        ),
        pytest.param(
            "*** Begin Patch\n*** Update File: README.md\n@@\n # demo\n-old line\n+new line\n end\n"
            "*** End of File\n*** End Patch",
            [
                {
                    "path": "/workspace/README.md",
                    "kind": "update",
                    "diff": "@@\n # demo\n-old line\n+new line\n end\n",
                }
            ],
            id="update",
        ),
        pytest.param(
            "*** Begin Patch\n*** Update File: move.txt\n*** Move to: sub/moved.txt\n"
            "@@\n one\n-two\n+TWO\n three\n*** End Patch",
            [
                {
                    "path": "/workspace/move.txt",
                    "kind": "update",
                    "move_path": "/workspace/sub/moved.txt",
                    "diff": "@@\n one\n-two\n+TWO\n three\n",
                }
            ],
            id="move",
        ),
        pytest.param(
            "*** Begin Patch\n*** Add File: 日本/naïve 🚀.md\n+# タイトル\n+line\u2028with\n"
            "*** End Patch",
            [
                {
                    "path": "/workspace/日本/naïve 🚀.md",
                    "kind": "add",
                    "diff": "# タイトル\nline\u2028with\n",
                }
            ],
            id="any script",
        ),
        pytest.param(
            "*** Begin Patch\n*** Add File: x\n+\n++\n+*** Begin Patch\n*** End Patch",
            [{"path": "/workspace/x", "kind": "add", "diff": "\n+\n*** Begin Patch\n"}],
            id="content that looks like the language",
        ),
        pytest.param(
            "*** Begin Patch\n*** Add File: empty\n*** Add File: /abs/b\n+b\n*** End Patch",
            [
                {"path": "/abs/b", "kind": "add", "diff": "b\n"},
                {"path": "/workspace/empty", "kind": "add"},
            ],
            id="an empty file; sorted by path",
        ),
        pytest.param("*** Begin Patch\n*** Frobnicate: x\n*** End Patch", [], id="a bad patch"),
        pytest.param("words\n+more words", [], id="no patch"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_patch_is_read_as_its_changes(patch: str, changes: list[dict[str, Any]]) -> None:
    assert changes_in_patch(patch, "/workspace") == changes


@given(st.text(alphabet=st.sampled_from("*+-@ ab\n"), max_size=60), st.none() | st.just("/w"))
def test_no_patch_raises(body: str, cwd: str | None) -> None:
    patch = f"*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch"

    assert changes_in_patch(patch, cwd)[0]["path"] == ("f" if cwd is None else "/w/f")


@given(st.lists(st.text(alphabet="ab +-*@", max_size=8), max_size=6))
def test_the_content_of_an_added_file_comes_out_as_it_went_in(lines: list[str]) -> None:
    body = "".join(f"+{line}\n" for line in lines)
    patch = f"*** Begin Patch\n*** Add File: f\n{body}*** End Patch"

    [change] = changes_in_patch(patch, None)
    assert change.get("diff", "") == "".join(f"{line}\n" for line in lines)


@given(json_values)
def test_no_set_of_changes_raises(value: Any) -> None:
    for change in changes_of(value):
        assert isinstance(change["path"], str)
        assert isinstance(change["kind"], str)


# The call.


@pytest.mark.parametrize(
    ("kinds", "tool"),
    [
        (["add"], "Write"),
        (["add", "add"], "Write"),
        (["update"], "Edit"),
        (["delete"], "Edit"),
        (["add", "update"], "Edit"),
        ([], "Edit"),
    ],
)
def test_files_that_are_only_added_are_written(kinds: list[str], tool: str) -> None:
    changes = [{"path": f"/workspace/{n}", "kind": kind} for n, kind in enumerate(kinds)]

    name, call = edit_call(changes)

    assert (name, call["changes"]) == (tool, changes)
    assert call.get("file_path") == ("/workspace/0" if len(kinds) == 1 else None)


@pytest.mark.parametrize(
    ("path", "cwd", "seen"),
    [
        ("a.txt", "/workspace", "/workspace/a.txt"),
        ("./sub/../a.txt", "/workspace/", "/workspace/a.txt"),
        ("../a.txt", "/workspace/sub", "/workspace/a.txt"),
        ("/etc/hosts", "/workspace", "/etc/hosts"),
        ("C:\\a.txt", "/workspace", "C:\\a.txt"),
        ("a.txt", None, "a.txt"),
    ],
)
def test_a_path_is_seen_from_where_the_session_works(path: str, cwd: str | None, seen: str) -> None:
    assert absolute(path, cwd) == seen


def test_one_hunk_has_the_inputs_of_an_edit() -> None:
    diff = "@@ -1,3 +1,3 @@\n def greet():\n-    pass\n+    return 1\n \n"

    tool, call = edit_call([{"path": "/w/a.py", "kind": "update", "diff": diff}])

    assert tool == "Edit"
    assert call["old_string"] == "def greet():\n    pass\n"
    assert call["new_string"] == "def greet():\n    return 1\n"
    assert call["changes"][0]["diff"] == diff


def test_several_hunks_are_several_edits() -> None:
    diff = "@@\n-a\n+b\n@@\n-c\n+d\n\\ No newline at end of file\n"

    _, call = edit_call([{"path": "/w/a.py", "kind": "update", "diff": diff}])

    assert call["edits"] == [
        {"old_string": "a", "new_string": "b"},
        {"old_string": "c", "new_string": "d"},
    ]


def test_a_new_file_has_content_and_others_have_only_changes() -> None:
    added = {"path": "/w/a.py", "kind": "add", "diff": "x\n"}
    deleted = {"path": "/w/b.py", "kind": "delete", "diff": "x\n"}

    assert edit_call([added])[1]["content"] == "x\n"
    assert edit_call([deleted])[1].keys() == {"changes", "file_path"}
    assert edit_call([added, deleted])[1].keys() == {"changes"}
    assert "content" not in edit_call([{"path": "/w/a.py", "kind": "add"}])[1]
