"""Data to try the methods on: four sets that come along, and two read from other installed packages."""

from __future__ import annotations

from discrim.datasets.bundled import Dataset, load_challenger, load_crabs, load_endometrial, load_iris
from discrim.datasets.installed import fetch

__all__ = ["Dataset", "fetch", "load_challenger", "load_crabs", "load_endometrial", "load_iris"]
