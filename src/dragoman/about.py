"""Which release of Dragoman this is."""

VERSION = "0.1.0"
