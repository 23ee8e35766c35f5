"""Classical linear and quadratic classification: fitted in one pass, tuned for free, read like R."""

from discrim.public import names_in_stub

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = names_in_stub(__name__)
