"""Waits for the index, with a progress bar on standard error, until a command has what it needs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from dragoman.cli import lazy_click as click

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.archive.index.updating import Progress

_BAR: Final = 24
_STEP_SECONDS: Final = 0.1
_LOOK_SECONDS: Final = 0.25
_PATIENCE_SECONDS: Final = 60.0
"""Seconds without progress after which waiting ends."""


def wait_for(archive: SessionArchive, is_enough: Callable[[], bool] | None = None) -> bool:
    """Wait until the index is complete, or ``is_enough``; returns False after Ctrl-C."""
    bar = Bar()
    looked_at = moved_at = time.monotonic()
    last: Progress | None = None
    try:
        if archive.wait_index(0.0) is not None and is_enough is not None and is_enough():
            return True
        while (progress := archive.wait_index(_STEP_SECONDS)) is not None:
            bar.show(progress)
            now = time.monotonic()
            if progress != last:
                last, moved_at = progress, now
            elif now - moved_at >= _PATIENCE_SECONDS:
                bar.clear()
                notify("indexing has stalled; the result covers what is indexed so far")
                return True
            if is_enough is not None and now - looked_at >= _LOOK_SECONDS:
                if is_enough():
                    return True
                looked_at = now
    except KeyboardInterrupt:
        bar.clear()
        notify("indexing stopped; the next command continues from here")
        return False
    finally:
        bar.clear()
    for sentence in archive.troubles():
        notify(sentence)
    return True


def notify(sentence: str) -> None:
    click.echo(f"dragoman: {sentence}", err=True)


class Bar:
    """A progress bar on standard error, if that is a terminal and indexing takes a moment."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first: Progress | None = None
        self._is_shown = False
        self._last = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first, self._began = progress, now
        if not sys.stderr.isatty() or not progress.all_files or now - self._last < 0.1:
            return
        if now - self._began < 0.4:
            return
        self._last, self._is_shown = now, True
        share = progress.bytes / progress.all_bytes if progress.all_bytes else 1.0
        filled = round(share * _BAR)
        bar = "█" * filled + "░" * (_BAR - filled)
        words = f"{progress.files:,} of {progress.all_files:,} sessions{self._left(progress, now)}"
        if progress.files == progress.all_files:
            words = f"{progress.all_files:,} sessions, sorting"
        click.echo(f"\r\x1b[Kindexing {bar} {words}", err=True, nl=False)

    def _left(self, progress: Progress, now: float) -> str:
        assert self._first is not None
        done = progress.bytes - self._first.bytes
        if done <= 0.02 * progress.all_bytes:
            return ""
        seconds = (now - self._began) * (progress.all_bytes - progress.bytes) / done
        return f", {seconds:.0f} s left"

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._is_shown = False
