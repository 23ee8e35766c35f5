"""Gaussian classes whose covariances are averaged over a prior."""
