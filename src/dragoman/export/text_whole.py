"""The terminal's transcript with nothing left out: outputs and changes in their full length."""

from __future__ import annotations

from dragoman.export import render
from dragoman.export.text import TextExporter
from dragoman.export.text_page import split


class WholeTextExporter(TextExporter):
    diff_lines = 1 << 30

    def _head(self, text: str, indent: str = "  ") -> list[str]:
        return [indent + render.harmless(line) for line in split(text)]
