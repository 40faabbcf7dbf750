from __future__ import annotations

import os
import sys

import pytest

from dragoman.folders import cache_path


def test_the_variable_names_the_folder_itself() -> None:
    assert cache_path({"DRAGOMAN_CACHE": "/c", "XDG_CACHE_HOME": "/x"}) == "/c"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these have folders of their own")
def test_otherwise_it_is_in_the_users_cache() -> None:
    assert cache_path({"XDG_CACHE_HOME": "/x"}) == os.path.join("/x", "dragoman")
    assert cache_path({}) == os.path.join(os.path.expanduser("~"), ".cache", "dragoman")
