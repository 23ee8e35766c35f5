"""Regression of class indicators: least squares, ridge, lasso."""
