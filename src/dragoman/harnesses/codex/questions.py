"""Requests of Codex that wait for an answer, as approvals, and the answers to them.

Releases have used three sets of words for one decision; ours are the ones that approval policies
use: ``allow``, ``allow_for_session``, ``allow_always`` (remember the rule), ``deny``, ``cancel``
(deny and stop the turn), ``answered``.
"""

from __future__ import annotations

import re
import shlex
from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.tools.commands import command_line, wrapping_shell
from dragoman.harnesses.codex.tools.patches import edit_call
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.model.messages import AlwaysAllow, ApprovalKind
from dragoman.model.tools import ASK_USER, BASH, BASH_OUTPUT, mcp_tool

ALLOW: Final = "allow"
ALLOW_FOR_SESSION: Final = "allow_for_session"
ALLOW_ALWAYS: Final = "allow_always"
DENY: Final = "deny"
CANCEL: Final = "cancel"
ANSWERED: Final = "answered"
USUAL_CHOICES: Final = (ALLOW, ALLOW_FOR_SESSION, DENY, CANCEL)
HOME: Final = "$CODEX_HOME"
"""Where Codex keeps its files, if the stream does not contain it."""

_NETWORK: Final = "applyNetworkPolicyAmendment"
_TOOL_IN_QUESTION: Final = re.compile(r'\btool "([^"]+)"')
_DECISIONS: Final = {
    "accept": ALLOW,
    "approved": ALLOW,
    "acceptForSession": ALLOW_FOR_SESSION,
    "approved_for_session": ALLOW_FOR_SESSION,
    "acceptWithExecpolicyAmendment": ALLOW_ALWAYS,
    "approved_execpolicy_amendment": ALLOW_ALWAYS,
    "applyNetworkPolicyAmendment": ALLOW_ALWAYS,
    "network_policy_amendment": ALLOW_ALWAYS,
    "approved_mcp_policy_amendment": ALLOW_ALWAYS,
    "decline": DENY,
    "denied": DENY,
    "timed_out": DENY,
    "cancel": CANCEL,
    "abort": CANCEL,
}


def decision_of(word: Any) -> str:
    """Our word for a decision as some release spells it: a word, or a word with details."""
    name = as_str(word) or next(iter(as_dict(word)), "")
    return _DECISIONS.get(name, name or DENY)


def knows_decision(word: str) -> bool:
    """Whether we have a word for this decision."""
    return word in _DECISIONS


def answer_of(result: Any) -> str:
    """Our word for a whole answer: to an approval, an elicitation or a list of questions."""
    given = as_dict(result)
    if "decision" in given:
        return decision_of(given["decision"])
    if "action" in given:
        return decision_of(given["action"])
    if "answers" in given:
        return ANSWERED if given["answers"] else DENY
    if "permissions" in given:
        if not as_dict(given["permissions"]):
            return DENY
        return ALLOW_FOR_SESSION if given.get("scope") == "session" else ALLOW
    if "success" in given:
        return ANSWERED
    return ANSWERED if given else DENY


def detail_of(result: Any) -> dict[str, Any]:
    """What an answer adds to its decision. What was filled in comes back in the call's result."""
    given = as_dict(result)
    added = {
        "rules": [as_dict(given.get("decision"))] if as_dict(given.get("decision")) else [],
        "permissions": as_dict(given.get("permissions")),
    }
    return {name: value for name, value in added.items() if value}


def choices_of(
    available: Any, usual: tuple[str, ...] = USUAL_CHOICES, *, rule: dict[str, Any] | None = None
) -> list[str]:
    """The decisions on offer. Releases list some and accept the usual ones besides.

    ``allow_always`` is one of them if there is a rule to remember.
    """
    offered = [decision_of(word) for word in as_list(available)]
    if rule is None:
        offered = [word for word in offered if word != ALLOW_ALWAYS]
    elif ALLOW_ALWAYS not in offered:
        usual = (*usual[:2], ALLOW_ALWAYS, *usual[2:])
    return list(dict.fromkeys([*offered, *usual]))


