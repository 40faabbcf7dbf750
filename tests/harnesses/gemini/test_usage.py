from __future__ import annotations

from dragoman.harnesses.gemini.usage import usage_by_model, usage_of
from dragoman.model.usage import Usage


def test_thoughts_are_part_of_the_output_and_the_services_tools_of_the_input() -> None:
    tokens = {"input": 100, "output": 20, "cached": 40, "thoughts": 15, "tool": 5, "total": 140}

    assert usage_of(tokens) == Usage(105, 40, 0, 35, 15)
    assert usage_of({"input": 1, "cached": 9}) == Usage(1, 1, 0, 0, 0)
    assert usage_of(None) is None


def test_a_run_is_counted_for_each_of_its_models() -> None:
    one = {"total_tokens": 135, "input_tokens": 100, "output_tokens": 20, "cached": 40}
    none = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0}

    assert usage_by_model({"models": {"a": one, "b": none}}) == [("a", Usage(100, 40, 0, 35, 15))]
    assert usage_by_model(one) == [(None, Usage(100, 40, 0, 35, 15))]
    assert usage_by_model("odd") == []
