"""What secrets look like, in text.

==================  =======================================================================
``tokens``          the table of keys that are known by how they begin: ``ghp_…``
``places``          the table of places that hold a secret: ``://user:…@``, ``Cookie: …``
``naming``          names that sound secret: ``DB_PASSWORD``, ``clientSecret``
``judging``         whether the value such a name is given is a secret, or a placeholder or code
``assigning``       where in a text a name is given a value: ``name = value``, ``--name value``
``finding``         all of them together, behind a cheap first look
``environment``     the variables of a process that hold secrets
==================  =======================================================================

Texts of many megabytes pass through here, so every pattern takes linear time and runs only where a
substring shows that it can match. This package knows text, nothing of messages or files.
"""

from __future__ import annotations

from dragoman.model.secrets.environment import secrets_in

__all__ = ["secrets_in"]
