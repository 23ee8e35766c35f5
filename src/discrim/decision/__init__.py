"""From scores to decisions: costs, rejection, other class shares, thresholds, and many classes from two."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
