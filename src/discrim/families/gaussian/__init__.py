"""Gaussian classes: linear, quadratic and regularised discriminants, naive Bayes, Fisher's direction."""
