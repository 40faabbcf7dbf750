"""Driving Claude Code over stream-json: the launch, the conversation, the control protocol."""
