"""The table that ``make bench`` prints: what counts as met, and what as a regression."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

_TABLE = Path(__file__).parents[1] / "benchmarks" / "table"


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_figures", _TABLE / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_tenth_is_allowed_and_no_more(figures: ModuleType) -> None:
    lower = figures.Figure("a", 1.09, 1.5)
    assert lower.is_met
    assert not lower.is_worse(1.0)
    assert lower.is_worse(0.95)
    higher = figures.Figure("b", 0.5, 0.52, "higher")
    assert not higher.is_met
    assert not higher.is_worse(0.54)
    assert higher.is_worse(0.6)


def test_a_time_is_compared_with_its_limit_and_recorded_as_a_ratio(figures: ModuleType) -> None:
    figure = figures.Figure("list", 9.0, 100, milliseconds=120.0)

    assert not figure.is_met
    assert not figure.is_worse(8.9)
    line = figures.line(figure, {"list": 5.0})
    assert "120 ms" in line
    assert "OPEN, WORSE" in line


def test_only_ratios_are_recorded(
    figures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "RECORD", tmp_path / "recorded.json")
    assert figures.recorded() == {}

    figures.record({"… ünï": 1.23456})

    assert figures.recorded() == {"… ünï": 1.235}


def test_the_recorded_table_holds_ratios() -> None:
    path = _TABLE / "recorded.json"
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    assert all(isinstance(ratio, float) and ratio > 0 for ratio in found.values())
