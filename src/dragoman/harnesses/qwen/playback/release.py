"""The release of Qwen Code that is played."""

from __future__ import annotations

from typing import Final

RELEASE: Final = "0.24.4"
