"""Which model: all that fit the data on the same folds, the choice, and its report."""
