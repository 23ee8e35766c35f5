"""A warning of everything that stops before it has converged."""

from sklearn.exceptions import ConvergenceWarning

from discrim.errors import DiscrimWarning


class UnfinishedWarning(DiscrimWarning, ConvergenceWarning):  # type: ignore[misc]
    """A descent stopped before it had converged."""
