"""Rules about runs that were recorded on both sides: the live stream equals the session file."""

from __future__ import annotations

from collections.abc import Iterator

from dragoman.testing.conformance.check import ConformanceRule
from dragoman.testing.conformance.corpus import Corpus
from dragoman.testing.conformance.pairs import Pair, Recording, compare


def live_equals_disk(corpus: Corpus) -> Iterator[str]:
    """Both fold to the same turns, except for what the harness lists in its ``limits``."""
    live = list(_live(corpus))
    history = corpus.harness.history
    if not live and history is not None and not history.journals:
        yield "no run was recorded on both sides, as a live stream and as a session file"
    for recording in live:
        pairs = list(compare(corpus.harness, recording, corpus.leaves))
        if not pairs:
            yield f"{recording.path.name}: no session of it is in the files that it left"
        for pair in pairs:
            for difference in pair.differences()[:3]:
                yield f"{recording.path.name}: {str(difference)[:600]}"


def every_limit_is_needed(corpus: Corpus) -> Iterator[str]:
    """A limit that no recording needs may hide a difference."""
    needed = {id(limit) for pair in _pairs(corpus) for limit in pair.needed()}
    for limit in corpus.harness.limits:
        if id(limit) not in needed:
            yield f"{limit.dialect}: {limit.what} ({limit.releases}) is needed by no recording"


def _pairs(corpus: Corpus) -> Iterator[Pair]:
    for recording in _live(corpus):
        yield from compare(corpus.harness, recording, corpus.leaves)


def _live(corpus: Corpus) -> Iterator[Recording]:
    for recorded in corpus.all:
        recording = Recording.at(recorded.path)
        if recording.left(corpus.leaves):
            yield recording


RULES: tuple[ConformanceRule, ...] = (live_equals_disk, every_limit_is_needed)
