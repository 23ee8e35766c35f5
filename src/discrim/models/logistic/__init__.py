"""Logistic regression: the estimator, what it may be given, how it is fitted, and what can be asked of it."""
