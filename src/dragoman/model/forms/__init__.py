"""Forms that an MCP server asks a person to fill in: the fields of a schema, and validation of answers.

The schema is the JSON Schema subset of MCP elicitation: one flat object of strings, numbers, booleans, choices
and lists of choices. It is untrusted: unknown or malformed keywords are skipped, and no schema makes
anything here raise.
"""

from dragoman.model.forms.checking import problems
from dragoman.model.forms.fields import Field, FieldType, coerce, defaults, fields
from dragoman.model.forms.values import FieldChoice

__all__ = ["Field", "FieldChoice", "FieldType", "coerce", "defaults", "fields", "problems"]
