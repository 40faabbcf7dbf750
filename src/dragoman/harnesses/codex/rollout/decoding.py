"""Decode a row of a rollout into its shape, for the parser and for what reads without it."""

from __future__ import annotations

from typing import Final

import msgspec

from dragoman.harnesses.codex.rollout import shapes as rows

PREAMBLE_ROWS: Final = 40
"""How many rows may come before the one that names the model."""
decode_row: Final = msgspec.json.Decoder(rows.AnyRow).decode
