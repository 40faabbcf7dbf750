"""The page with the real server, the real agent program and a stand-in model."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import expect

from support.page.server import Server

from .conftest import FREE, Tabs, begin, is_over

_CONFIG = """
config:
  approval_policy: on-request
  sandbox_mode: workspace-write
"""
Serve = Callable[[str], Server]


def test_a_task_from_the_prompt_to_its_end(serve: Serve, tabs: Tabs) -> None:
    script = """
- think: I look first.
- plan: [doing: Look, todo: Write]
- run: cat README.md
- patch: |
    *** Begin Patch
    *** Add File: answer.txt
    +42
    *** End Patch
- tokens: {input: 900, cached: 100, output: 20}
- say: It is **42**.
"""
    server = serve(script)

    page = begin(tabs, server, "Write the answer", **FREE)
    is_over(page)

    assert "token" not in page.url
    expect(page.locator("#title")).to_have_text("Write the answer")
    expect(page.locator("#log .is-prompt .prose")).to_have_text("Write the answer")
    expect(page.locator("#log .use.command.ok .output")).to_contain_text("hello")
    expect(page.locator("#log .use.edit.ok .path")).to_contain_text("answer.txt")
    expect(page.locator("#log .text strong").last).to_have_text("42")
    expect(page.locator("#context-words")).to_contain_text("tokens")
    expect(page.locator("#sessions .is-done .title")).to_have_text("Write the answer")
    assert (server.root / "answer.txt").read_text() == "42\n"
    page.goto(f"{server.url}/history?q=answer")
    for _ in range(60):  # the index is brought up to date now and then
        if page.locator("#found .card").count():
            break
        page.wait_for_timeout(500)
        page.reload()
    expect(page.locator("#found .card").first).to_contain_text("Write the answer")
    page.locator("#found .card").first.click()
    expect(page.locator(".entry:focus")).to_have_count(1)  # at the turn that has it
    page.goto(f"{server.url}/usage")
    expect(page.locator(".chart")).to_be_visible()


def test_an_approval_is_given_and_another_refused_with_a_word(serve: Serve, tabs: Tabs) -> None:
    script = f"""
turns:
  - - run: {{command: touch allowed, escalate: I need it}}
    - run: {{command: touch refused, escalate: And this}}
    - say: After.
{_CONFIG}"""
    server = serve(script)
    page = begin(tabs, server, "go")

    form = page.locator("#dock form")
    expect(form.locator(".line")).to_contain_text("touch allowed")
    expect(page.locator("#state")).to_have_text("waiting for you")
    form.get_by_role("button", name="Allow", exact=True).click()
    expect(form.locator(".line")).to_contain_text("touch refused")
    other = page.context.new_page()
    tabs.watch(other)
    other.goto(page.url)
    expect(other.locator("#dock form")).to_have_count(1)
    form.locator(".word-to-agent").fill("Not today.")
    form.get_by_role("button", name="Deny", exact=True).click()

    is_over(page)
    is_over(other)
    expect(other.locator("#dock form")).to_have_count(0)
    expect(page.locator("#log .approval.yes")).to_have_count(1)
    expect(page.locator("#log .approval.no")).to_have_count(1)
    assert (server.root / "allowed").exists()
    assert not (server.root / "refused").exists()
    page.goto(f"{server.url}/policy")
    expect(page.locator("#tried")).to_contain_text("2 past requests")
    page.fill("#rules", 'default = "ask"\n[[rule]]\ncommand = "touch"\ndecision = "deny"\n')
    expect(page.locator("#tried")).to_contain_text("2 deny")
    page.click("[value=save]")
    expect(page.locator(".toast")).to_contain_text("Saved")


def test_words_stream_and_a_turn_is_steered_interrupted_and_followed_by_another(
    serve: Serve, tabs: Tabs
) -> None:
    script = """
turns:
  - - run: {command: "until [ -e seen ]; do echo line $((++i)); sleep 0.2; done", wait: 60}
    - slow: 0.3
    - say: One two three four five six seven eight nine ten eleven twelve.
    - run: {command: sleep 60, wait: 60}
    - say: Never.
  - - say: You are welcome.
"""
    server = serve(script)
    page = begin(tabs, server, "Work", **FREE)
    expect(page.locator(".use.command.running .output.live")).to_contain_text("line 2")
    expect(page.locator("#send")).to_have_text("Steer")
    page.fill("#words", "Be quick")
    page.keyboard.press("Enter")
    expect(page.locator("#words")).to_have_value("")

    page.reload()
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    (server.root / "seen").touch()
    expect(page.locator(".live-text .streaming")).to_have_text(re.compile("One two"))
    expect(page.locator("#log .is-prompt .prose")).to_have_text(["Work", "Be quick"])
    expect(page.locator(".use.command.running")).to_contain_text("sleep 60")
    page.click("#interrupt")
    is_over(page, "idle")
    expect(page.locator("#log .turn-end.interrupted")).to_have_count(1)

    page.fill("#words", "Thanks")
    page.click("#send")
    expect(page.locator("#log .text").last).to_contain_text("You are welcome.")
    is_over(page)
    expect(page.locator("#turns li.interrupted")).to_have_text("Work")
    expect(page.locator("#turns li.completed")).to_have_text("Thanks")


def test_what_is_being_said_is_there_from_its_beginning_after_a_reload(
    serve: Serve, tabs: Tabs
) -> None:
    script = """
