"""Logins of the page: two secrets per login, of which the server stores only hashes.

The browser sends the first secret automatically, as a cookie. Cookies ignore ports, so every other server
that the user visits on this machine receives it too. The page's code therefore keeps a second secret, the
*key*, in storage that belongs to one origin, and sends it in a header. A request needs both.

Logins are stored in a file, so that a page stays signed in when the server restarts. The file holds only
hashes, so reading it does not allow anyone to sign in.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

_log = logging.getLogger(__name__)
_BYTES: Final = 32
_LIFETIME: Final = timedelta(days=30)
_MOST: Final = 256
"""The most logins; the oldest are dropped."""
_CODE_LIFETIME: Final = timedelta(minutes=5)


class LoginSecrets(NamedTuple):
    """The two secrets of a new login. They are stored only in the browser."""

    cookie: str
    key: str


class Logins:
    """All valid logins. With a ``path``, they survive a restart."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = path
        self._now = now
        self._began: dict[str, datetime] = self._load()
        self._codes: dict[str, datetime] = {}

    def begin(self) -> LoginSecrets:
        """Create a login."""
        login = LoginSecrets(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
        self._began[_hash(*login)] = self._now()
        self._forget_old()
        self._save()
        return login

    def find(self, cookie: str, key: str) -> str | None:
        """The name of the login with these two secrets, if valid."""
        if not cookie or not key:
            return None
        name = _hash(cookie, key)
        return name if self.holds(name) else None

    def holds(self, name: str) -> bool:
        """Whether a login is still valid."""
        began = self._began.get(name)
        return began is not None and self._now() - began < _LIFETIME

    def end(self, name: str) -> None:
        """Revoke a login."""
        if self._began.pop(name, None) is not None:
            self._save()

    # Every program on this machine can read the arguments of the command that opens a browser. So the URL
    # carries a code that works once, and not the token.

    def new_code(self) -> str:
        """Create a code that signs in once, within a few minutes."""
        code = secrets.token_urlsafe(_BYTES)
        self._codes[_hash(code)] = self._now()
        return code

    def take_code(self, code: str) -> bool:
        """Whether this is a valid code; it is used up by the call."""
        made = self._codes.pop(_hash(code), None)
        return made is not None and self._now() - made < _CODE_LIFETIME

    def _forget_old(self) -> None:
        now = self._now()
        kept = [item for item in self._began.items() if now - item[1] < _LIFETIME]
        self._began = dict(sorted(kept, key=lambda item: item[1])[-_MOST:])

    def _load(self) -> dict[str, datetime]:
        if self._path is None:
            return {}
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, datetime])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as problem:
            _log.warning("cannot read the logins, so all users must sign in again: %s", problem)
            return {}

    def _save(self) -> None:
        if self._path is None:
            return
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.encode(self._began))
            os.replace(draft, self._path)
        except OSError as problem:
            # A revoked login stays revoked in this process; it would come back only after a restart.
            _log.warning("cannot store the logins: %s", problem)


def _hash(*parts: str) -> str:
    # The secrets are long and random, so a fast hash is sufficient.
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
