"""Recognize secrets in text.

==================  =======================================================================
``tokens``          the table of keys that are known by their prefix: ``ghp_…``
``places``          the table of places that contain a secret: ``://user:…@``, ``Cookie: …``
``naming``          names that sound secret: ``DB_PASSWORD``, ``clientSecret``
``judging``         whether the value of such a name is a secret, a placeholder or code
``assigning``       where a text assigns a value to a name: ``name = value``, ``--name value``
``finding``         all of them together, behind a cheap prefilter
``environment``     the variables of a process that hold secrets
==================  =======================================================================

Texts can have many megabytes, so every pattern takes linear time and runs only where a substring shows that
it can match. This package works on text and knows nothing about messages or files.
"""

from __future__ import annotations

from dragoman.model.secrets.environment import secrets_in

__all__ = ["secrets_in"]
