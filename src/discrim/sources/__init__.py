"""Where rows come from: arrays, frames, files and lazily scanned tables, as blocks."""

from typing import TYPE_CHECKING

from discrim.later import read_later
from discrim.sources.attached import Attached
from discrim.sources.design import Column, Design
from discrim.sources.held import in_memory, in_memory_sparse
from discrim.sources.labels import code_labels, recode
from discrim.sources.mapped import MappedScan
from discrim.sources.rows import Rows, find_non_finite, non_finite_in
from discrim.sources.scan import Scan, scan
from discrim.sources.structure import check_structure
from discrim.sources.tables import is_query, open_mixed, open_rows
from discrim.sources.weights import check_weights

if TYPE_CHECKING:
    from discrim.sources.mixed import MixedRows, Piece, Schema, code_numbers, find_infinite

__all__ = [
    "Attached",
    "Column",
    "Design",
    "MappedScan",
    "MixedRows",
    "Piece",
    "Rows",
    "Scan",
    "Schema",
    "check_structure",
    "check_weights",
    "code_labels",
    "code_numbers",
    "find_infinite",
    "find_non_finite",
    "in_memory",
    "in_memory_sparse",
    "is_query",
    "non_finite_in",
    "open_mixed",
    "open_rows",
    "recode",
    "scan",
]

__getattr__ = read_later(
    __name__,
    {
        "MixedRows": "discrim.sources.mixed",
        "Piece": "discrim.sources.mixed",
        "Schema": "discrim.sources.mixed",
        "code_numbers": "discrim.sources.mixed",
        "find_infinite": "discrim.sources.mixed",
    },
)
