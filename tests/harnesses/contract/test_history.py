from __future__ import annotations

from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.history import OwnList


def test_every_harness_that_keeps_sessions_says_where() -> None:
    for harness in all_harnesses():
        if harness.history is not None:
            assert harness.history.places or harness.history.database
            assert all(suffix.endswith((".jsonl", ".zst")) for suffix in harness.history.suffixes)
            assert harness.history.home({"HOME": "/me"}).startswith("/me/")


def test_no_two_harnesses_keep_sessions_in_the_same_folder_of_a_home() -> None:
    """A home given by ``--home`` is that of every harness."""
    folders = [
        place.folder
        for harness in all_harnesses()
        if harness.history is not None
        for place in harness.history.places
    ]
    assert len(set(folders)) == len(folders)


def test_the_newest_of_a_harness_s_own_lists_counts() -> None:
    own = OwnList(prefix="state_", suffix=".sqlite", table="t", id_column="i", path_column="p")

    names = ["state_9.sqlite", "state_10.sqlite", "state_11.sqlite-wal", "state_.sqlite", "x"]
    assert own.newest_of(names) == "state_10.sqlite"
    assert own.newest_of(["state_x.sqlite", "logs_2.sqlite"]) is None
