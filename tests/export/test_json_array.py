from __future__ import annotations

import json

from dragoman.export.base import Options
from dragoman.export.json_array import JsonExporter
from dragoman.model.messages import Text, TurnStarted, encode


def test_messages_are_the_elements_of_one_array() -> None:
    exporter = JsonExporter(Options())
    said = [TurnStarted(line=1), Text(text="hi", line=2)]

    made = exporter.export(said[:1]) + exporter.export(said[1:]) + exporter.finish()

    assert json.loads(made) == [json.loads(encode(each)) for each in said]
    assert made.count(b"\n") == 4
