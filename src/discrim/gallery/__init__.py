"""Every picture and table of five lectures, made by this library: a static site with the code and the numbers."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
