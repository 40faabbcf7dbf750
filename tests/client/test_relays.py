from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.client import relays
from dragoman.errors import UsageError


def test_a_relay_is_started_listed_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    name = relays.start(["cat"], name=None, cwd=str(tmp_path), unowned_seconds=60)

    [relay] = relays.every()
    assert (relay.name, relay.command, relay.cwd) == (name, ["cat"], str(tmp_path))
    assert relay.is_running
    assert not relay.is_owned
    assert relays.stop(name[:5])
    assert not relays.stop(name)
    with pytest.raises(UsageError, match="there is no relay"):
        relays.stop("")
