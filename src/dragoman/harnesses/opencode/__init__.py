"""opencode: its output, its server, and the sessions in its database.

What reads, drives, plays and repairs is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.opencode import sniff
from dragoman.harnesses.opencode.dialects import DIALECTS, values
from dragoman.harnesses.opencode.driving.transports import (
    OPENCODE_PROGRAM,
    OPENCODE_TRANSPORTS,
    capabilities,
)
from dragoman.harnesses.opencode.history import OPENCODE_HISTORY
from dragoman.harnesses.opencode.limits import LIMITS
from dragoman.harnesses.opencode.playback.opencode import OPENCODE_PLAYBACK

OPENCODE = Harness(
    name="opencode",
    title="opencode",
    sniff=sniff.sniff,
    settle=sniff.settle,
    capabilities=capabilities,
    program=OPENCODE_PROGRAM,
    transports=OPENCODE_TRANSPORTS,
    playback=OPENCODE_PLAYBACK,
    values=values,
    limits=LIMITS,
    history=OPENCODE_HISTORY,
    dialects=DIALECTS,
)
