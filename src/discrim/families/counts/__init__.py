"""Naive Bayes of counts: words that occur, or occur so often."""
