"""The exporter for showing a saved session in the terminal."""

from __future__ import annotations

from dragoman.export.base import Exporter, Include, Options
from dragoman.export.text.exporter import TextExporter
from dragoman.export.text.whole import WholeTextExporter
from dragoman.reading.open_turns import ClosingExporter


def transcript(*, full: bool, context: bool, colour: bool, width: int) -> Exporter:
    """Return an exporter for the terminal's width; ``full`` leaves nothing out."""
    include: frozenset[Include] = frozenset(("context",) if context else ())
    options = Options(include=include, color=colour, width=width)
    return ClosingExporter(WholeTextExporter(options) if full else TextExporter(options))
