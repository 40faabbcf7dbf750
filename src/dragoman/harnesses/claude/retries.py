"""What is said about a request that is sent again."""

from __future__ import annotations

from typing import Any

from dragoman.wire.loose import as_int, as_number


def retry_text(error: str | None, status: Any, attempt: Any, most: Any, delay_ms: Any) -> str:
    """One sentence about what went wrong, and what follows."""
    code = f" ({status})" if as_int(status) is not None else ""
    wait = as_number(delay_ms)
    after = f" in {wait / 1000:.1f} s" if wait is not None else ""
    number = f"attempt {as_int(attempt) or 1} of {as_int(most) or '?'}"
    return f"{error or 'the request failed'}{code}: {number} follows{after}"
