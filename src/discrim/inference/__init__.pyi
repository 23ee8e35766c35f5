from discrim.inference.assumptions import AssumptionCheck as AssumptionCheck
from discrim.inference.assumptions import AssumptionChecks as AssumptionChecks
from discrim.inference.assumptions import assumption_checks as assumption_checks
from discrim.inference.summary import Summary as Summary
from discrim.inference.summary import Table as Table
from discrim.inference.summary import pipeline_summary as pipeline_summary
