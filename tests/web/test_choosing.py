from __future__ import annotations

from pathlib import Path
from typing import Any

from dragoman.errors import ProtocolError
from dragoman.hub.hub import HarnessInfo
from dragoman.model.answers import Model
from dragoman.web.api.shapes import SessionInfo
from dragoman.web.archive_worker import ArchiveWorker
from dragoman.web.choosing import acts, choices, closed, receivers
from dragoman.web.page.rows import Choices, SessionRow
from dragoman.web.service import SessionService
from dragoman.web.settings import Settings
from support.page.fake_hub import FakeHub
from support.page.web_stage import open_archive, play


class _Hub(FakeHub):
    listed: Any = None
    facts: dict[str, Any] = {}

    def harnesses(self) -> list[HarnessInfo]:
        known: dict[str, Any] = {"state": "running", "sign_in_command": "codex login"}
        return [HarnessInfo(name="codex", title="Codex", **{**known, **self.facts})]

    async def models(self, harness: str | None = None) -> Any:
        assert harness == "codex"
        if self.listed is None:
            raise ProtocolError("no")
        return self.listed


def chosen(folder: Path, listed: Any = None, **facts: Any) -> Choices:
    found: list[Choices] = []
    root = str(folder.resolve())

    async def story() -> None:
        hub = _Hub(folder)
        hub.listed, hub.facts = listed, facts
        service = SessionService(hub, ArchiveWorker(open_archive(folder)), Settings())
        inside = SessionRow(session_id="a", model="old", harness="codex", cwd=f"{root}/in")
        outside = SessionRow(session_id="b", model="new", harness="codex", cwd="/elsewhere")
        found.append(await choices(service, [inside, outside]))
        await service.archive_worker.close()

    play(story())
    return found[0]


def test_models_of_the_harness_come_before_those_that_were_used(tmp_path: Path) -> None:
    listed = [Model(id="new"), Model(id="other")]

    assert chosen(tmp_path, listed).of("codex").models == ["new", "other", "old"]


def test_an_agent_that_tells_no_models_keeps_nobody_waiting(tmp_path: Path) -> None:
    found = chosen(tmp_path)

    assert found.of("codex").models == ["old", "new"]
    assert found.folders == [f"{tmp_path.resolve()}/in", str(tmp_path.resolve())]


def test_what_keeps_the_agent_from_working_is_said_with_the_way_out(tmp_path: Path) -> None:
    def problem(**facts: Any) -> str | None:
        return chosen(tmp_path, **facts).of("codex").problem

    assert problem() is None
    assert problem(signed_in=True, needs_sign_in=True) is None
    asked = problem(signed_in=False, needs_sign_in=True)
    assert asked == "Codex is not signed in: run `codex login` in a terminal."
    assert problem(problem="it is too old") == "Codex cannot be started: it is too old"


def test_the_state_of_an_agent_is_said_in_a_few_words(tmp_path: Path) -> None:
    def status(**facts: Any) -> str:
        return chosen(tmp_path, **facts).of("codex").status

    assert status() == "installed"
    assert status(version="1.2", signed_in=True) == "1.2 · signed in"
    assert status(version="1.2", needs_sign_in=True) == "1.2 · not signed in"
    assert status(problem="gone") == "not available"


def test_an_agent_that_is_not_running_is_not_started_for_its_models(tmp_path: Path) -> None:
    found = chosen(tmp_path, [Model(id="asked")], state="stopped", models=("known",))

    assert found.of("codex").models == ["known", "old", "new"]


def test_why_nobody_can_go_on_with_a_session_is_said(tmp_path: Path) -> None:
    service = SessionService(FakeHub(tmp_path), ArchiveWorker(open_archive(tmp_path)), Settings())
    root = str(tmp_path.resolve())

    def why(**facts: Any) -> str | None:
        known: dict[str, Any] = {"is_live": False, "harness": "codex", "cwd": f"{root}/in", **facts}
        return closed(service, SessionInfo(id="s", **known))

    assert why() is None
    assert why(archived=True) is None  # going on brings it back
    assert why(is_live=True, archived=True, cwd="/elsewhere") is None
    assert why(cwd="/elsewhere") == (
        "Agents may not work in /elsewhere. Allow the folder with `dragoman serve --root`."
    )
    assert "in the folder of this session" in (why(cwd=None) or "")
    assert why(harness="other") == "This server can resume only sessions of Codex."


def test_what_can_be_done_with_a_session_is_what_will_be_done(tmp_path: Path) -> None:
    service = SessionService(FakeHub(tmp_path), ArchiveWorker(open_archive(tmp_path)), Settings())
    root = str(tmp_path.resolve())

    def offered(**facts: Any) -> set[str]:
        known: dict[str, Any] = {"is_live": False, "harness": "codex", "cwd": f"{root}/in", **facts}
        return set(acts(service, SessionInfo(id="s", **known)))

    assert offered(is_live=True) == {"rename", "archive", "fork", "stop"}
    assert offered(is_live=True, archived=True) == {"unarchive", "fork", "stop"}
    assert offered() == {"rename", "archive", "fork"}
    assert offered(archived=True) == {"unarchive"}
    assert offered(cwd="/elsewhere") == offered(cwd=None) == {"rename", "archive"}
    assert offered(harness="other") == offered(harness=None) == set()


def test_a_session_is_handed_off_to_other_agents_within_the_roots(tmp_path: Path) -> None:
    service = SessionService(FakeHub(tmp_path), ArchiveWorker(open_archive(tmp_path)), Settings())
    root = str(tmp_path.resolve())

    def offered(**facts: Any) -> list[str]:
        known: dict[str, Any] = {"is_live": False, "harness": "claude", "cwd": root, **facts}
        return [each.value for each in receivers(service, SessionInfo(id="s", **known))]

    assert offered() == offered(harness="gemini") == ["codex"]
    assert offered(harness="codex") == []  # it has it already
    assert offered(cwd="/elsewhere") == offered(cwd=None) == []
