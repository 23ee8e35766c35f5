"""Logistic regression: few passes over the rows, each of them sums at a point."""
