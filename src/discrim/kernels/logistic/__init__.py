"""Loops of logistic regression: likelihoods, and coordinate descent."""
