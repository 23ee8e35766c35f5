"""Bayesian discriminants."""
