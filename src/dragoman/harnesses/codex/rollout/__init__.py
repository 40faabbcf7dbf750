"""Rollouts: the session files of every release."""
