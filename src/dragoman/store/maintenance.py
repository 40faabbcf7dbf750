"""Beginning anew, and putting in order: what concerns the index as a whole."""

from __future__ import annotations

from dragoman.store.database import Database


def clear(database: Database, edition: int) -> None:
    """Forget everything, in one step."""
    database.begin()
    database.write("INSERT INTO texts (texts) VALUES ('delete-all')")
    for table in (
        "entries",
        "spans",
        "drafts",
        "files",
        "sessions",
        "marks",
        "turns",
        "tools",
        "names",
        "folders",
        "facts",
    ):
        database.write(f"DELETE FROM {table}")
    database.set_fact("edition", edition)
    database.commit()


def orphans(database: Database) -> int:
    """How many entries are gone whose words are still there, and match nothing."""
    return int(database.fact("orphans") or 0)


def untidy(database: Database) -> int:
    """How many entries were written since it was last put in order, by however many runs."""
    return int(database.fact("untidy") or 0)


def tidy(database: Database) -> None:
    """After much was written: fold the pieces of the full-text table into one, and the journal."""
    database.set_fact("untidy", 0)
    database.write("INSERT INTO texts (texts) VALUES ('optimize')")
    database.write("PRAGMA optimize")
    database.shrink()
