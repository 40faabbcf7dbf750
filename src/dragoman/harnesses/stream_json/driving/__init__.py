"""Driving an agent over stream-json with its control protocol."""
