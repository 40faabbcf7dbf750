"""Asking an agent to stop a turn until it agrees.

Between its word that it takes a turn up and the start of that turn an agent may refuse to stop it (Codex
0.166: "no active turn to interrupt"), and then continues it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from dragoman.errors import AgentError, ResponseError

if TYPE_CHECKING:
    from dragoman.drive.links.exchange import Exchange
    from dragoman.model.intents import Interrupt

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.5
_log = logging.getLogger(__name__)


async def stop(exchange: Exchange, intent: Callable[[], Interrupt], *, seconds: float) -> None:
    """Ask again and again; returns when the agent has agreed. Raises ``TimeoutError`` and ``AgentError``.

    ``intent`` is asked each time: the turn may have got its name meanwhile.
    """
    pause = _FIRST_PAUSE
    async with asyncio.timeout(seconds):
        while True:
            try:
                await exchange.ask(intent(), seconds=seconds)
            except ResponseError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                return


async def stop_in_the_end(exchange: Exchange, intent: Interrupt, *, seconds: float) -> None:
    """The same for a turn that is over for us, and for which no caller waits."""
    try:
        await stop(exchange, lambda: intent, seconds=seconds)
    except (TimeoutError, AgentError) as problem:
        _log.warning("turn %s may go on, unheard: %s", intent.turn_id, problem or "no answer")
