"""Data for the sidebar: tokens, context use, rate limits."""

from __future__ import annotations

from dragoman.html.pieces import Html, element, joined
from dragoman.model.messages import RateLimits, UsageReport


def usage(message: UsageReport) -> dict[str, str | bool | None]:
    """Tokens, as attributes."""
    known: dict[str, str | bool | None] = {}
    if message.total:
        known["data_in"] = str(message.total.input_tokens)
        known["data_cached"] = str(message.total.cached_input_tokens)
        known["data_out"] = str(message.total.output_tokens)
    if message.last:
        known["data_context"] = str(message.last.total_tokens)
    if message.context_window:
        known["data_window"] = str(message.context_window)
    return known


def limits(message: RateLimits) -> Html:
    """The rate limit windows, one element each."""
    return joined(
        element(
            "data",
            data_name=window.name,
            data_percent=None if window.used_percent is None else f"{window.used_percent:g}",
            data_resets=window.resets_at.isoformat() if window.resets_at else None,
        )
        for window in message.windows
    )
