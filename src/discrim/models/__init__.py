"""The estimators: parameters, the recipe that they make, and how what was learned reads."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
