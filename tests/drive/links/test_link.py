import inspect

import pytest

from dragoman.drive.links.link import Link
from dragoman.drive.links.ssh_link import SshLink
from dragoman.drive.links.websocket import WebSocketLink
from dragoman.drive.process.child import Process

_PROMISED = [name for name in vars(Link) if not name.startswith("_")]


@pytest.mark.parametrize("kind", [Process, SshLink, WebSocketLink], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", _PROMISED)
def test_every_kind_of_link_keeps_the_promise(kind: type, name: str) -> None:
    promised, kept = vars(Link)[name], inspect.getattr_static(kind, name)
    assert isinstance(kept, property) == isinstance(promised, property)
    assert inspect.iscoroutinefunction(kept) == inspect.iscoroutinefunction(promised)
