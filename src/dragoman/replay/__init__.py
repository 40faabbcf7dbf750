"""Plays a recording as a live agent, in real or scaled time."""
