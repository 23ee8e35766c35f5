"""Models of Gaussian classes."""
