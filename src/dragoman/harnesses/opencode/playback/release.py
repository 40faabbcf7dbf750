"""The release of opencode that is played."""

from __future__ import annotations

from typing import Final

RELEASE: Final = "1.18.33"
