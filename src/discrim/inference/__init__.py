"""Standard errors, tests and the summary that prints them."""

from typing import TYPE_CHECKING

from discrim.later import read_later

if TYPE_CHECKING:
    from discrim.inference.assumptions import AssumptionCheck, AssumptionChecks, assumption_checks
    from discrim.inference.summary import Summary, Table, pipeline_summary

__all__ = ["AssumptionCheck", "AssumptionChecks", "Summary", "Table", "assumption_checks", "pipeline_summary"]

__getattr__ = read_later(
    __name__,
    {
        "AssumptionCheck": "discrim.inference.assumptions",
        "AssumptionChecks": "discrim.inference.assumptions",
        "Summary": "discrim.inference.summary",
        "Table": "discrim.inference.summary",
        "assumption_checks": "discrim.inference.assumptions",
        "pipeline_summary": "discrim.inference.summary",
    },
)
