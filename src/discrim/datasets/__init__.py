"""Data to try the methods on: four sets that come along, and two read from other installed packages."""

from __future__ import annotations

from discrim.datasets.challenger import load_challenger
from discrim.datasets.crabs import load_crabs
from discrim.datasets.dataset import Dataset
from discrim.datasets.endometrial import load_endometrial
from discrim.datasets.installed import fetch
from discrim.datasets.iris import load_iris

__all__ = ["Dataset", "fetch", "load_challenger", "load_crabs", "load_endometrial", "load_iris"]
