"""Write the prices that come with us: ``python benchmarks/known_prices.py``, after a new genai-prices.

The library takes a third of a second to load. Its answers for the models that most people use lie in
``prices_known.json``, with its version; the test of that file says when it is time to run this again.
"""

from __future__ import annotations

import os
import sys

from genai_prices.data_snapshot import get_snapshot

from dragoman.archive.ledger.prices import KNOWN, keep, look_up

_MAKERS = ("openai", "anthropic", "google")
_ALSO = (
    "codex-mini-latest",
    "gpt-5-codex",
    "gpt-5-codex-mini",
    "gpt-5.1-codex",
    "gpt-5.1-codex-max",
    "gpt-5.2-codex",
    "gpt-5.3-codex",
    "gpt-5.3-codex-spark",
)
_NOT_FOR_CODE = (
    "image",
    "tts",
    "audio",
    "live",
    "realtime",
    "embedding",
    "vision",
    "whisper",
    "ft:",
)


def well_known() -> list[str]:
    makers = [maker for maker in get_snapshot().providers if maker.id in _MAKERS]
    names = {model.id for maker in makers for model in maker.models} | set(_ALSO)
    return sorted(name for name in names if not any(word in name for word in _NOT_FOR_CODE))


def main() -> int:
    answers = {name: look_up(name) for name in well_known()}
    keep(KNOWN, {name: price for name, price in answers.items() if price is not None})
    print(f"{KNOWN}: {len(answers)} models, {os.stat(KNOWN).st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
