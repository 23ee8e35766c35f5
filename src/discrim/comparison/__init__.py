"""Which model: all that fit the data on the same folds, the choice, and its report."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
