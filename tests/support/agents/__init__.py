"""Agents for tests: the real program on stage, fakes, remote ends, bystanders."""
