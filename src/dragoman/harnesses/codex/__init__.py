"""OpenAI's Codex CLI: every release of it, in ten dialects.

What reads, drives, plays and repairs is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from dragoman.harnesses.codex import sniff
from dragoman.harnesses.codex.care import CODEX_CARE
from dragoman.harnesses.codex.dialects import DIALECTS, plain_rollout, values
from dragoman.harnesses.codex.home.history import CODEX_HISTORY
from dragoman.harnesses.codex.limits import LIMITS
from dragoman.harnesses.codex.playback.codex import CODEX_PLAYBACK
from dragoman.harnesses.codex.transports import CODEX_PROGRAM, CODEX_TRANSPORTS, capabilities
from dragoman.harnesses.codex.writing import CODEX_WRITER
from dragoman.harnesses.contract.harness import Harness

CODEX = Harness(
    name="codex",
    title="Codex CLI",
    sniff=sniff.sniff,
    settle=sniff.settle,
    values=values,
    plain=plain_rollout,
    limits=LIMITS,
    capabilities=capabilities,
    program=CODEX_PROGRAM,
    transports=CODEX_TRANSPORTS,
    playback=CODEX_PLAYBACK,
    care=CODEX_CARE,
    history=CODEX_HISTORY,
    dialects=DIALECTS,
    writer=CODEX_WRITER,
)
