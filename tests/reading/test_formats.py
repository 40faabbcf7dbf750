from __future__ import annotations

import pytest

from dragoman import UnknownFormat
from dragoman.reading.formats import check_format


def test_a_known_name_is_its_format() -> None:
    assert check_format("messages").name == "messages"


def test_an_unknown_one_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownFormat, match="messages"):
        check_format("mesages")
