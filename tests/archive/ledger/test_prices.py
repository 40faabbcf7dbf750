from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import genai_prices
import pytest

from dragoman.archive.ledger import prices as module
from dragoman.archive.ledger.prices import KNOWN, Prices, library_version, look_up, recall
from dragoman.archive.sealed import sealed, unsealed
from dragoman.errors import UnreadableSource, UsageError
from dragoman.model.usage import Usage

MILLION = 1_000_000


def cost(prices: Prices, model: str, usage: Usage, at: float | None = None) -> Decimal:
    price = prices.of(model)
    assert price is not None
    return price.rates(at, usage.input_tokens).cost(usage)


def own(tmp_path: Path, text: str) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return Prices(path)


# The library's prices.


@pytest.mark.parametrize("model", ["gpt-5.5", "gpt-5-codex", "gpt-6.1-sol", "claude-sonnet-4-5"])
@pytest.mark.parametrize("size", [0, 1, 1000, 200_000, 200_001, 272_000, 272_001, 900_000])
def test_a_request_costs_what_the_library_says(model: str, size: int) -> None:
    usage = Usage(size, size // 2, size // 4, 1234, 500)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=size,
            cache_read_tokens=size // 2,
            cache_write_tokens=size // 4,
            output_tokens=1234,
        ),
        model,
    )

    assert cost(Prices(), model, usage) == theirs.total_price


def test_prices_change_with_time_of_day() -> None:
    usage = Usage(MILLION)
    noon = datetime(2026, 5, 5, 12, 0, tzinfo=UTC).timestamp()
    night = datetime(2026, 5, 5, 20, 0, tzinfo=UTC).timestamp()

    for at in (noon, night):
        theirs = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=MILLION),
            "deepseek-chat",
            genai_request_timestamp=datetime.fromtimestamp(at, UTC),
        )
        assert cost(Prices(), "deepseek-chat", usage, at) == theirs.total_price


def test_prices_change_with_the_years() -> None:
    price = look_up("gemini-3-pro-preview")

    assert price is not None
    assert price.depends_on_time
    assert price.rates(0.0, 1) == price.periods[0].rates[0]
    assert price.rates(None, 1) == price.periods[-1].rates[0]


def test_a_model_that_nobody_knows_has_no_price() -> None:
    prices = Prices()

    assert prices.of("house-model") is None
    assert prices.of(None) is None
    assert prices.unknown() == ["house-model"]


def test_more_cached_or_written_than_input_is_not_paid_twice() -> None:
    price = look_up("claude-sonnet-4-5")
    assert price is not None
    rates = price.rates(None, 100)

    assert rates.cost(Usage(100, 500, 500, 0)) == rates.cached_input * 100 / MILLION
    assert rates.cost(Usage(100, 60, 500, 0)) == (
        (rates.cached_input * 60 + rates.cache_write_input * 40) / MILLION
    )


# What is known without the library.


def version_of_ours() -> str:
    return json.loads(Path(KNOWN).read_bytes())["version"]


def test_the_prices_that_come_with_us_are_the_librarys_or_not_believed() -> None:
    """``python benchmarks/known_prices.py`` renews them for another genai-prices."""
    known = recall(KNOWN)

    assert {model: look_up(model) for model in known} == known
    assert ("gpt-5.5" in known) == (version_of_ours() == library_version())


@pytest.fixture
def without_the_library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    monkeypatch.setattr(module, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    for remembered in (module.library_version, module.table_version):
        remembered.cache_clear()
    yield
    for remembered in (module.library_version, module.table_version):
        remembered.cache_clear()


@pytest.mark.usefixtures("without_the_library")
@pytest.mark.parametrize(
    "model",
    ["gpt-5.5", "openai/gpt-5.5", "GPT-5.5", "gpt-5.5-2026-04-01", "claude-sonnet-4-5-20250929"],
)
def test_prices_come_with_us(model: str) -> None:
    price = Prices().of(model)

    assert price is not None
    assert price.version == version_of_ours()


@pytest.mark.usefixtures("without_the_library")
def test_without_the_library_an_unknown_model_has_no_price(tmp_path: Path) -> None:
    prices = Prices(memory=tmp_path / "prices.json")

    assert prices.of("house-model") is None
    prices.remember()
    assert Prices(memory=tmp_path / "prices.json").of("house-model") is None


def test_a_well_known_model_does_not_need_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "table_version", version_of_ours)
    monkeypatch.setattr(module, "look_up", lambda model: pytest.fail(model))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]

    assert Prices().of("gpt-5.5") is not None


