"""How well a model predicts rows that it has not seen."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
