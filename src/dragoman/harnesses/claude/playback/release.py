"""The release of Claude Code that is played."""

from __future__ import annotations

from typing import Final

RELEASE: Final = "2.1.327"
