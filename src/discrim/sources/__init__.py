"""Where rows come from: arrays, frames, files and lazily scanned tables, as blocks."""

from discrim.sources.attached import Attached
from discrim.sources.block import Block
from discrim.sources.design import Column, Design
from discrim.sources.labels import code_labels, recode
from discrim.sources.mapped import MappedScan
from discrim.sources.rows import Rows, find_non_finite
from discrim.sources.scan import Scan, scan
from discrim.sources.tables import open_rows
from discrim.sources.weights import check_weights

__all__ = [
    "Attached",
    "Block",
    "Column",
    "Design",
    "MappedScan",
    "Rows",
    "Scan",
    "check_weights",
    "code_labels",
    "find_non_finite",
    "open_rows",
    "recode",
    "scan",
]