turns:
  - - run:
        command: for i in $(seq 1 20); do sleep 0.1; echo line $i; done; until [ -e seen ]; do sleep 0.1; done
        wait: 60
    - slow: 0.4
    - say: One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.
    - run: {command: sleep 60, wait: 60}
"""
    server = serve(script)
    page = begin(tabs, server, "Work", **FREE)
    output = page.locator(".use.command.running .output.live")
    expect(output).to_contain_text("line 20")
    shown = output.text_content() or ""
    assert len(shown.split("\n")) > 10  # the agent may not tell the very first

    page.reload()
    expect(output).to_contain_text("line 20")
    assert output.text_content() == shown
    (server.root / "seen").touch()
    text = page.locator(".live-text .streaming")
    expect(text).to_have_text(re.compile("three"))
    page.reload()
    expect(text).to_have_text(re.compile(r"^One two three four five six"))
    expect(page.locator("#log .text .prose")).to_have_text(
        re.compile(r"^One two three .* fifteen sixteen\.$")
    )


def test_steered_words_are_pending_and_come_back_if_they_were_never_read(
    serve: Serve, tabs: Tabs
) -> None:
    server = serve("- run: {command: sleep 60, wait: 60}\n- say: Never.\n")
    page = begin(tabs, server, "Work", **FREE)
    expect(page.locator(".use.command.running")).to_contain_text("sleep 60")

    page.fill("#words", "Be <b>quick</b>")
    page.keyboard.press("Enter")
    expect(page.locator("#steered .pending p")).to_have_text("Be <b>quick</b>")
    expect(page.locator("#words")).to_have_value("")
    page.reload()
    expect(page.locator("#steered .pending p")).to_have_text("Be <b>quick</b>")
    page.fill("#words", "Something else")
    page.click("#interrupt")

    is_over(page, "idle")
    expect(page.locator("#words")).to_have_value("Be <b>quick</b>\n\nSomething else")
    expect(page.locator("#steered .pending")).to_have_count(0)
    expect(page.locator(".toast.error")).to_contain_text("back in the text field")
    page.reload()
    expect(page.locator("#words")).to_have_value("Be <b>quick</b>\n\nSomething else")


def test_stopping_stops_the_commands_too_and_says_which(serve: Serve, tabs: Tabs) -> None:
    script = """
turns:
  - - run: {command: sleep 4711, wait: 60}
  - - run: "setsid sleep 4712 </dev/null >/dev/null 2>&1 & sleep 0.2"
    - say: It goes on without me.
"""
    server = serve(script)
    page = begin(tabs, server, "Work", **FREE)
    expect(page.locator(".use.command.running")).to_contain_text("sleep 4711")
    page.get_by_role("button", name="Stop").click()
    is_over(page, "idle")
    expect(page.locator(".toast")).to_contain_text("sleep 4711")
    assert "stop_commands" not in (page.locator("#log").text_content() or "")
    gone("sleep 4711")

    page.fill("#words", "Again")
    page.keyboard.press("Enter")
    is_over(page)
    left = page.get_by_role("button", name="Stop 1 running command")
    expect(left).to_be_visible()
    left.click()
    expect(left).to_be_hidden()
    expect(page.locator(".toast").last).to_contain_text("Stopped: ")
    gone("sleep 4712")


def gone(command: str) -> None:
    """No process runs it, soon."""
    end = time.monotonic() + 30
    while any(command in each for each in command_lines()):
        assert time.monotonic() < end
        time.sleep(0.1)


def command_lines() -> list[str]:
    found: list[str] = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def test_a_server_that_is_killed_and_started_again_loses_nothing_that_was_shown(
    serve: Serve, tabs: Tabs
) -> None:
    script = """
turns:
  - - say: {text: Before., phase: commentary}
    - run: {command: sleep 60, wait: 60}
    - say: Never.
  - - say: Here again.
"""
    server = serve(script)
    page = begin(tabs, server, "Work", **FREE)
    expect(page.locator(".use.command.running")).to_contain_text("sleep 60")
    shown = page.locator("#log .entry").count()

    server.stop(signal.SIGKILL)
    expect(page.locator("#connection")).to_have_text("Reconnecting …")
    server.start()

    expect(page.locator("#connection")).to_have_text("")
    assert page.locator("#log .entry").count() >= shown
    expect(page.locator("#log .is-text .prose").first).to_have_text("Before.")
    expect(page.locator("#send")).to_have_text("Send")
    page.fill("#words", "Still there?")
    page.click("#send")
    expect(page.locator("#log .text").last).to_contain_text("Here again.")
    page.reload()
    expect(page.locator("#log .is-prompt .prose")).to_have_text(["Work", "Still there?"])


def test_a_turn_works_in_the_sandbox_that_was_chosen_for_it(serve: Serve, tabs: Tabs) -> None:
    server = serve("turns:\n  - - say: One.\n  - - say: Two.\n")
    page = begin(tabs, server, "First", **FREE)
    is_over(page)
    page.wait_for_selector("body[data-ready]")  # it may have been over when the page was made

    page.select_option("#composer [name=access]", "read-only")
    page.fill("#words", "Second")
    page.keyboard.press("Enter")
    expect(page.locator("#log .is-text .prose").last).to_have_text("Two.")
    is_over(page)

    assert server.sandboxes() == ["danger-full-access", "read-only"]
    expect(page.locator("#composer [name=access]")).to_have_value("read-only")
    page.reload()
    expect(page.locator("#composer [name=access]")).to_have_value("read-only")
