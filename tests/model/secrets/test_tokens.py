from __future__ import annotations

import re

from dragoman.model.secrets.tokens import SHORTEST, TOKENS


def test_every_row_compiles_and_is_reachable() -> None:
    for token in TOKENS:
        re.compile(token.rest)
        assert token.kind


def test_a_prefix_alone_is_no_token() -> None:
    for token in TOKENS:
        assert token.end(token.prefix, 0) == -1


def test_what_follows_decides_where_it_ends() -> None:
    token = next(each for each in TOKENS if each.prefix == "gh" + "p_")
    text = f"{token.prefix}{'a1' * 18}, and more"

    assert token.end(text, 0) == 40
    assert token.end(text, 0) > SHORTEST
