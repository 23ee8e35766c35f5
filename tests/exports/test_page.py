"""What docs/exports.md says and shows."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/exports.md").read_text(encoding="utf-8")


def test_the_blocks_of_the_page_run_in_turn():
    names = {}
    blocks = re.findall(r"(?s)```python\n(.*?)```", PAGE)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, "docs/exports.md", "exec"), names)


def test_the_limits_on_the_page_are_those_of_the_code():
    from discrim.exports.sql import DIALECTS, MOST_NUMBERS

    limits = [DIALECTS[name].most_columns for name in ("postgres", "sqlite")]
    assert [f"{limit:,}" in PAGE for limit in (*limits, MOST_NUMBERS)] == [True] * 3


@pytest.mark.parametrize("call", ["to_onnx", "to_sql", "to_c", "to_python", "to_sklearn"])
def test_every_classifier_has_the_calls_of_the_page(call):
    import discrim

    assert f"model.{call}(" in PAGE
    for name in discrim.models.__all__:
        kind = getattr(discrim, name)
        if isinstance(kind, type) and hasattr(kind, "predict"):
            assert hasattr(kind, call)
