"""The files that an agent on this machine writes for a session, for those who drive it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from dragoman.drive.links.link import OpenLink
from dragoman.harnesses.contract.session_files import SessionFiles
from dragoman.model.intents import OpenSession


class OwnFiles:
    """The files of one agent's sessions; without a description of them, there is nothing to do."""

    def __init__(self, files: SessionFiles | None, env: Mapping[str, str]) -> None:
        self._files = files
        self._env = env

    @property
    def resume_reason(self) -> str:
        return self._files.resume_reason if self._files is not None else ""

    def resume_pause(self, session_id: str) -> float:
        """For how many seconds a session cannot be resumed yet."""
        if self._files is None:
            return 0.0
        from dragoman.drive.links.session_files import seconds_to_resume

        now = datetime.now(UTC).timestamp()
        return seconds_to_resume(self._files, self._env, session_id, now)

    def followed(self, link: OpenLink, opening: OpenSession | None) -> OpenLink:
        """The link of a session, with the new rows of its files among the lines."""
        if self._files is None or opening is None:
            return link
        from dragoman.drive.links.session_files import with_session_files

        return with_session_files(link, self._files, self._env, opening.resume)
