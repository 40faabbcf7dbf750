"""Clear the index, and compact it after many writes."""

from __future__ import annotations

from dragoman.store.database import Database


def clear(database: Database, edition: int) -> None:
    """Delete everything in one transaction."""
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
    """Return how many deleted messages still have text in the full-text table, where it matches nothing."""
    return int(database.fact("orphans") or 0)


def untidy(database: Database) -> int:
    """Return how many messages were written since the last :func:`tidy`, over all runs."""
    return int(database.fact("untidy") or 0)


def tidy(database: Database) -> None:
    """Merge the segments of the full-text table and checkpoint the log, after many writes."""
    database.set_fact("untidy", 0)
    database.write("INSERT INTO texts (texts) VALUES ('optimize')")
    database.write("PRAGMA optimize")
    database.shrink()
