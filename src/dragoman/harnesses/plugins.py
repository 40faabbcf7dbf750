"""Harnesses from other packages: found by their entry points, loaded once, never a reason to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from dragoman.harnesses.contract.harness import Harness

T = TypeVar("T")
GROUP: Final = "dragoman.harnesses"


class BrokenPlugin(NamedTuple):
    """An entry point that gives no harness we can use."""

    name: str
    value: str
    """What it points to: ``package.module:NAME``."""
    problem: str


class Plugins:
    """The harnesses that entry points add, loaded when they are first asked for."""

    def __init__(self, taken: Iterable[str]) -> None:
        """``taken`` are names that no plug-in can have."""
        self._taken = frozenset(taken)
        self._loaded: tuple[Harness, ...] | None = None
        self._broken: tuple[BrokenPlugin, ...] = ()

    def harnesses(self) -> tuple[Harness, ...]:
        if self._loaded is None:
            self._loaded, self._broken = self._load()
        return self._loaded

    def broken(self) -> tuple[BrokenPlugin, ...]:
        self.harnesses()
        return self._broken

    def first(self, call: Callable[[Harness], T | None]) -> T | None:
        """The first result of this call. A plug-in that raises is broken, and left out from then on."""
        for each in self.harnesses():
            found: T | None = None
            with _Attempt() as attempt:
                found = call(each)
            if attempt.error is not None:
                self._loaded = tuple(one for one in self.harnesses() if one is not each)
                self._broken += (_broken(each.name, "", attempt.error),)
            elif found is not None:
                return found
        return None

    def forget(self) -> None:
        self._loaded, self._broken = None, ()

    def _load(self) -> tuple[tuple[Harness, ...], tuple[BrokenPlugin, ...]]:
        # Imported here: it costs as much time as all of our own start-up.
        from importlib.metadata import entry_points

        from dragoman.harnesses.contract.harness import Harness

        loaded: dict[str, Harness] = {}
        broken: list[BrokenPlugin] = []
        for point in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)):
            value: object = None
            with _Attempt() as attempt:
                value = point.load()
            if attempt.error is not None:
                broken.append(_broken(point.name, point.value, attempt.error))
            elif not isinstance(value, Harness):
                kind = type(value).__name__
                broken.append(BrokenPlugin(point.name, point.value, f"it is no Harness: {kind}"))
            elif value.name in self._taken or value.name in loaded:
                problem = f"there is already a harness {value.name!r}"
                broken.append(BrokenPlugin(point.name, point.value, problem))
            else:
                loaded[value.name] = value
        return tuple(loaded.values()), tuple(broken)


class _Attempt:
    """Code of another package runs in this block, and its error is kept."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True


def _broken(name: str, value: str, error: Exception) -> BrokenPlugin:
    # Imported here: only a broken plug-in needs it.
    import logging

    logging.getLogger(__name__).info("plug-in %s is left out", name, exc_info=error)
    problem = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return BrokenPlugin(name, value, problem)
