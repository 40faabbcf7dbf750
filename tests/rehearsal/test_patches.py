from __future__ import annotations

from dragoman.rehearsal.patches import (
    FileChange,
    changes_of,
    patch_that_edits,
    patch_that_writes,
)

_PATCH = """\
*** Begin Patch
*** Add File: a.txt
+one
+
*** Update File: b.txt
*** Move to: c.txt
@@ def f():
 same
-old
+new

@@
+added
*** Delete File: d.txt
*** End Patch
"""


def test_a_patch_is_taken_apart_file_by_file() -> None:
    assert changes_of(_PATCH) == [
        FileChange("add", "a.txt", "one\n\n"),
        FileChange(
            "update",
            "b.txt",
            hunks=(("same\nold\n", "same\nnew\n"), ("", "added")),
            moved_to="c.txt",
        ),
        FileChange("delete", "d.txt"),
    ]


def test_a_file_and_a_change_are_put_into_a_patch_that_means_the_same() -> None:
    assert changes_of(patch_that_writes("a", "x\ny\n")) == [FileChange("add", "a", "x\ny\n")]
    assert changes_of(patch_that_edits("a", "x\ny", "z")) == [
        FileChange("update", "a", hunks=(("x\ny", "z"),))
    ]
    assert changes_of(patch_that_edits("a", "x", "")) == [
        FileChange("update", "a", hunks=(("x", ""),))
    ]


def test_what_is_no_patch_changes_nothing() -> None:
    assert changes_of("hello\n+there") == []
