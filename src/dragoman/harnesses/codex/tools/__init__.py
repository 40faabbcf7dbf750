"""Codex's tools in the field's words: names, inputs, outputs, patches, sub-agents."""
