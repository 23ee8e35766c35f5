"""``discrim completion``: what a shell needs to complete verbs and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from discrim.cli import options
from discrim.cli.running import verb
from discrim.cli.writing import write_json


@verb(
    "completion",
    "Print what a shell needs to complete the command.",
    examples="""
    discrim completion bash >> ~/.bashrc
    discrim completion zsh >> ~/.zshrc
    discrim completion fish > ~/.config/fish/completions/discrim.fish
    """,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.as_json
@click.pass_context
def completion(context: click.Context, shell: str, *, as_json: bool) -> None:
    """Print the lines by which SHELL completes verbs and options.

    They take effect in shells that are opened afterwards.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    source = kind(context.find_root().command, {}, "discrim", "_DISCRIM_COMPLETE").source()
    if as_json:
        write_json({"shell": shell, "source": source})
    else:
        click.echo(source)
