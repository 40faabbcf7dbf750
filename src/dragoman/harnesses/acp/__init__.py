"""The Agent Client Protocol, for every harness that is spoken to in it: read, driven and played.

A layer below the harnesses, as :mod:`dragoman.harnesses.assembly` is: the harness of any ACP program
(:mod:`dragoman.harnesses.any_acp`) and harnesses of single agents are made of it. Nothing here does I/O.

What agents do differently is data, one row for each agent, in :mod:`dragoman.harnesses.acp.quirks`.
"""
