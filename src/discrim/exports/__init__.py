"""Fitted models as ONNX graphs, SQL queries, C and plain Python, made from the plain description of their answers."""

from discrim.public import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__)
