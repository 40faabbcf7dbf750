"""Token counts as an agent reports them, and their arithmetic.

Cached and cache-write tokens are part of ``input_tokens``; reasoning tokens are part of
``output_tokens``. So the only meaningful sum is input plus output, and the only way to
get the tokens of one turn from a running total is a difference.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec

_MOST: Final = 1 << 62

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=_MOST)]
"""A plausible number of tokens. A row with any other number is kept undecoded."""


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Counts of tokens. The field names are the wire's own, so rows decode straight into this."""

    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    """Part of ``input_tokens`` that was read from the prompt cache."""
    cache_write_input_tokens: Count = 0
    """Part of ``input_tokens`` that was written to the prompt cache."""
    output_tokens: Count = 0
    reasoning_output_tokens: Count = 0
    """Part of ``output_tokens`` that is not shown."""
    cache_write_1h_input_tokens: Count = 0
    """Part of ``cache_write_input_tokens`` that is kept for an hour, at a higher price."""

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            min(_MOST, self.input_tokens + other.input_tokens),
            min(_MOST, self.cached_input_tokens + other.cached_input_tokens),
            min(_MOST, self.cache_write_input_tokens + other.cache_write_input_tokens),
            min(_MOST, self.output_tokens + other.output_tokens),
            min(_MOST, self.reasoning_output_tokens + other.reasoning_output_tokens),
            min(_MOST, self.cache_write_1h_input_tokens + other.cache_write_1h_input_tokens),
        )

    def __sub__(self, earlier: Usage) -> Usage:
        """The tokens spent since ``earlier``; both are running totals of one session.

        A smaller total means that the counter was reset, so all of it is new: a difference is never
        negative.
        """
        if not earlier.fits_in(self):
            return self
        return Usage(
            self.input_tokens - earlier.input_tokens,
            max(0, self.cached_input_tokens - earlier.cached_input_tokens),
            max(0, self.cache_write_input_tokens - earlier.cache_write_input_tokens),
            self.output_tokens - earlier.output_tokens,
            max(0, self.reasoning_output_tokens - earlier.reasoning_output_tokens),
            max(0, self.cache_write_1h_input_tokens - earlier.cache_write_1h_input_tokens),
        )

    def fits_in(self, total: Usage) -> bool:
        """Whether that total can include this."""
        return self.input_tokens <= total.input_tokens and self.output_tokens <= total.output_tokens

    def __bool__(self) -> bool:
        return self != NOTHING


NOTHING = Usage()
