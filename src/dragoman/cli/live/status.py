"""Status rows of the live view: the spinner, the plan, and the summary of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dragoman.cli.live.cells import cells, clip, duration, tidy_lines, wrap
from dragoman.cli.live.ink import Hue, Ink
from dragoman.model.messages import PlanStep, StepStatus, TurnEnded, UsageReport
from dragoman.rendering import render

_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_A_SECOND: Final = 10
_BOXES: Final[dict[StepStatus, str]] = {"completed": "☑", "in_progress": "◐", "pending": "☐"}
_STEP_HUES: Final[dict[StepStatus, tuple[Hue, ...]]] = {
    "completed": ("green",),
    "in_progress": ("bold",),
    "pending": ("dim",),
}
_OUTCOMES: Final[dict[str, tuple[str, Hue]]] = {
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "interrupted": ("■", "yellow"),
}


def spinner(ink: Ink, width: int, now: float, activity: str, began: float | None, hint: str) -> str:
    """``⠹ Running make · 12 s · Ctrl-C interrupts``."""
    frame = _FRAMES[int(now * _FRAMES_A_SECOND) % len(_FRAMES)]
    tail = [_whole_seconds(now - began)] if began is not None else []
    rest = "".join(f" · {each}" for each in [*tail, hint] if each)
    if cells(activity) + len(rest) > width - 3 and len(rest) > width // 2:
        rest = "".join(f" · {each}" for each in tail)  # the activity matters more than the hint
    shown = clip(activity, max(10, width - 3 - len(rest)))
    room = max(0, width - 3 - cells(shown))
    return f"{ink(frame, 'cyan')} {ink(shown, 'bold')}{ink(clip(rest, room), 'dim')}"


def _whole_seconds(seconds: float) -> str:
    """An elapsed time in whole seconds: tenths would only flicker."""
    return f"{int(max(0, seconds))} s" if seconds < 60 else duration(int(seconds))


def checklist(ink: Ink, width: int, steps: Sequence[PlanStep], why: str | None) -> list[str]:
    """The current plan."""
    rows = [ink(row, "dim") for line in tidy_lines(why or "") for row in wrap(line, width)]
    for step in steps:
        hues = _STEP_HUES[step.status]
        lines = [row for line in tidy_lines(step.text) for row in wrap(line, width - 2)]
        rows += [ink(f"{_BOXES[step.status]} {row}", *hues) for row in lines[:1]]
        rows += [ink(f"  {row}", *hues) for row in lines[1:]]
    return rows


def ending(
    ink: Ink, width: int, ended: TurnEnded, usage: UsageReport | None, took: float | None
) -> list[str]:
    """``✓ completed in 12 s · 530 in (120 cached) · 60 out · context 4 % full``."""
    mark, hue = _OUTCOMES[ended.outcome]
    first = f"{mark} {ended.outcome}" + (f" in {duration(took)}" if took is not None else "")
    tail = [render.spent(ended.usage)] if ended.usage else []
    if (full := context_used(usage)) is not None:
        tail.append(f"context {full:.0f} % full")
    rest = "".join(f" · {each}" for each in tail)
    rows: list[str] = []
    if ended.error is not None:
        lines = tidy_lines(ended.error.message)
        rows = [row for line in lines for row in wrap(line, width - 2)]
        rows = [ink(f"  {row}", hue) for row in rows]
    return [ink(first, hue, "bold") + ink(clip(rest, max(0, width - len(first))), "dim"), *rows]


def context_used(usage: UsageReport | None) -> float | None:
    """The share of the context window in use, in percent."""
    if usage is None or usage.last is None or not usage.context_window:
        return None
    return min(100.0, 100 * usage.last.total_tokens / usage.context_window)
