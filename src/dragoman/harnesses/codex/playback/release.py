"""The release of Codex that is played."""

from __future__ import annotations

from typing import Final

RELEASE: Final = "0.166.0"
"""Used if the recording does not name one that has what is played."""
