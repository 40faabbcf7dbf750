"""GitHub's Copilot CLI: its output, its server, and the session files it keeps.

What reads, drives, plays and repairs is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.copilot import sniff
from dragoman.harnesses.copilot.care import COPILOT_CARE
from dragoman.harnesses.copilot.dialects import DIALECTS, values
from dragoman.harnesses.copilot.driving.transports import (
    COPILOT_PROGRAM,
    COPILOT_TRANSPORTS,
    capabilities,
)
from dragoman.harnesses.copilot.history import COPILOT_HISTORY
from dragoman.harnesses.copilot.limits import LIMITS
from dragoman.harnesses.copilot.playback.copilot import COPILOT_PLAYBACK

COPILOT = Harness(
    name="copilot",
    title="Copilot",
    sniff=sniff.sniff,
    settle=sniff.settle,
    capabilities=capabilities,
    program=COPILOT_PROGRAM,
    transports=COPILOT_TRANSPORTS,
    playback=COPILOT_PLAYBACK,
    values=values,
    limits=LIMITS,
    history=COPILOT_HISTORY,
    care=COPILOT_CARE,
    dialects=DIALECTS,
)
