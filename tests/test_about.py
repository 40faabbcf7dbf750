import dragoman
from dragoman.about import VERSION


def test_there_is_one_version() -> None:
    assert dragoman.__version__ == VERSION
