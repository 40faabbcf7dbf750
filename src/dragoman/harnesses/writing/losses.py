"""Count what a new session does not carry."""

from __future__ import annotations

from typing import NamedTuple

from dragoman.harnesses.contract.writer import Loss


class _LossKey(NamedTuple):
    kind: str
    detail: str
    kept: bool


class LossCounter:
    """Losses of one hand-off, each kind and sentence once, with its count and the tools concerned."""

    def __init__(self) -> None:
        self._counts: dict[_LossKey, int] = {}
        self._names: dict[_LossKey, dict[str, None]] = {}

    def add(
        self, kind: str, detail: str, *, name: str | None = None, count: int = 1, kept: bool = False
    ) -> None:
        """Add to what was lost in this way. ``name`` is the tool concerned; ``kept``: it has another form now."""
        if count <= 0:
            return
        key = _LossKey(kind, detail, kept)
        self._counts[key] = self._counts.get(key, 0) + count
        names = self._names.setdefault(key, {})
        if name:
            names[name] = None

    def found(self) -> tuple[Loss, ...]:
        """Return the losses in the order in which each was first met."""
        return tuple(
            Loss(
                kind=key.kind,
                count=count,
                detail=key.detail,
                kept=key.kept,
                names=tuple(self._names[key]),
            )
            for key, count in self._counts.items()
        )
