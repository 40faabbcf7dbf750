"""What a harness offers the rest of Dragoman: reading, driving, history, playback, care.

A harness refers to what reads, drives, plays and repairs with :func:`~dragoman.harnesses.contract.lazy.on_use`,
so that loading it imports none of that.
"""
