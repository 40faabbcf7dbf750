"""Forms that an MCP server asks a person to fill in: the fields of a schema, and what is wrong with an answer.

The schema is the JSON Schema subset of MCP elicitation: one flat object of strings, numbers, booleans, choices
and lists of choices. It comes from a stranger: keywords that are unknown or malformed are skipped, and nothing
here raises for a schema, whatever it holds. Pure: no I/O, no clock.
"""

from dragoman.model.forms.checking import problems
from dragoman.model.forms.fields import Field, FieldType, coerce, defaults, fields
from dragoman.model.forms.values import FieldChoice

__all__ = ["Field", "FieldChoice", "FieldType", "coerce", "defaults", "fields", "problems"]