def rule_to_remember(params: dict[str, Any]) -> dict[str, Any] | None:
    """The decision, as Codex spells it, that allows a command and remembers the rule that it proposes."""
    for offered in as_list(params.get("availableDecisions")):
        given = as_dict(offered)
        execpolicy = as_dict(given.get("acceptWithExecpolicyAmendment"))
        network = as_dict(as_dict(given.get(_NETWORK)).get("network_policy_amendment"))
        if as_list(execpolicy.get("execpolicy_amendment")) or network.get("action") == "allow":
            return given
    rule = as_list(params.get("proposedExecpolicyAmendment"))
    if rule:
        return {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": rule}}
    for proposed in map(as_dict, as_list(params.get("proposedNetworkPolicyAmendments"))):
        if proposed.get("action") == "allow":
            return {_NETWORK: {"network_policy_amendment": proposed}}
    return None


def always_allow(rule: dict[str, Any] | None, home: str | None) -> AlwaysAllow | None:
    """What :func:`rule_to_remember` would remember, and where Codex writes it down."""
    if rule is None:
        return None
    words = as_list(as_dict(rule.get("acceptWithExecpolicyAmendment")).get("execpolicy_amendment"))
    network = as_dict(as_dict(rule.get(_NETWORK)).get("network_policy_amendment"))
    return AlwaysAllow(
        prefix=[str(word) for word in words],
        host=as_str(network.get("host")),
        stored_in=f"{home or HOME}/rules/default.rules",
    )


def lasting_choices(meta: Any) -> list[str]:
    """The decisions on offer about an elicitation: some can be remembered."""
    offered = as_dict(meta).get("persist")
    spans = [offered] if isinstance(offered, str) else as_list(offered)
    for_session = [ALLOW_FOR_SESSION] if "session" in spans else []
    always = [ALLOW_ALWAYS] if "always" in spans else []
    return [ALLOW, *for_session, *always, DENY, CANCEL]


def ask_command(
    session: SessionAssembler,
    approval_id: str,
    *,
    command: Any,
    cwd: str | None,
    reason: str | None,
    choices: list[str] | None = None,
    always: AlwaysAllow | None = None,
    network: dict[str, Any] | None = None,
) -> None:
    """A command; or, with ``network``, a connection that a command wants to make."""
    line = command_line(command)
    argv = [str(word) for word in as_list(command)] or None
    whole = shlex.join(argv) if argv else as_str(command)
    host = as_str(as_dict(network).get("host"))
    session.ask(
        approval_id,
        # A rule about commands does not cover the hosts that they may reach.
        "permissions" if network else "command",
        tool=BASH,
        summary=f"connect to {host or 'the network'}" if network else line or reason or "",
        detail=_present(command=line, cwd=cwd, reason=reason, network=network or None),
        choices=list(USUAL_CHOICES) if choices is None else choices,
        command=whole,
        argv=argv,
        shell=wrapping_shell(command),
        cwd=cwd,
        always=always,
    )


def ask_input(
    session: SessionAssembler, approval_id: str, *, text: str, cwd: str | None, reason: str | None
) -> None:
    """Input for a command that is already running. No rule about commands applies."""
    session.ask(
        approval_id,
        "tool",
        tool=BASH_OUTPUT,
        summary=text or reason or "",
        detail=_present(arguments={"chars": text}, cwd=cwd, reason=reason),
        choices=list(USUAL_CHOICES),
        cwd=cwd or session.cwd,
    )


def ask_edit(
    session: SessionAssembler,
    approval_id: str,
    *,
    changes: list[dict[str, Any]],
    reason: str | None,
    choices: list[str] | None = None,
    grant_root: str | None = None,
) -> None:
    """``grant_root``: with the edit, everything below this directory may be written from now on."""
    summary = ", ".join(f"{change['kind']} {change['path']}" for change in changes)
    if grant_root:
        summary = f"{summary}, and write below {grant_root}".removeprefix(", and ")
    detail = _present(changes=changes or None, reason=reason, grant_root=grant_root)
    _ask(session, approval_id, "edit", edit_call(changes)[0], summary, detail, choices)


def ask_question(session: SessionAssembler, approval_id: str, questions: list[Any]) -> None:
    asked = [as_dict(question) for question in questions]
    texts = [as_str(question.get("question")) or "" for question in asked]
    options = as_list(asked[0].get("options")) if len(asked) == 1 else []
    choices = [label for option in options if (label := as_str(as_dict(option).get("label")))]
    detail = {"questions": questions}
    _ask(session, approval_id, "question", ASK_USER, " ".join(texts), detail, choices)


def ask_permissions(
    session: SessionAssembler, approval_id: str, permissions: Any, reason: str | None
) -> None:
    detail = _present(permissions=permissions, reason=reason)
    choices = [ALLOW, ALLOW_FOR_SESSION, DENY, CANCEL]
    _ask(session, approval_id, "permissions", None, reason or "", detail, choices)


def ask_elicitation(
    session: SessionAssembler,
    approval_id: str,
    server: str,
    message: str,
    *,
    form: dict[str, Any] | None = None,
    url: str | None = None,
    meta: Any = None,
) -> None:
    """A form to fill in, an address to visit, or both a yes and a no."""
    session.ask(
        approval_id,
        "elicitation",
        tool=None,
        summary=message,
        detail={"server": server},
        choices=lasting_choices(meta),
        cwd=session.cwd,
        form=form,
        url=url,
    )


def ask_tool(
    session: SessionAssembler,
    approval_id: str,
    server: str,
    message: str,
    meta: Any,
    home: str | None = None,
) -> None:
    """An MCP call. Only the text of the question names the tool."""
    named = _TOOL_IN_QUESTION.search(message)
    choices = lasting_choices(meta)
    session.ask(
        approval_id,
        "tool",
        tool=mcp_tool(server, named[1]) if named else None,
        summary=message,
        detail=_present(server=server, arguments=as_dict(meta).get("tool_params")),
        choices=choices,
        cwd=session.cwd,
        always=AlwaysAllow(stored_in=f"{home or HOME}/config.toml")
        if ALLOW_ALWAYS in choices
        else None,
    )


def _ask(
    session: SessionAssembler,
    approval_id: str,
    kind: ApprovalKind,
    tool: str | None,
    summary: str,
    detail: dict[str, Any],
    choices: list[str] | None,
) -> None:
    session.ask(
        approval_id,
        kind,
        tool=tool,
        summary=summary,
        detail=detail,
        choices=list(USUAL_CHOICES) if choices is None else choices,
        cwd=session.cwd,
    )


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
