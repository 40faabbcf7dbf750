"""The terminal transcript with outputs and changes in full length."""

from __future__ import annotations

from dragoman.export.text.exporter import TextExporter
from dragoman.export.text.page import split
from dragoman.rendering import render


class WholeTextExporter(TextExporter):
    diff_lines = 1 << 30

    def _head(self, text: str, indent: str = "  ") -> list[str]:
        return [indent + render.harmless(line) for line in split(text)]
