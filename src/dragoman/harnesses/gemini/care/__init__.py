"""How chat files are checked and repaired, and where one must lie for Gemini CLI to find it."""

from __future__ import annotations

from typing import Final

from dragoman.harnesses.contract.care import Care
from dragoman.harnesses.contract.lazy import on_use


@on_use
def _checker():
    from dragoman.harnesses.gemini.care.form import make_checker

    return make_checker


@on_use
def _place():
    from dragoman.harnesses.gemini.care.places import place

    return place


@on_use
def _settings():
    from dragoman.harnesses.gemini.care.places import settings

    return settings


GEMINI_CARE: Final = Care(make_checker=_checker, place=_place, settings=_settings)
