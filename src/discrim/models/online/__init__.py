"""Classifiers that learn row by row."""
