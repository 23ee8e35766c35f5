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
from discrim.cli.running import narrow
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


EXAMPLES = """\b
Examples:
  discrim datasets crabs -o crabs.csv
  discrim compare crabs.csv --target target --without sp,sex
  discrim fit LDA crabs.csv -t target --without sp,sex -o crabs.discrim
  discrim predict crabs.discrim crabs.csv"""


class Verbs(click.Group):
    """The verbs in the order in which they are needed, not in that of the alphabet."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with narrow():
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return [verb.name for verb in VERBS if verb.name is not None]


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=EXAMPLES,
)
@click.version_option(package_name="discrim")
def discrim() -> None:
    """Classical linear and quadratic classification.

    'discrim VERB --help' shows the options of a verb, and examples.
    """


for verb in VERBS:
    discrim.add_command(verb)
