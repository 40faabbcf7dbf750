from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import Unsupported, UsageError
from dragoman.harnesses.codex.exec.launch import LONGEST_PROMPT, exec_launch
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import OneShot

_ID = "01990000-0000-7000-8000-000000000000"


def argv(release: Release | None = (0, 166, 0), prompt: str = "do it", **facts: Any) -> list[str]:
    facts = {"trust_is_decided": True} | facts
    launch = exec_launch("/bin/codex", release, OneShot(prompt=prompt, cwd="/w", **facts))
    assert launch.cwd == "/w"
    assert not launch.stdin
    assert not launch.env
    return list(launch.argv)


def test_a_prompt_is_all_it_takes() -> None:
    assert argv() == [
        "/bin/codex", "exec", "--json", "--skip-git-repo-check", "--cd=/w",
        "--sandbox=workspace-write", "--", "do it",
    ]  # fmt: skip


def test_everything_that_can_be_asked_stands_before_the_prompt() -> None:
    words = argv(
        sandbox="read-only",
        model="gpt-5.5",
        effort="high",
        images=("a.png", "b.png"),
        output_schema="/s.json",
        ephemeral=True,
        profile="p",
        add_dirs=("/x", "/y"),
        config={"features.plugins": False, "model_providers.x": {"name": "x", "retries": 0}},
        skip_git_check=False,
    )

    assert words == [
        "/bin/codex", "exec", "--json", "--cd=/w", "--sandbox=read-only", "--profile=p",
        "--model=gpt-5.5", '--config=model_reasoning_effort="high"',
        "--config=features.plugins=false",
        '--config=model_providers.x={name = "x", retries = 0}', "--add-dir=/x", "--add-dir=/y",
        "--ephemeral", "--output-schema=/s.json", "--image=a.png", "--image=b.png", "--", "do it",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("release", "spelled"),
    [
        ((0, 44, 0), "--full-auto"),
        ((0, 125, 0), "--full-auto"),
        ((0, 128, 0), "--sandbox=workspace-write"),
        ((0, 147, 0), "--sandbox=workspace-write"),
        (None, "--sandbox=workspace-write"),
    ],
)
def test_the_usual_sandbox_is_spelled_as_the_release_likes_it(
    release: Release | None, spelled: str
) -> None:
    assert spelled in argv(release)
    assert ("--full-auto" in argv(release)) == (spelled == "--full-auto")
    assert "--full-auto" not in argv(release, sandbox="danger-full-access")


@pytest.mark.parametrize("prompt", ["--help", "-x", "resume", "", "two\nlines", "--"])
def test_no_prompt_is_taken_for_an_option_or_a_command(prompt: str) -> None:
    assert argv(prompt=prompt)[-2:] == ["--", prompt]
    assert argv(prompt=prompt, resume=_ID)[-4:] == ["resume", "--", _ID, prompt]


def test_a_follow_up_resumes_with_its_options_before_the_command() -> None:
    words = argv((0, 44, 0), prompt="and now?", resume=_ID, model="m")

    assert words[-5:] == ["--model=m", "resume", "--", _ID, "and now?"]


def test_a_branch_is_a_fork() -> None:
    assert argv(None, fork=_ID)[-4:] == ["fork", "--", _ID, "do it"]


@pytest.mark.parametrize(
    ("release", "facts", "needs"),
    [
        ((0, 42, 0), {}, "Codex 0.44.0 or later"),
        ((0, 8, 0), {"resume": _ID}, "Codex 0.44.0 or later"),
        ((0, 147, 0), {"fork": _ID}, "Codex 0.148.0 or later"),
        ((0, 98, 0), {"ephemeral": True}, "Codex 0.99.0 or later"),
        ((0, 58, 0), {"add_dirs": ("/x",)}, "Codex 0.59.0 or later"),
        ((0, 50, 0), {"images": ("a.png",)}, "Codex 0.53.0 or later"),
    ],
)
def test_what_a_release_cannot_do_is_refused_and_the_release_that_can_is_named(
    release: Release, facts: dict[str, Any], needs: str
) -> None:
    with pytest.raises(Unsupported) as refused:
        argv(release, **facts)

    assert refused.value.needs == needs
    have = ".".join(map(str, release))
    assert str(refused.value).endswith(f"it needs {needs}, this is Codex {have}")


@pytest.mark.parametrize(
    ("prompt", "facts", "why"),
    [
        ("-", {}, "standard input"),
        ("é" * (LONGEST_PROMPT // 2 + 1), {}, "longer than"),
        ("a\0b", {}, "NUL"),
        ("x", {"resume": _ID, "fork": _ID}, "not both"),
        ("x", {"images": ("data:image/png;base64,AAAA",)}, "not an address"),
        ("x", {"images": ("https://example.org/a.png",)}, "not an address"),
        ("x", {"images": ("a,b.png",)}, "comma"),
        ("x", {"config": {"": 1}}, "name of a setting"),
        ("x", {"config": {"a=b": 1}}, "name of a setting"),
        ("x", {"config": {"a": None}}, "TOML"),
    ],
)
def test_what_no_command_line_can_carry_is_refused(
    prompt: str, facts: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        argv(prompt=prompt, **facts)


@pytest.mark.parametrize(
    "config",
    [
        {"model_providers.x.experimental_bearer_token": "sk-secret"},
        {"mcp_servers": {"github": {"env": {"GITHUB_TOKEN": "sk-secret"}}}},
        {"model_providers.x.http_headers": {"Authorization": "sk-secret"}},
        {"mcp_servers.x.env": {"OPENAI_API_KEY": "sk-secret"}},
        {"mcp_servers": [{"password": "sk-secret"}]},
    ],
)
def test_a_secret_does_not_go_on_the_command_line_nor_into_the_refusal(
    config: dict[str, Any],
) -> None:
    with pytest.raises(UsageError, match="secret on the command line") as refused:
        argv(config=config)

    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    "config",
    [
        {"model_providers.x.env_key": "OPENAI_API_KEY"},
        {"mcp_servers.x.bearer_token_env_var": "GITHUB_TOKEN"},
        {"model_auto_compact_token_limit": 10_000, "max_token": 3},
    ],
)
def test_the_name_of_a_variable_and_a_number_are_no_secrets(config: dict[str, Any]) -> None:
    assert sum(word.startswith("--config=") for word in argv(config=config)) == len(config)


def test_a_folder_is_not_trusted_for_good_because_of_a_prompt() -> None:
    withheld = '--config=projects={"/w" = {trust_level = "untrusted"}}'
    assert withheld in argv(trust_is_decided=False)
    assert withheld not in argv(trust_is_decided=True)
    assert withheld not in argv(trust_is_decided=False, sandbox="read-only")
