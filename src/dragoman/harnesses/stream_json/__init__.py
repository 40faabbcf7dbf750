"""The wire that Claude Code and Qwen Code share: stream-json, read and driven, with what differs left to each.

| what | shared | a harness's own |
|---|---|---|
| lines | how they are decoded, whose they are, journals | its ``system`` lines, its results, what content means |
| sessions | the main one and its sub-agents, turns, prompts | tokens, plans, how a turn ended |
| control protocol | requests, answers and calls of our tools, both ways | which requests it knows, what an answer looks like |

It knows neither of them.
"""
