"""Where rows come from: arrays, frames, files and lazily scanned tables, as blocks."""

from discrim.sources.design import Column, Design
from discrim.sources.labels import check_weights, code_labels, recode
from discrim.sources.mapped import MappedScan
from discrim.sources.mixed import Schema
from discrim.sources.rows import (
    Attached,
    Rows,
    find_non_finite,
    in_memory,
    non_finite_in,
    open_mixed,
    open_rows,
    refuse_path,
    require_labels,
)
from discrim.sources.scan import Scan, scan
from discrim.sources.structure import check_structure

__all__ = [
    "Attached",
    "Column",
    "Design",
    "MappedScan",
    "Rows",
    "Scan",
    "Schema",
    "check_structure",
    "check_weights",
    "code_labels",
    "find_non_finite",
    "in_memory",
    "non_finite_in",
    "open_mixed",
    "open_rows",
    "recode",
    "refuse_path",
    "require_labels",
    "scan",
]
