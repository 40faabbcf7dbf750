"""The release of Copilot that is played."""

from __future__ import annotations

from typing import Final

RELEASE: Final = "1.0.102"
