"""Driving ``qwen --input-format stream-json``."""
