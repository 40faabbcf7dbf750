"""Speaking to an agent through the page: turns, steering, interrupting, deciding; with keys alone, too."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from dragoman.model.messages import ApprovalRequested, Message, Text, ToolCall, TurnEnded
from dragoman.web.page.rows import PolicyView
from support.page.more_scenes import asking_for_changes
from support.page.offered import offered, other_choices
from support.page.scenes import asking, settled, shop
from support.page.stage import Stage

from .conftest import Tabs, until


def waiting(stage: Stage, tabs: Tabs, *asked: Message) -> Page:
    session = stage.session("shop", state="working")
    stage.say(session, *shop(), *(asked or asking()))
    page = tabs.open(f"{stage.url}/s/shop")
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    page.wait_for_selector("#dock form")
    return page


def decided(stage: Stage) -> dict[str, object]:
    [(_, path, body)] = [each for each in stage.asked if "/approvals/" in each[1]]
    return {"path": path, **body}


def test_an_approval_shows_all_that_is_asked_and_is_allowed_with_a_word(
    stage: Stage, tabs: Tabs
) -> None:
    page = waiting(stage, tabs)
    form = page.locator("#dock form")
    expect(form.locator(".line")).to_contain_text("./deploy.sh staging --tag 2026.11.3 && curl")
    expect(form.locator(".reason")).to_contain_text("needs network access")
    expect(form.locator(".countdown")).to_have_text(
        re.compile(r"denied in 1 min \d+ s without an answer")
    )
    expect(form.locator("button")).to_have_count(4)
    expect(page.locator("#state")).to_have_text("waiting for you")
    expect(page.locator("#urgent, #polite")).to_have_count(2)

    form.locator(".word-to-agent").fill("Only this once.")
    form.get_by_role("button", name="Allow", exact=True).click()

    expect(page.locator("#dock form")).to_have_count(0)
    expect(page.locator("#state")).to_have_text("working")
    assert decided(stage) == {
        "path": "/api/v1/approvals/a1",
        "session_id": "shop",
        "decision": "allow",
        "message": "Only this once.",
    }


def test_changes_that_are_asked_for_are_named_from_the_folder_on(stage: Stage, tabs: Tabs) -> None:
    page = waiting(stage, tabs, *asking_for_changes())

    paths = page.locator("#dock .path")
    expect(paths.first).to_have_text("shop/tax.py")
    expect(paths.first).to_have_attribute("title", "/home/ada/shop/shop/tax.py")
    card = page.locator("#log [data-approval=edit]")
    expect(card.locator(".decision")).to_have_text("waiting for you")
    expect(card.locator(".line")).to_be_hidden()  # all of it is in the form
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(card.locator(".line")).to_be_visible()


def test_a_command_that_waits_for_a_yes_does_not_run(stage: Stage, tabs: Tabs) -> None:
    of: dict[str, Any] = {"session_id": "shop", "turn_id": "t2"}
    call = ToolCall(**of, call_id="c", tool="Bash", native_tool="x", input={"command": "./deploy"})
    started, prompt, text, asked = asking()
    page = waiting(stage, tabs, started, prompt, text, call, asked)

    expect(page.locator("#log .use.command.open .exit")).to_have_text("waits for you")
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page.locator("#log .use.command.open .exit")).to_contain_text("running")


def test_an_approval_that_is_settled_elsewhere_goes_away(stage: Stage, tabs: Tabs) -> None:
    page = waiting(stage, tabs)
    other = tabs.open(f"{stage.url}/s/shop")
    other.wait_for_selector("#dock form")

    page.get_by_role("button", name="Deny", exact=True).click()
    stage.say(stage.sessions["shop"], settled(decision="deny"))

    expect(other.locator("#dock form")).to_have_count(0)
    for each in (page, other):
        expect(each.locator("#log .approval.no .decision")).to_have_text("deny")


def test_a_decision_that_comes_too_late_is_told(stage: Stage, tabs: Tabs) -> None:
    page = waiting(stage, tabs)
    stage.is_late = True

    page.get_by_role("button", name="Allow", exact=True).click()

    expect(page.locator(".toast.error")).to_have_text("this request is not open")
    expect(page.locator("#dock form")).to_have_count(0)


def test_keys_alone_will_do(stage: Stage, tabs: Tabs) -> None:
    page = waiting(stage, tabs)
    # A key that was meant for something else decides nothing.
    until(page, "Date.now() - document.querySelector('#dock form').dataset.since > 700")

    page.keyboard.press("n")
    expect(page.locator("#dock form")).to_have_count(0)
    assert decided(stage)["decision"] == "deny"

    page.keyboard.press("r")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.type("Not on a Friday.")
    page.keyboard.press("Enter")
    expect(page.locator("#words")).to_have_value("")
    assert stage.asked[-1] == ("POST", "/api/v1/sessions/shop/steer", {"text": "Not on a Friday."})

    page.keyboard.press("Escape")
    expect(page.locator("#words")).not_to_be_focused()
    with page.expect_response("**/api/v1/sessions/shop/interrupt"):
        page.keyboard.press("Escape")

    page.keyboard.press("k")
    expect(page.locator(".is-prompt:focus")).to_contain_text("Now publish it")
    page.keyboard.press("k")
    expect(page.locator(".is-prompt:focus")).to_contain_text("off by a cent")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".is-thinking:focus")).to_have_count(1)
    page.keyboard.press("o")
    expect(page.locator(".is-thinking details")).to_have_attribute("open", "")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()


def test_a_key_pressed_as_the_question_appears_decides_nothing(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("shop", state="working")
    stage.say(session, *shop())
    page = tabs.open(f"{stage.url}/s/shop")
    page.wait_for_selector("#connection[data-state=live]", state="attached")

    stage.say(session, *asking())
    page.wait_for_selector("#dock form")
    page.keyboard.press("y")
    with page.expect_response("**/fragments?*"):  # whatever was asked before is answered by now
        stage.say(session, Text(session_id="shop", text="Meanwhile."))

    expect(page.locator("#log >> text=Meanwhile.")).to_be_attached()
    expect(page.locator("#dock form")).to_have_count(1)
    assert not [each for each in stage.asked if "/approvals/" in each[1]]


def test_a_question_is_answered(stage: Stage, tabs: Tabs) -> None:
    page = waiting(
        stage,
        tabs,
        ApprovalRequested(
            session_id="shop",
            approval_id="q",
            kind="question",
            detail={
                "questions": [
                    {"id": "db", "question": "Which one?", "options": [{"label": "SQLite"}]},
                    {"id": "why", "question": "Why?"},
                ]
            },
        ),
    )

    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("#dock form .problem")).to_have_text("Answer each question.")
    assert not [each for each in stage.asked if "/approvals/" in each[1]]
    page.locator("#dock").get_by_text("SQLite").click()
    page.locator(".question[data-question=why] .own").fill("It is small.")
    page.get_by_role("button", name="Answer", exact=True).click()

    expect(page.locator("#dock form")).to_have_count(0)
    assert decided(stage)["answers"] == {"db": ["SQLite"], "why": ["It is small."]}


def test_a_follow_up_is_a_turn_with_the_model_that_was_chosen(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("shop")
    stage.say(session, *shop())
    page = tabs.open(f"{stage.url}/s/shop")
    page.wait_for_selector("#connection[data-state=live]", state="attached")

    page.select_option("#composer [name=model]", "gpt-5.5-mini")
    page.fill("#words", "And now?")
    page.click("#send")

    expect(page.locator("#state")).to_have_text("working")
    expect(page.locator("#send")).to_have_text("Steer")
    expect(page.locator("#interrupt")).to_be_visible()
    given = {"text": "And now?", "model": "gpt-5.5-mini"}
    assert stage.asked[-1] == ("POST", "/api/v1/sessions/shop/turns", given)
    stage.say(session, TurnEnded(session_id="shop", outcome="interrupted"))
    expect(page.locator("#state")).to_have_text("idle")


def test_a_turn_gets_the_sandbox_that_was_chosen_for_it(stage: Stage, tabs: Tabs) -> None:
    session = stage.session("shop")
    stage.say(session, *shop())
    page = tabs.open(f"{stage.url}/s/shop")
    page.wait_for_selector("#connection[data-state=live]", state="attached")
    picker = page.locator("#composer [name=access]")
    expect(picker).to_have_value("workspace-write")

    picker.select_option("read-only")
    page.fill("#words", "Only look.")
    page.click("#send")
    expect(picker).to_be_disabled()
    given = {"text": "Only look.", "model": "gpt-5.5", "access": "read-only"}
    assert stage.asked[-1] == ("POST", "/api/v1/sessions/shop/turns", given)

    stage.change(session, sandbox="read-only")
    stage.say(session, TurnEnded(session_id="shop", outcome="completed"))
    expect(picker).to_be_enabled()
    expect(picker).to_have_value("read-only")
    page.fill("#words", "And again.")
    page.click("#send")
    expect(page.locator("#words")).to_have_value("")
    assert stage.asked[-1][2] == {"text": "And again.", "model": "gpt-5.5"}
    stage.change(session, sandbox="danger-full-access")  # somebody else chose that
    expect(picker).to_have_value("danger-full-access")


def test_a_session_begins(stage: Stage, tabs: Tabs) -> None:
    stage.say(stage.session("shop"), *shop())
    page = tabs.open(stage.url)
    expect(page.locator("#prompt")).to_be_focused()

    page.keyboard.type("Do it.")
    expect(page.locator("#means")).to_contain_text("can change files in the workspace")
    page.select_option("#start .choices:not([hidden]) [name=access]", "read-only")
    expect(page.locator("#means")).to_contain_text("can read files and change nothing")
    page.locator("#prompt").press("Enter")

    page.wait_for_url("**/s/shop")
    assert stage.asked[0][2] == {
        "prompt": "Do it.",
        "cwd": "/home/ada/shop",
        "harness": "codex",
        "access": "read-only",
        "asking": "on-request",
    }


def test_the_choices_are_those_of_the_agent_that_is_chosen(stage: Stage, tabs: Tabs) -> None:
    stage.session("shop")
    gone = other_choices(name="gone", title="Gone", problem="Install it.", is_installed=False)
    stage.choices = offered([], ["/home/ada/shop"], other_choices(), gone)
    page = tabs.open(stage.url)
    page.wait_for_selector("body[data-ready]")
    page.click(".harness:has([value=other])")
    expect(page.locator("#means")).to_have_text("It only looks.")
    expect(page.locator("#start [name=access]:visible")).to_have_value("look")
    expect(page.locator("#start [name=asking]:visible")).to_have_count(0)

    page.click(".harness:has([value=gone])")
    expect(page.locator("#start .notice:visible")).to_have_text("Install it.")
    expect(page.locator("#start button[type=submit]")).to_be_disabled()

    page.click(".harness:has([value=other])")
    page.fill("#prompt", "Look.")
    page.locator("#prompt").press("Enter")
    page.wait_for_url("**/s/shop")
    assert stage.asked[0][2] == {
        "prompt": "Look.",
        "cwd": "/home/ada/shop",
        "harness": "other",
        "access": "look",
    }
    page.goto(stage.url)  # the choice is remembered
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("[name=harness]:checked")).to_have_value("other")


def test_a_policy_is_tried_while_it_is_written_and_saved(stage: Stage, tabs: Tabs) -> None:
    stage.policy = PolicyView(text='default = "ask"\n')
    request = {"kind": "command", "summary": "rm -rf <b>x</b>", "session_id": "shop", "seq": 3}
    stage.verdicts = [{**request, "decision": "deny", "rule": "rule 1"}]
    page = tabs.open(f"{stage.url}/policy")
    expect(page.locator("#tried")).to_have_text("1 past request: 1 deny.")
    expect(page.locator("#verdicts td.what")).to_have_text("rm -rf <b>x</b>")

    page.click("#example")
    # What stands before the first rule is there once.
    expect(page.locator("#rules")).to_have_value(re.compile(r'^default = "ask"\n\n\[\[rule\]\]'))
    assert page.locator("#rules").input_value().count("default = ") == 1
    page.fill("#rules", "wrong = 1\n")
    expect(page.locator("#problem")).to_have_text("policy, line 2: there is no key 'wrong'")
    page.fill("#rules", 'default = "deny"\n')
    expect(page.locator("#problem")).to_have_text("")
    page.keyboard.press("Control+s")

    expect(page.locator(".toast")).to_contain_text("Saved")
    assert ("PUT", "/api/v1/policy", {"text": 'default = "deny"\n'}) in stage.asked


def test_what_is_always_allowed_is_listed_with_its_file_and_can_be_removed(
    stage: Stage, tabs: Tabs
) -> None:
    rule: dict[str, object] = {"decision": "allow", "host": None, "prefix": [], "line": 3}
    rule["stored_in"] = "/home/ada/.codex/rules/default.rules"
    stage.remembered = [
        {**rule, "id": "r1", "prefix": ["npm", "<b>run"]},
        {**rule, "id": "r2", "host": "example.org"},
    ]
    page = tabs.open(f"{stage.url}/policy")
    rules = page.locator("#remembered li")
    expect(rules.locator("code")).to_have_text(["npm <b>run", "connect to example.org"])
    expect(rules.first).to_contain_text("/home/ada/.codex/rules/default.rules, line 3")

    rules.first.locator("button").click()
    expect(rules.locator("code")).to_have_text(["connect to example.org"])
    assert ("DELETE", "/api/v1/policy/remembered/r1") in [each[:2] for each in stage.asked]
    rules.first.locator("button").click()
    expect(rules).to_have_text("None yet.")
