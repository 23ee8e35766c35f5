"""Moments of the classes, and scores of linear, diagonal and quadratic rules."""
