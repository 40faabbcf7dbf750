"""What a real agent has around it, on the page: tool servers, helpers, the account's allowances."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from support.page.server import Server

from .conftest import FREE, Tabs, begin, is_over

_ADDER = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    given = asked.get("params") or {}
    if asked["method"] == "initialize":
        version = given["protocolVersion"]
        told = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "adder", "version": "1"}}
    elif asked["method"] == "tools/list":
        told = {"tools": [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        told = {"content": [{"type": "text", "text": f"the sum is {sum(given['arguments'].values())}"}]}
    else:
        told = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""
_SCRIPT = """
config:
  mcp_servers:
    adder: {{command: {python}, args: [{adder}]}}
turns:
- when: Count the apples
  steps:
  - headers:
      x-codex-primary-used-percent: "12"
      x-codex-primary-window-minutes: "300"
      x-codex-primary-reset-at: "4070908800"
      x-codex-secondary-used-percent: "81"
      x-codex-secondary-window-minutes: "10080"
  - mcp: {{server: adder, tool: add, arguments: {{a: 3, b: 4}}}}
  - tool: {{name: spawn_agent, namespace: multi_agent_v1, arguments: {{message: Look into the barn}}}}
  - pause: 1
  - say: Seven, and a barn.
- when: Look into the barn
  steps:
  - run: echo nobody there
  - say: The barn is empty.
"""


def test_tool_servers_helpers_and_allowances_of_a_real_agent(
    serve: Callable[[str], Server], tabs: Tabs, tmp_path: Path
) -> None:
    adder = tmp_path / "adder.py"
    adder.write_text(_ADDER, encoding="utf-8")
    server = serve(_SCRIPT.format(python=sys.executable, adder=adder))

    page = begin(tabs, server, "Count the apples", **FREE)
    is_over(page)

    card = page.locator("#log .use", has_text="adder")
    expect(card).to_contain_text("a=3, b=4")
    expect(card).to_contain_text("the sum is 7")
    helper = page.locator("#log details", has_text="Look into the barn").last
    expect(helper.locator(".use.command .output")).to_have_text("nobody there")
    expect(helper).to_contain_text("The barn is empty.")
    expect(helper).not_to_contain_text("Seven, and a barn.")
    # Answers that tell nothing of allowances, as most do here, do not take back what was told.
    windows = page.locator("#limits .window")
    expect(windows).to_have_count(2)
    expect(windows.first).to_contain_text("12 % used")
    expect(windows.first.locator("time")).to_have_attribute("datetime", "2099-01-01T00:00:00Z")
    expect(windows.last.locator("progress.full")).to_have_attribute("value", "81")
    page.reload()
    expect(page.locator("#limits .window")).to_have_count(2)
    page.goto(f"{server.url}/usage")
    expect(page.locator(".windows .window").first).to_contain_text("12 % used")
