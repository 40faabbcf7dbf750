"""The part of the conformance suite about driving: a conversation with a fake agent, without any process.

The agent is the harness's own ``playback``, which plays a story over the real wire. So a harness is driven from the
intent to the line and back, through its own transports.
"""
