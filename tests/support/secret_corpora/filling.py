"""Makes samples of templates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from support.secret_corpora.values import Values


@dataclass(frozen=True, slots=True)
class Sample:
    template: str
    text: str
    secret: str | None
    """The secret in the text; None for a look-alike."""


_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z]+[0-9]*)\}")


def samples(templates: str, seed: int) -> list[Sample]:
    """One sample for each line."""
    return [
        _sample(line, Values(seed * 1000 + n))
        for n, line in enumerate(templates.strip("\n").split("\n"))
    ]


def _sample(template: str, values: Values) -> Sample:
    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        return values.make(found[1])

    cut = re.sub(r"(?<=[A-Za-z0-9_.-])\|(?=[A-Za-z0-9_.({-])", "", template)
    text = _FIELD.sub(fill, cut)
    if "«" not in text:
        return Sample(template, text, None)
    before, rest = text.split("«")
    secret, after = rest.split("»")
    return Sample(template, before + secret + after, secret)
