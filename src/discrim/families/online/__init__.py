"""Weights that rows change in order: stochastic gradients, perceptrons, and descent step by step."""
