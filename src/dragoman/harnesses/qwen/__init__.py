"""Qwen Code: its stream, and the chats it keeps.

What reads, drives, plays and repairs is imported when it is used (:mod:`~dragoman.harnesses.contract.lazy`).
"""

from __future__ import annotations

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.qwen import sniff
from dragoman.harnesses.qwen.care import QWEN_CARE
from dragoman.harnesses.qwen.dialects import DIALECTS, values
from dragoman.harnesses.qwen.driving.transports import (
    QWEN_PROGRAM,
    QWEN_TRANSPORTS,
    capabilities,
)
from dragoman.harnesses.qwen.history import QWEN_HISTORY
from dragoman.harnesses.qwen.limits import LIMITS
from dragoman.harnesses.qwen.playback.qwen import QWEN_PLAYBACK

QWEN = Harness(
    name="qwen",
    title="Qwen Code",
    sniff=sniff.sniff,
    settle=sniff.settle,
    capabilities=capabilities,
    program=QWEN_PROGRAM,
    transports=QWEN_TRANSPORTS,
    playback=QWEN_PLAYBACK,
    values=values,
    limits=LIMITS,
    history=QWEN_HISTORY,
    care=QWEN_CARE,
    dialects=DIALECTS,
)
