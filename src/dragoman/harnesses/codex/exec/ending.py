"""The outcome of a run of ``codex exec`` that ended without reporting one.

| how it ended | outcome |
|---|---|
| we stopped it, with any signal | interrupted |
| status 0, or SIGINT, in the middle of a turn: the user pressed Ctrl-C (to 0.115 that is status 0) | interrupted |
| another signal | failed, ``port_exit``, worth another try |
| a status, before it began: bad option, bad settings, no such session … | failed, ``response_error``, final |
| a status, in the middle of a turn | failed, ``port_exit``, worth another try |

The outcome is never ``completed`` here: only the agent can report that.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dragoman.harnesses.codex.failures import RESPONSE_ERROR
from dragoman.model.messages import Outcome, TurnError

PORT_EXIT: Final = "port_exit"

_SIGNALS: Final = {
    1: "SIGHUP",
    2: "SIGINT",
    6: "SIGABRT",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}
_SIGINT: Final = -2
_NOISE: Final = re.compile(
    r"WARNING: proceeding, |Reading (additional input|prompt) from stdin|warning: |Warning: "
    r"|note: run with `RUST_BACKTRACE"
)
_LOG: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z? +[A-Z]+ ")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_VERDICT: Final = re.compile(r"error:|Error\b|Failed |Not inside |thread '.*panicked")
_HELP: Final = re.compile(r"\s*(Usage:|tip:|For more information)")
_LONGEST: Final = 500


class Ending(NamedTuple):
    outcome: Outcome
    error: TurnError | None = None


def ending(code: int | None, stderr: str, *, began: bool, stopped: bool) -> Ending:
    """The end of a run that reported none: ``began`` is whether it had started to work at all.

    ``code`` is negative for a signal and None when it is unknown, for example over a lost
    connection.
    """
    if stopped or (began and code in (0, _SIGINT)):
        return Ending("interrupted")
    how, why = how_it_exited(code), sentence(stderr)
    message = f"{why} ({how})" if why else f"codex exec {how} before the turn had ended"
    if not began and code is not None and code > 0:
        return Ending("failed", TurnError(kind=RESPONSE_ERROR, message=message, retryable=False))
    return Ending("failed", TurnError(kind=PORT_EXIT, message=message, retryable=True))


def how_it_exited(code: int | None) -> str:
    """``exited with status 1``, ``was killed by SIGKILL``."""
    if code is None:
        return "was lost"
    if code < 0:
        return f"was killed by {_SIGNALS.get(-code, f'signal {-code}')}"
    return f"exited with status {code}"


def sentence(stderr: str) -> str:
    """What the program printed about its end: without its greetings, its log and its usage page."""
    lines = [_COLOUR.sub("", line).rstrip() for line in stderr.split("\n")]
    lines = [line for line in lines if line and not _NOISE.match(line)]
    said = [line for line in lines if not _LOG.match(line)]
    if not said:
        said = [_LOG.sub("", line) for line in lines][-1:]
    first = next((at for at, line in enumerate(said) if _VERDICT.match(line)), 0)
    kept: list[str] = []
    for line in said[first:]:
        if _HELP.match(line):
            break
        kept.append(line.strip())
    text = " ".join(" ".join(kept).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
