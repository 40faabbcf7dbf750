"""Telling a session: nothing twice, nothing lost, every call closed.

Harnesses say the same thing over several channels: as an event and as a history row, in the old
protocol and beside it in the new one. A parser hands what it hears to a ``Teller`` and names the
channel; the teller makes a message of the first telling and notes each further one as a twin.
Nothing here knows a wire format.
"""
