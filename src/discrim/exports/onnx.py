"""ONNX: one graph for any runtime, checked by the rules of the format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discrim.errors import MissingDependencyError, ParameterError
from discrim.exports.program import Node, Program, log_gamma_series, replaced

# Of the standard operators, and of those for machine learning: what runtimes have had since 2023.
OPSET, ML_OPSET = 18, 4
# The version of the file format that goes with them.
IR_VERSION = 9
SIMPLE = {
    "negative": "Neg", "exp": "Exp", "log": "Log", "absolute": "Abs", "cos": "Cos", "add": "Add", "subtract": "Sub",
    "multiply": "Mul", "divide": "Div",
}  # fmt: skip
LEAST_INT = -(2**63)


def onnx_of(program: Program, dtype: str = "float64") -> bytes:
    """The bytes of the graph of a program."""
    try:
        import onnx
    except ImportError:
        raise MissingDependencyError.for_package("onnx", "Exporting to ONNX", "onnx") from None
    if str(np.dtype(dtype)) not in {"float64", "float32"}:
        raise ParameterError.bad_value("dtype", dtype, "'float64' or 'float32'")
    model = _Graph(replaced(program, "log_gamma", log_gamma_series), np.dtype(dtype)).model()
    onnx.checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString()
    return data


class _Graph:
    """The nodes of a graph: every vector is n x width."""

    def __init__(self, program: Program, dtype: np.dtype[Any]) -> None:
        from onnx import TensorProto, helper

        self.helper, self.program, self.dtype = helper, program, dtype
        self.real = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[str, bytes, tuple[int, ...]], str] = {}
        self._count = 0
        self.found: dict[int, str] = {}
        self.inputs = self._inputs()
        for node in program.nodes():
            self.found[id(node)] = self._made(node)

    def model(self) -> Any:
        """The checked model, with its outputs."""
        helper, program = self.helper, self.program
        valid = self._valid()
        outputs = [self._label(valid)]
        if program.posterior is not None:
            given = self.found[id(program.posterior)]
            self._op("Where", [valid, given, self._const(np.nan)], "probabilities")
            outputs.append(helper.make_tensor_value_info("probabilities", self.real, ["n", len(program.classes)]))
        title = program.title
        graph = helper.make_graph(self.nodes, "discrim", self.inputs, outputs, self.constants, doc_string=title)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION, producer_name="discrim")

    def _inputs(self) -> list[Any]:
        from onnx import TensorProto

        info, program = self.helper.make_tensor_value_info, self.program
        if not program.texts:
            return [info("X", self.real, ["n", len(program.inputs)])]
        text = TensorProto.STRING
        return [info(each.name, self.real if each.levels is None else text, ["n", 1]) for each in program.inputs]

    def _op(self, op: str, inputs: Sequence[str], name: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        self._count += name is None
        name = name or f"{op.lower()}_{self._count}"
        self.nodes.append(self.helper.make_node(op, list(inputs), [name], domain=domain, **attributes))
        return name

    def _const(self, values: Any, *, whole: bool = False) -> str:
        """The name of a constant, stored once."""
        from onnx import numpy_helper

        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(np.asarray(values, dtype=np.int64 if whole else self.dtype))
        array = array.reshape(np.shape(values))
        key = array.dtype.name, array.tobytes(), array.shape
        if key not in self._known:
            self._known[key] = f"constant_{len(self._known)}"
            self.constants.append(numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def _cast(self, name: str) -> str:
        return self._op("Cast", [name], to=self.real)

    def _made(self, node: Node) -> str:
        args = [self.found[id(arg)] for arg in node.args]
        if node.op in SIMPLE:
            return self._op(SIMPLE[node.op], args)
        return getattr(self, f"_made_{node.op.replace(' ', '_')}")(node, *args)  # type: ignore[no-any-return]

    def _made_const(self, node: Node) -> str:
        return self._const(node.data["values"][None])

    def _made_numbers(self, _node: Node) -> str:
        if not self.program.texts:
            return "X"
        names = [each.name for each in self.program.numbers]
        return self._op("Concat", names, axis=1) if len(names) > 1 else names[0]

    def _made_log1p(self, _node: Node, x: str) -> str:
        return self._op("Log", [self._op("Add", [x, self._const([[1.0]])])])

    def _made_square(self, _node: Node, x: str) -> str:
        return self._op("Mul", [x, x])

    def _made_sign(self, _node: Node, x: str) -> str:
        # The operator gives NaN a sign.
        return self._op("Where", [self._op("IsNaN", [x]), x, self._op("Sign", [x])])

    def _made_missing(self, _node: Node, x: str) -> str:
        return self._cast(self._op("IsNaN", [x]))

    def _made_truncate(self, _node: Node, x: str) -> str:
        return self._op("Mul", [self._op("Sign", [x]), self._op("Floor", [self._op("Abs", [x])])])

    def _made_smaller(self, _node: Node, a: str, b: str) -> str:
        return self._op("Where", [self._op("Less", [b, a]), b, a])

    def _made_larger(self, _node: Node, a: str, b: str) -> str:
        return self._op("Where", [self._op("Greater", [b, a]), b, a])

    def _made_above(self, _node: Node, a: str, b: str) -> str:
        above = self._cast(self._op("Greater", [a, b]))
        return self._op("Where", [self._op("IsNaN", [a]), a, above])

    def _made_at_least(self, _node: Node, a: str, b: str) -> str:
        return self._cast(self._op("GreaterOrEqual", [a, b]))

    def _made_select(self, _node: Node, condition: str, a: str, b: str) -> str:
        chosen = self._op("Not", [self._op("Equal", [condition, self._const([[0.0]])])])
        return self._op("Where", [chosen, a, b])

    def _made_affine(self, node: Node, x: str) -> str:
        product = self._op("MatMul", [x, self._const(node.data["coef"].T)])
        offset = node.data["offset"]
        return self._op("Add", [product, self._const(offset[None])]) if offset.any() else product

    def _made_distances(self, node: Node, x: str) -> str:
        """A class after the other: all at once would take n x K x p numbers."""
        parts = []
        for centre, weight in zip(node.data["centre"], node.data["weight"], strict=True):
            gap = self._op("Sub", [x, self._const(centre[None])])
            gap = self._op("Mul", [gap, gap]) if node.data["power"] == 2 else self._op("Abs", [gap])
            parts.append(self._op("MatMul", [gap, self._const(weight[:, None])]))
        return self._beside(parts)

    def _made_quadratic(self, node: Node, x: str) -> str:
        parts = []
        for mean, factor in zip(node.data["mean"], node.data["factor"], strict=True):
            z = self._op("MatMul", [self._op("Sub", [x, self._const(mean[None])]), self._const(factor.T)])
            parts.append(self._total(self._op("Mul", [z, z])))
        return self._beside(parts)

    def _beside(self, parts: Sequence[str]) -> str:
        return self._op("Concat", parts, axis=1) if len(parts) > 1 else parts[0]

    def _total(self, x: str) -> str:
        return self._op("ReduceSum", [x, self._const([1], whole=True)], keepdims=1)

    def _made_sum(self, _node: Node, x: str) -> str:
        return self._total(x)

    def _made_largest(self, node: Node, x: str) -> str:
        top = self._op("ReduceMax", [x, self._const([1], whole=True)], keepdims=1)
        # Runtimes differ in what the largest of NaN is.
        lost = self._op("ReduceMax", [self._made_missing(node, x), self._const([1], whole=True)], keepdims=1)
        return self._op("Where", [self._op("Greater", [lost, self._const([[0.0]])]), self._const([[np.nan]]), top])

    def _made_place(self, _node: Node, x: str, _top: str) -> str:
        return self._cast(self._op("ArgMax", [x], axis=1, keepdims=1))

    def _made_join(self, node: Node, *parts: str) -> str:
        rows = [self._rows(arg, part) for arg, part in zip(node.args, parts, strict=True)]
        return self._op("Concat", rows, axis=1)

    def _rows(self, node: Node, x: str) -> str:
        """A constant for each row, where it is to stand beside what differs from row to row."""
        if node.op != "const":
            return x
        return self._op("Expand", [x, self._op("Concat", [self._n(), self._const([node.width], whole=True)], axis=0)])

    def _n(self) -> str:
        """The number of rows."""
        return self._op("Shape", [self.inputs[0].name], start=0, end=1)

    def _made_take(self, node: Node, x: str) -> str:
        return self._op("Gather", [x, self._const(node.data["places"], whole=True)], axis=1)

    def _made_level(self, node: Node) -> str:
        levels = [level for level in node.data["levels"] if level is not None]
        first, size = len(node.data["levels"]) - len(levels), len(node.data["levels"])
        named = {level: place for place, level in enumerate(levels, first)}
        named |= dict.fromkeys(node.data["marks"], size + 1)
        # Empty text is a missing level, unless there is such a level.
        named.setdefault("", size + 1)
        name = self.program.texts[node.data["column"]].name
        place = self._op(
            "LabelEncoder", [name], domain="ai.onnx.ml", keys_strings=[key.encode() for key in named],
            values_int64s=list(named.values()), default_int64=node.data["other"],
        )  # fmt: skip
        return self._cast(place)

    def _made_number_level(self, node: Node, x: str) -> str:
        levels = node.data["levels"]
        equal = self._cast(self._op("Equal", [x, self._const(levels[None])]))
        missing = self._op("Mul", [self._made_missing(node, x), self._const([[0.75]])])
        # The first of the largest: 1 for an equal level, 3/4 for a missing one, and 1/2 for any other.
        unknown = self._op("Add", [self._op("Mul", [missing, self._const([[0.0]])]), self._const([[0.5]])])
        return self._cast(
            self._op("ArgMax", [self._op("Concat", [equal, unknown, missing], axis=1)], axis=1, keepdims=1)
        )

    def _made_lookup(self, node: Node, place: str) -> str:
        from onnx import TensorProto

        whole = self._op("Cast", [self._op("Squeeze", [place, self._const([1], whole=True)])], to=TensorProto.INT64)
        return self._op("Gather", [self._const(node.data["table"]), whole], axis=0)

    def _valid(self) -> str:
        """n x 1: are all numbers usable, and is the largest score finite?"""
        scores, axis = self.found[id(self.program.scores)], self._const([1], whole=True)
        scores = self._rows(self.program.scores, scores)
        top = self._op("ReduceMax", [scores, axis], keepdims=1)
        bad = [self._op("Greater", [self._op("Abs", [top]), self._const([[np.finfo(self.dtype).max]])])]
        bad.append(self._any(self._op("IsNaN", [scores])))
        numbers = self.program.numbers
        if numbers:
            x = self._made_numbers(self.program.scores)
            huge = self._op("Greater", [self._op("Abs", [x]), self._const([[np.finfo(self.dtype).max]])])
            bad.append(self._any(huge))
            needed = [place for place, each in enumerate(numbers) if not each.missing]
            if needed:
                known = (
                    x
                    if len(needed) == len(numbers)
                    else self._op("Gather", [x, self._const(needed, whole=True)], axis=1)
                )
                bad.append(self._any(self._op("IsNaN", [known])))
        whole = bad[0]
        for each in bad[1:]:
            whole = self._op("Or", [whole, each])
        return self._op("Not", [whole])

    def _any(self, flags: str) -> str:
        from onnx import TensorProto

        most = self._op(
            "ReduceMax", [self._op("Cast", [flags], to=TensorProto.FLOAT), self._const([1], whole=True)], keepdims=1
        )
        return self._op("Cast", [most], to=TensorProto.BOOL)

    def _label(self, valid: str) -> Any:
        """The output of the labels: the last is that of a row without an answer."""
        from onnx import TensorProto

        labels = self.program.labels
        kind = type(labels[0])
        types = {str: TensorProto.STRING, int: TensorProto.INT64, bool: TensorProto.INT64, float: TensorProto.DOUBLE}
        none: dict[type, Any] = {str: "", int: LEAST_INT, bool: LEAST_INT, float: np.nan}
        best = self._rows(self.program.best, self.found[id(self.program.best)])
        place = self._op("Where", [valid, best, self._const([[float(len(labels))]])])
        place = self._op("Cast", [self._op("Squeeze", [place, self._const([1], whole=True)])], to=TensorProto.INT64)
        values = [*labels, none[kind]]
        values = [value.encode("utf-8", "replace") for value in values] if kind is str else values
        self.constants.append(self.helper.make_tensor("labels", types[kind], [len(values)], values))
        self._op("Gather", ["labels", place], "label", axis=0)
        return self.helper.make_tensor_value_info("label", types[kind], ["n"])
