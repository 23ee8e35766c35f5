"""Naive Bayes of columns of different kinds: an additive rule with one term a column."""
