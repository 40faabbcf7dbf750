"""How transcripts are checked and repaired, and where one must lie for Claude Code to find it."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.care import Care
from dragoman.harnesses.contract.lazy import on_use


@on_use
def _checker():
    from dragoman.harnesses.chained_rows.checking import TranscriptChecker

    return TranscriptChecker


@on_use
def _place():
    from dragoman.harnesses.claude.care.places import place

    return place


@on_use
def _settings():
    from dragoman.harnesses.claude.care.places import settings

    return settings


CLAUDE_CARE: Final = Care(make_checker=_checker, place=_place, settings=_settings)
