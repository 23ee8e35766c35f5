"""Ratios against peers, measured in one run: ``make bench``, or ``python -m benchmarks --help``."""
