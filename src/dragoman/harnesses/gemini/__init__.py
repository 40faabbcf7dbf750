"""Google's Gemini CLI: driven over ACP, its stream, and the chat files it keeps.

What reads, drives, plays and repairs is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.gemini import sniff
from dragoman.harnesses.gemini.care import GEMINI_CARE
from dragoman.harnesses.gemini.dialects import DIALECTS, values
from dragoman.harnesses.gemini.history import GEMINI_HISTORY
from dragoman.harnesses.gemini.limits import LIMITS
from dragoman.harnesses.gemini.program import GEMINI_PROGRAM, capabilities
from dragoman.harnesses.gemini.transports import GEMINI_PLAYBACK, GEMINI_TRANSPORTS

GEMINI = Harness(
    name="gemini",
    title="Gemini CLI",
    sniff=sniff.sniff,
    settle=sniff.settle,
    capabilities=capabilities,
    program=GEMINI_PROGRAM,
    transports=GEMINI_TRANSPORTS,
    playback=GEMINI_PLAYBACK,
    values=values,
    limits=LIMITS,
    history=GEMINI_HISTORY,
    care=GEMINI_CARE,
    dialects=DIALECTS,
)
