"""Run with ``python3 -m unittest``."""

import unittest

from greet import greet


class GreetTest(unittest.TestCase):
    def test_greets_politely(self) -> None:
        assert greet("Ada") == "Hello, Ada!"
