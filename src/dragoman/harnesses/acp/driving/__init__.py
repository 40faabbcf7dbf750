"""Driving an agent over ACP: one process, one session in it."""
