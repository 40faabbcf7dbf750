"""Text sent to a running turn, until the agent takes it up: shown as pending, and returned if it never does.

An agent takes such text up when it next calls its model, and reports it then, as a prompt. Until that happens it is
in no message: they would be lost with the turn. So the hub writes them down before it sends them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

import msgspec

from dragoman.hub.shapes import Steered


def steered(text: str, at: datetime) -> Steered:
    """Words that are about to be sent."""
    return Steered(id=secrets.token_hex(8), text=text, at=at)


def accepted(waiting: Sequence[Steered], text: str) -> list[Steered]:
    """What still waits when the agent has emitted a prompt with this text: of two equal texts, the first is done."""
    left = list(waiting)
    for each in waiting:
        if _words(each.text) == _words(text):
            left.remove(each)
            break
    return left


def returned(waiting: Sequence[Steered]) -> list[Steered]:
    """The same when the turn is over and nothing was taken up."""
    return [msgspec.structs.replace(each, state="returned") for each in waiting]


def without(waiting: Sequence[Steered], steered_id: str) -> list[Steered]:
    return [each for each in waiting if each.id != steered_id]


def _words(text: str) -> list[str]:
    # A harness may trim what it is given, or end its lines in another way.
    return text.split()
