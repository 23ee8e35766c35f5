"""Regression of class indicators: recipes and their algebra."""
