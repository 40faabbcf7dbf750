from __future__ import annotations

from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.history import OwnList


def test_every_harness_that_keeps_sessions_says_where() -> None:
    for harness in all_harnesses():
        if harness.history is not None:
            assert harness.history.places or harness.history.database
            assert all(suffix.endswith((".jsonl", ".zst")) for suffix in harness.history.suffixes)
            assert harness.history.home({"HOME": "/me"}).startswith("/me/")


def test_journals_of_ours_are_in_no_folder_that_a_program_uses() -> None:
    """A home given by hand is that of every harness. Programs choose their own folders, and two may choose one."""
    kept = [each.history for each in all_harnesses() if each.history is not None]
    ours = {place.folder for each in kept if each.journals for place in each.places}
    theirs = {place.folder for each in kept if not each.journals for place in each.places}

    assert ours
    assert not ours & theirs


def test_the_newest_of_a_harness_s_own_lists_counts() -> None:
    own = OwnList(prefix="state_", suffix=".sqlite", table="t", id_column="i", path_column="p")

    names = ["state_9.sqlite", "state_10.sqlite", "state_11.sqlite-wal", "state_.sqlite", "x"]
    assert own.newest_of(names) == "state_10.sqlite"
    assert own.newest_of(["state_x.sqlite", "logs_2.sqlite"]) is None
