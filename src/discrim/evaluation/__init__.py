"""How well a model predicts rows that it has not seen."""

from discrim.evaluation.cross_validation import CrossValidation, cross_validate

__all__ = ["CrossValidation", "cross_validate"]
