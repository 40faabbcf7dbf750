"""Dragoman's own messages as a dialect: what ``--to messages`` and ``--json`` wrote is read again.

It has no program behind it, so it is only read: nothing is driven, repaired or found on the disk.
"""

from __future__ import annotations

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.lazy import on_use
from dragoman.harnesses.contract.reading import Dialect
from dragoman.harnesses.messages import sniff


@on_use
def _parser():
    from dragoman.harnesses.messages.parser import MessagesParser

    return MessagesParser


MESSAGES = Harness(
    name="dragoman",
    title="Dragoman's own messages",
    sniff=sniff.sniff,
    dialects=(
        Dialect(
            name="messages",
            summary="what dragoman writes: --to messages, --to json, --json",
            releases="all",
            make_parser=_parser,
            has_own_lines=False,
        ),
    ),
)
