"""Who is signed in to the page: two secrets for each login, of which the server keeps only a hash.

The browser sends the first secret by itself, as a cookie. A browser does not tell ports apart when it sends cookies, so
every other server on this machine that a person visits receives it too. The second secret, the *key*, is therefore
kept by the page's own code, in storage that belongs to one address and port, and sent in a header. A request needs both.

Logins are kept in a file, so that a page stays signed in when the server is restarted. The file holds hashes: whoever
reads it cannot sign in with what it says.
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
"""Logins that are kept; the oldest make room."""
_CODE_LIFETIME: Final = timedelta(minutes=5)


class LoginSecrets(NamedTuple):
    """The two secrets of a new login. They exist here and in the browser, nowhere else."""

    cookie: str
    key: str


class Logins:
    """All current logins. With a ``path`` they outlive this process."""

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
        """Sign somebody in."""
        login = LoginSecrets(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
        self._began[_hash(*login)] = self._now()
        self._forget_old()
        self._save()
        return login

    def find(self, cookie: str, key: str) -> str | None:
        """The name of the login that these two secrets belong to, if there is one."""
        if not cookie or not key:
            return None
        name = _hash(cookie, key)
        return name if self.holds(name) else None

    def holds(self, name: str) -> bool:
        """Whether a login is still valid."""
        began = self._began.get(name)
        return began is not None and self._now() - began < _LIFETIME

    def end(self, name: str) -> None:
        """Sign out: from now on its secrets open nothing."""
        if self._began.pop(name, None) is not None:
            self._save()

    # The command that opens a browser has the address among its arguments, where every program on this machine can
    # read it. So that address holds a code that works once, and not the token.

    def new_code(self) -> str:
        """A code that signs in once, within a few minutes."""
        code = secrets.token_urlsafe(_BYTES)
        self._codes[_hash(code)] = self._now()
        return code

    def take_code(self, code: str) -> bool:
        """Whether this is such a code; it is used up by that."""
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
            _log.warning("logins cannot be read, so everyone must sign in again: %s", problem)
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
            # What was revoked is revoked in this process; only a restart would bring it back.
            _log.warning("logins cannot be stored: %s", problem)


def _hash(*parts: str) -> str:
    # The secrets are random and long: no slow hash is needed to keep them from being guessed.
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
