"""The command ``discrim`` and its verbs, a file each. Nothing heavy is imported before a verb runs."""

from __future__ import annotations

import click

from discrim.cli.compare import compare
from discrim.cli.completion import completion
from discrim.cli.datasets import datasets
from discrim.cli.evaluate import evaluate
from discrim.cli.explain import explain
from discrim.cli.export import export
from discrim.cli.fit import fit
from discrim.cli.gallery import gallery
from discrim.cli.learning import forget, merge, update
from discrim.cli.predict import predict
from discrim.cli.roc import roc
from discrim.cli.summary import summary

VERBS = (
    compare,
    fit,
    summary,
    predict,
    evaluate,
    roc,
    explain,
    update,
    forget,
    merge,
    export,
    datasets,
    gallery,
    completion,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="discrim")
def discrim() -> None:
    """Classical linear and quadratic classification."""


for verb in VERBS:
    discrim.add_command(verb)
