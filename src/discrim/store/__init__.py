"""Model files: what a fitted model is made of, as plain data in one safe file.

The package knows no model: classes enter themselves with the fields that a file has of them.
"""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
