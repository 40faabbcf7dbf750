"""Made-up secrets and look-alikes, to measure what masking finds. No value here was ever in use."""
