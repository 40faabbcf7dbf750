"""Assembling one session: duplicates, calls, turns and tokens, for every harness.

Agents report the same content over several channels: as an event and as a history row, in an old
protocol and beside it in a new one. A parser hands everything it reads to a
:class:`~dragoman.harnesses.assembly.assembler.SessionAssembler` and names the channel. The assembler
turns the first report into a message and records each further one as a duplicate. Nothing in this
package knows a wire format.
"""