def test_answers_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = tmp_path / "deep" / "prices.json"
    first = Prices(memory=memory)
    answers = [first.of("house-model"), first.of("deepseek-chat")]
    first.remember()
    monkeypatch.setattr(module, "look_up", lambda model: pytest.fail(model))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]

    second = Prices(memory=memory)
    assert [second.of("house-model"), second.of("deepseek-chat")] == answers


def test_answers_of_another_version_are_forgotten(tmp_path: Path) -> None:
    memory = tmp_path / "prices.json"
    memory.write_bytes(b'{"version":"genai-prices 0.0.0","prices":{"gpt-5.5":null}}')

    assert Prices(memory=memory).of("gpt-5.5") is not None


def test_a_price_says_where_it_is_from() -> None:
    price = Prices().of("gpt-5-codex")

    assert price is not None
    assert price.version == library_version() == f"genai-prices {genai_prices.__version__}"
    assert price.model == "gpt-5"


# The user's own prices.

_OWN = """
version = "contract of May"

[models."gpt-5.5"]
input = 1
output = 2.5

[models."house-*"]
input = 3
cached_input = 0.3
cache_write_input = 4
output = 5

[[models."house-*".tiers]]
above = 1000
input = 6
output = 7

[models.alias]
same_as = "gpt-6.1-sol"
"""


def test_own_prices_go_before_all_others(tmp_path: Path) -> None:
    prices = own(tmp_path, _OWN)
    price = prices.of("gpt-5.5")

    assert price is not None
    assert price.version == "contract of May"
    assert cost(prices, "gpt-5.5", Usage(MILLION, MILLION // 2, 0, MILLION)) == Decimal("3.5")


def test_own_prices_may_name_many_models_and_sizes(tmp_path: Path) -> None:
    prices = own(tmp_path, _OWN)

    assert cost(prices, "House-9", Usage(1000, 500, 250, 1000)) == (
        (Decimal(3) * 250 + Decimal("0.3") * 500 + Decimal(4) * 250 + Decimal(5) * 1000) / MILLION
    )
    assert cost(prices, "house-9", Usage(1001)) == Decimal(6) * 1001 / MILLION


def test_an_alias_has_the_price_of_its_model(tmp_path: Path) -> None:
    assert own(tmp_path, _OWN).of("alias") == Prices().of("gpt-6.1-sol")


@pytest.mark.parametrize(
    "text",
    [
        "models = 3",
        "[models.x]\ninput = 1",
        "[models.x]\ninput = 'much'\noutput = 1",
        "[models.x]\ninput = 1\noutput = 1\nprice = 3",
        '[models.x]\nsame_as = "y"\n[models.y]\ninput = 1\noutput = 1',
        "no toml",
    ],
)
def test_a_file_that_is_wrong_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"prices\.toml"):
        own(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="no such file"):
        Prices(tmp_path / "none.toml")


def test_a_cache_write_for_an_hour_costs_what_the_library_says() -> None:
    usage = Usage(1000, 100, 500, 10, 0, 200)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=1000,
            cache_read_tokens=100,
            cache_write_tokens=500,
            cache_write_1h_tokens=200,
            output_tokens=10,
        ),
        "claude-opus-4-1",
    )

    assert cost(Prices(), "claude-opus-4-1", usage) == theirs.total_price


def test_answers_that_an_older_release_saved_are_looked_up_again(tmp_path: Path) -> None:
    memory = tmp_path / "prices.json"
    prices = Prices(memory=memory)
    assert prices.of("claude-opus-4-1-20250805") is not None
    prices.remember()
    assert "claude-opus-4-1-20250805" in recall(memory)

    kept = json.loads(unsealed(memory.read_bytes()))
    del kept["format"]
    memory.write_bytes(sealed(json.dumps(kept).encode()))
    assert recall(memory) == {}
