"""Models of categories, and of columns of different kinds."""
