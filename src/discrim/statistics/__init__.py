"""What is remembered of the rows: small, raw, centred, mergeable."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
