"""Relays: small processes that own an agent's pipes, so that the agent outlives the program that started it."""
