"""An agent with full access tries to use the server that runs it: the real Codex, real commands, all secrets given away."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import codex_cli_bin
import httpx

from support.page.server import Server

SECONDS = 90
_ATTACK = """
import json, os, sys, time, urllib.error, urllib.request

given = json.load(open("given.json"))
got = {}

def ask(name, path, headers, body=None):
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(given["url"] + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            got[name] = answer.status
    except urllib.error.HTTPError as refused:
        got[name] = json.load(refused)["error"]["code"]

bearer = {"Authorization": "Bearer " + given["token"]}
stolen = {"Cookie": given["cookie"], "X-Dragoman-Key": given["key"], "Origin": given["url"]}
ask("token", "/api/v1/sessions", bearer)
ask("stolen", "/api/v1/sessions", stolen)
ask("login", "/api/v1/login", {}, {"token": given["token"]})
ask("page", "/", {})
session = {"session_id": given["session"], "decision": "allow"}
ask("approve", "/api/v1/approvals/" + given["approval"], bearer, session)
ask("approve by login", "/api/v1/approvals/" + given["approval"], stolen, session)
ask("stop", "/api/v1/sessions/" + given["session"] + "/stop", bearer, {})
json.dump(got, open(sys.argv[1] + ".part", "w"))
os.rename(sys.argv[1] + ".part", sys.argv[1])
"""
_SCRIPT = """
turns:
  - when: ask
    steps:
      - run: {command: touch by-hand, escalate: I need it}
      - say: Waited.
  - when: attack
    steps:
      - run: "python3 attack.py plain.json"
      - run: "(env -i PATH=$PATH setsid python3 attack.py orphan.json </dev/null >/dev/null 2>&1 &) ; sleep 4"
      - say: Tried.
config:
  approval_policy: on-request
"""


def test_an_agent_cannot_use_the_server_even_with_every_secret_of_it(tmp_path: Path) -> None:
    with Server(tmp_path, _SCRIPT, str(codex_cli_bin.bundled_codex_path())) as server:
        bearer = {"Authorization": f"Bearer {server.token}"}
        with httpx.Client(base_url=server.url, headers=bearer, timeout=SECONDS) as person:
            signed_in = person.post("/api/v1/login", json={"token": server.token})
            person.cookies.clear()
            asked = begin(person, server, "ask", "on-request")
            approval = until(lambda: person.get("/api/v1/approvals").json()["approvals"])[0]
            (server.root / "attack.py").write_text(_ATTACK, encoding="utf-8")
            given = {
                "url": server.url,
                "token": server.token,
                "cookie": signed_in.headers["set-cookie"].partition(";")[0],
                "key": signed_in.json()["key"],
                "session": asked,
                "approval": approval["id"],
            }
            (server.root / "given.json").write_text(json.dumps(given), encoding="utf-8")

            begin(person, server, "attack", "never")

            names = ("token", "stolen", "login", "page", "approve", "approve by login", "stop")
            for file in ("plain.json", "orphan.json"):
                found = until(lambda file=file: read(server.root / file))
                assert found == dict.fromkeys(names, "from_an_agent"), file
            # The very same secrets, from a program that no agent started.
            login = {"Cookie": given["cookie"], "X-Dragoman-Key": given["key"]}
            still = httpx.get(f"{server.url}/api/v1/sessions", headers=login, timeout=SECONDS)
            assert still.status_code == 200
            assert person.get("/api/v1/approvals").json()["approvals"] == [approval]
            assert not (server.root / "by-hand").exists()


def begin(person: httpx.Client, server: Server, prompt: str, approvals: str) -> str:
    free = {"sandbox": "danger-full-access" if approvals == "never" else "workspace-write"}
    body = {"cwd": str(server.root), "prompt": prompt, "approvals": approvals, **free}
    response = person.post("/api/v1/sessions", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def until(look: Any) -> Any:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("not within the bound")
