"""What Codex's parsers share with those of every other harness."""

from __future__ import annotations

from dragoman.harnesses.assembly.parsing import StreamParser, native_type

__all__ = ["StreamParser", "native_type"]
