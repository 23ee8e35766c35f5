"""Pointwise maths: what a score costs, and its slope."""

from discrim.losses.loss import Loss
from discrim.losses.pointwise import LOSSES, find_loss, sigmoid
from discrim.losses.softmax import SOFTMAX_CURVATURE, softmax, softmax_slope, softmax_value

__all__ = ["LOSSES", "SOFTMAX_CURVATURE", "Loss", "find_loss", "sigmoid", "softmax", "softmax_slope", "softmax_value"]
