"""Any stream or file in, messages out: compression, detection, growing files, conversion."""
