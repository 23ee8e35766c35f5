"""Loops over counts and levels."""
