"""The user's own prices: a TOML file that takes precedence over any table.

::

    version = "our contract of May"     # optional: shown wherever the price is used

    [models."gpt-9*"]                   # US dollars per million tokens; * and ? are wildcards
    input = 1.25
    cached_input = 0.125                # default: same as input
    cache_write_input = 1.5             # default: same as input
    cache_write_1h_input = 2            # default: same as cache_write_input
    output = 10

    [[models."gpt-9*".tiers]]           # for whole requests with more input tokens than this
    above = 272000
    input = 2.5
    output = 15

    [models.house-model]
    same_as = "gpt-5.5"
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from fnmatch import fnmatchcase

import msgspec

from dragoman.errors import UnreadableSource, UsageError


class OwnTier(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of requests above a certain length."""

    above: int = 0
    input: Decimal
    cached_input: Decimal | None = None
    cache_write_input: Decimal | None = None
    cache_write_1h_input: Decimal | None = None
    output: Decimal

    def rates(self) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write_input is None else self.cache_write_input
        return self.input, cached, written, self.output


class OwnPrice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the file."""

    input: Decimal | None = None
    cached_input: Decimal | None = None
    cache_write_input: Decimal | None = None
    cache_write_1h_input: Decimal | None = None
    output: Decimal | None = None
    tiers: list[OwnTier] = []
    same_as: str | None = None

    def all_tiers(self) -> list[OwnTier]:
        assert self.input is not None
        assert self.output is not None
        base = OwnTier(
            input=self.input,
            cached_input=self.cached_input,
            cache_write_input=self.cache_write_input,
            cache_write_1h_input=self.cache_write_1h_input,
            output=self.output,
        )
        return [base, *sorted(self.tiers, key=lambda tier: tier.above)]

    @property
    def is_whole(self) -> bool:
        return self.same_as is not None or (self.input is not None and self.output is not None)


class OwnPrices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    version: str = "own prices"
    models: Mapping[str, OwnPrice] = {}

    def find(self, model: str) -> OwnPrice | None:
        """Return the entry for a model: the exact name, or else the first matching pattern."""
        exact = self.models.get(model)
        if exact is not None:
            return exact
        name = model.lower()
        fitting = (own for key, own in self.models.items() if fnmatchcase(name, key.lower()))
        return next(fitting, None)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> OwnPrices:
        """Read a file. Raises ``UnreadableSource``, or ``UsageError`` with what is wrong."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError as problem:
            raise UnreadableSource(str(path), "no such file") from problem
        except (OSError, UnicodeDecodeError) as problem:
            raise UnreadableSource(str(path), str(problem)) from problem
        import tomllib  # few have prices of their own

        try:
            own = msgspec.convert(tomllib.loads(text, parse_float=Decimal), cls)
        except (tomllib.TOMLDecodeError, msgspec.ValidationError) as problem:
            raise UsageError(f"{path} is not a valid price file: {problem}") from problem
        for name, price in own.models.items():
            if not price.is_whole:
                raise UsageError(f"{path}: {name!r} needs input and output, or same_as")
            if price.same_as is not None and own.find(price.same_as) is not None:
                raise UsageError(
                    f"{path}: the same_as of {name!r} refers to another entry of this file"
                )
        return own
