"""Where rows come from: arrays, frames, files and lazily scanned tables, as blocks."""

from discrim.sources.design import Column as Column
from discrim.sources.design import Design as Design
from discrim.sources.labels import check_weights as check_weights
from discrim.sources.labels import code_labels as code_labels
from discrim.sources.labels import recode as recode
from discrim.sources.mapped import MappedScan as MappedScan
from discrim.sources.mixed import Schema as Schema
from discrim.sources.rows import Attached as Attached
from discrim.sources.rows import Rows as Rows
from discrim.sources.rows import find_non_finite as find_non_finite
from discrim.sources.rows import in_memory as in_memory
from discrim.sources.rows import is_query as is_query
from discrim.sources.rows import non_finite_in as non_finite_in
from discrim.sources.rows import open_mixed as open_mixed
from discrim.sources.rows import open_rows as open_rows
from discrim.sources.rows import refuse_path as refuse_path
from discrim.sources.rows import require_labels as require_labels
from discrim.sources.scan import Scan as Scan
from discrim.sources.scan import scan as scan
from discrim.sources.structure import check_structure as check_structure
