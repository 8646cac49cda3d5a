"""Laws and modulations as data: formulas that are built by Python operators or read from text, never run as code.

    spring = 0.5 * k * name("q") ** 2          or          parse("0.5 * 100 * q**2")

Equal formulas are one object, so that what they share is computed once.
"""

from __future__ import annotations

import ast
import cmath
import math
import threading
from collections.abc import Callable, Iterator
from functools import cache
from keyword import iskeyword
from numbers import Real
from typing import Any
from weakref import WeakValueDictionary

from pliant.errors import InvalidInput, clip

CONSTANT, NAME = "constant", "name"
ADD, MULTIPLY, DIVIDE, POWER, ATAN2 = "add", "multiply", "divide", "power", "atan2"
Number = float | int

_known: WeakValueDictionary[tuple[Any, ...], Expression] = WeakValueDictionary()
_making = threading.Lock()


class Expression:
    """A formula: an operation on other formulas, a number, or the name of a variable, with an index if it has several.

    Names are those that the component knows in which the formula stands: ``q``, ``p``, ``e`` and ``f`` of the element
    itself, ``t`` for time, signals of the component, and variables of its parts, such as ``spring.q``.
    """

    __slots__ = ("__weakref__", "arguments", "index", "name", "operation", "value")
    operation: str
    arguments: tuple[Expression, ...]
    value: float
    name: str
    index: int

    def __new__(
        cls, operation: str, arguments: tuple[Expression, ...] = (), value: float = 0.0, name: str = "", index: int = 0
    ) -> Expression:
        key = (operation, tuple(map(id, arguments)), value, math.copysign(1.0, value), name, index)
        found = _known.get(key)
        if found is not None:
            return found
        with _making:
            found = _known.get(key)
            if found is None:
                found, put = object.__new__(cls), object.__setattr__
                put(found, "operation", operation)
                put(found, "arguments", arguments)
                put(found, "value", value)
                put(found, "name", name)
                put(found, "index", index)
                _known[key] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a formula is constant")

    def __reduce__(self) -> tuple[type[Expression], tuple[object, ...]]:
        return Expression, (self.operation, self.arguments, self.value, self.name, self.index)

    @property
    def is_constant(self) -> bool:
        return self.operation == CONSTANT

    def __getitem__(self, index: int) -> Expression:
        """A component of a variable that has several."""
        if self.operation != NAME:
            raise InvalidInput(f"'{clip(str(self))}' has no components; only names are indexed")
        return Expression(NAME, name=self.name, index=index)

    def __add__(self, other: Expression | Number) -> Expression:
        return add(self, as_expression(other))

    def __radd__(self, other: Number) -> Expression:
        return add(as_expression(other), self)

    def __sub__(self, other: Expression | Number) -> Expression:
        return add(self, -as_expression(other))

    def __rsub__(self, other: Number) -> Expression:
        return add(as_expression(other), -self)

    def __mul__(self, other: Expression | Number) -> Expression:
        return multiply(self, as_expression(other))

    def __rmul__(self, other: Number) -> Expression:
        return multiply(as_expression(other), self)

    def __truediv__(self, other: Expression | Number) -> Expression:
        return divide(self, as_expression(other))

    def __rtruediv__(self, other: Number) -> Expression:
        return divide(as_expression(other), self)

    def __pow__(self, other: Expression | Number) -> Expression:
        return power(self, as_expression(other))

    def __rpow__(self, other: Number) -> Expression:
        return power(as_expression(other), self)

    def __neg__(self) -> Expression:
        return multiply(constant(-1.0), self)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return function("abs", self)

    def __bool__(self) -> bool:
        raise InvalidInput(f"the formula '{clip(str(self))}' is neither true nor false; use larger() or tanh()")

    def __str__(self) -> str:
        return written(self)

    def __repr__(self) -> str:
        return f"Expression({written(self)!r})"


def constant(value: float) -> Expression:
    return Expression(CONSTANT, value=float(value))


ZERO, ONE = constant(0.0), constant(1.0)
TIME = Expression(NAME, name="t")


def name(path: str, index: int = 0) -> Expression:
    """A variable by its name, such as ``q``, ``theta`` or ``spring.q``."""
    return Expression(NAME, name=path, index=index)


def as_expression(given: Expression | Number | str) -> Expression:
    """A formula from a number, a text or a formula."""
    if isinstance(given, Expression):
        return given
    if isinstance(given, str):
        return parse(given)
    if isinstance(given, bool) or not isinstance(given, Real) or not math.isfinite(given):
        raise InvalidInput(f"{clip(repr(given))} is no finite number and no formula; give one of them")
    return constant(float(given))


def add(a: Expression, b: Expression) -> Expression:
    if a.is_constant and b.is_constant:
        return constant(a.value + b.value)
    if a is ZERO or b is ZERO:
        return b if a is ZERO else a
    return Expression(ADD, (a, b))


def multiply(a: Expression, b: Expression) -> Expression:
    if a.is_constant and b.is_constant:
        return constant(a.value * b.value)
    if b.is_constant:
        a, b = b, a
    if a.is_constant:
        if a.value == 0.0:
            return ZERO
        if a.value == 1.0:
            return b
        if b.operation == MULTIPLY and b.arguments[0].is_constant:
            return multiply(constant(a.value * b.arguments[0].value), b.arguments[1])
    return Expression(MULTIPLY, (a, b))


def divide(a: Expression, b: Expression) -> Expression:
    if b.is_constant:
        if b.value == 0.0:
            raise InvalidInput(f"'{clip(str(a))}' is divided by zero; correct the formula")
        return constant(a.value / b.value) if a.is_constant else multiply(constant(1.0 / b.value), a)
    return ZERO if a is ZERO else Expression(DIVIDE, (a, b))


def power(a: Expression, b: Expression) -> Expression:
    if b is ZERO:
        return ONE
    if b is ONE:
        return a
    if a.is_constant and b.is_constant:
        return _folded(POWER, a, b)
    return Expression(POWER, (a, b))


def function(operation: str, *arguments: Expression) -> Expression:
    if operation in FOLDED and all(each.is_constant for each in arguments):
        return _folded(operation, *arguments)
    return Expression(operation, arguments)


def _folded(operation: str, *arguments: Expression) -> Expression:
    values = [each.value for each in arguments]
    try:
        return as_expression(FOLDED[operation](*values))
    except (ArithmeticError, ValueError):
        text = ", ".join(f"{each:g}" for each in values)
        raise InvalidInput(f"{operation} of {text} is no real number; correct the formula") from None


FOLDED: dict[str, Callable[..., float]] = {each: getattr(math, each) for each in ("sin", "cos", "exp", "log", "tanh")}


def _rotation(y: float) -> float:
    """The rotation factor of a number, by its series where the formula loses digits."""
    x = cmath.sqrt(y)
    return 1 / 3 + y / 45 + 2 * y**2 / 945 + y**3 / 4725 if abs(y) < 4e-3 else ((1.0 - x / cmath.tan(x)) / y).real


FOLDED |= {"rotation": _rotation}
FOLDED |= {POWER: math.pow, ATAN2: math.atan2, "abs": abs, "sign": lambda a: float((a > 0.0) - (a < 0.0))}


def unary(operation: str) -> Callable[[Expression | Number], Expression]:
    def made(argument: Expression | Number) -> Expression:
        return function(operation, as_expression(argument))

    made.__name__, made.__doc__ = operation, f"The {operation} of a formula."
    return made


sin, cos, exp, log, tanh, sign = map(unary, ("sin", "cos", "exp", "log", "tanh", "sign"))


def rotation_factor(half_angle_squared: Expression | Number) -> Expression:
    """(1 - x / tan x) / x^2 of [damic2006] (10) with x^2 as argument: smooth at zero, where it is 1/3."""
    return function("rotation", as_expression(half_angle_squared))


def tan(x: Expression | Number) -> Expression:
    """sin x / cos x"""
    return sin(x) / cos(x)


def sqrt(x: Expression | Number) -> Expression:
    """The square root."""
    return as_expression(x) ** 0.5


def asin(x: Expression | Number) -> Expression:
    """The angle between -pi/2 and pi/2 whose sine is x."""
    return atan2(x, sqrt(1.0 - as_expression(x) ** 2))


def atan2(y: Expression | Number, x: Expression | Number) -> Expression:
    """The angle of the point (x, y)."""
    return function(ATAN2, as_expression(y), as_expression(x))


def larger(a: Expression | Number, b: Expression | Number) -> Expression:
    """The larger of two values."""
    return 0.5 * (as_expression(a) + b + abs(as_expression(a) - b))


def smooth_sign(x: Expression | Number, width: float) -> Expression:
    """-1, 0 or 1, smooth within some ``width`` of zero."""
    return tanh(as_expression(x) / width)


@cache
def derivative(of: Expression, by: Expression) -> Expression:
    """The exact partial derivative by a name."""
    if of is by:
        return ONE
    if not of.arguments:
        return ZERO
    inner = [derivative(each, by) for each in of.arguments]
    if all(each is ZERO for each in inner):
        return ZERO
    total = ZERO
    for k, each in enumerate(inner):
        if each is not ZERO:
            total = total + partial(of, k) * each
    return total


def partial(of: Expression, k: int) -> Expression:
    """The derivative of an operation by its k-th argument."""
    if of.operation not in PARTIALS:
        raise InvalidInput(f"{of.operation} has no further derivative; use another formula for this energy")
    return as_expression(PARTIALS[of.operation][k](of.arguments[0], of.arguments[-1], of))


Partial = Callable[[Expression, Expression, Expression], Expression | float]
PARTIALS: dict[str, tuple[Partial, ...]] = {  # by the first and the last argument and the value
    ADD: (lambda a, b, v: ONE, lambda a, b, v: ONE),
    MULTIPLY: (lambda a, b, v: b, lambda a, b, v: a),
    DIVIDE: (lambda a, b, v: 1.0 / b, lambda a, b, v: -v / b),
    POWER: (lambda a, b, v: b * a ** (b - 1.0), lambda a, b, v: v * log(a)),
    ATAN2: (lambda a, b, v: b / (a * a + b * b), lambda a, b, v: -a / (a * a + b * b)),
    "sin": (lambda a, b, v: cos(a),),
    "cos": (lambda a, b, v: -sin(a),),
    "exp": (lambda a, b, v: v,),
    "log": (lambda a, b, v: 1.0 / a,),
    "tanh": (lambda a, b, v: 1.0 - v * v,),
    "abs": (lambda a, b, v: sign(a),),
    "sign": (lambda a, b, v: ZERO,),
    "rotation": (lambda a, b, v: function("rotation1", a),),
    "rotation1": (lambda a, b, v: function("rotation2", a),),
}


def names_in(*expressions: Expression) -> Iterator[Expression]:
    """All names of formulas, each once, in order of appearance."""
    seen: set[Expression] = set()
    waiting = list(reversed(expressions))
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.operation == NAME:
            yield each
        waiting.extend(reversed(each.arguments))


def substituted(of: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same formula with every name replaced."""
    done: dict[Expression, Expression] = {}

    def walk(each: Expression) -> Expression:
        if each not in done:
            if each.operation == NAME:
                done[each] = change(each)
            elif not each.arguments:
                done[each] = each
            else:
                done[each] = rebuilt(each.operation, [walk(inner) for inner in each.arguments])
        return done[each]

    return walk(of)


def rebuilt(operation: str, arguments: list[Expression]) -> Expression:
    """An operation on other arguments, simplified as when it was made."""
    simple = {ADD: add, MULTIPLY: multiply, DIVIDE: divide, POWER: power}.get(operation)
    return simple(*arguments) if simple else function(operation, *arguments)


SYMBOLS = {ADD: ("+", 1), MULTIPLY: ("*", 2), DIVIDE: ("/", 2), POWER: ("**", 4)}


def written(of: Expression, around: int = 0) -> str:
    """As text that `parse` reads."""
    if of.operation == CONSTANT:
        text = repr(of.value)
        return f"({text})" if of.value < 0.0 and around else text
    if of.operation == NAME:
        plain = all(word.isidentifier() and not iskeyword(word) for word in of.name.split("."))
        return (of.name if plain else repr(of.name)) + (f"[{of.index}]" if of.index else "")
    if of.operation in SYMBOLS:
        symbol, rank = SYMBOLS[of.operation]
        left, right = of.arguments
        # powers bind to the right, all others to the left
        ranks = (rank + 1, 3) if of.operation == POWER else (rank, rank + 1)
        text = f"{written(left, ranks[0])} {symbol} {written(right, ranks[1])}"
        return f"({text})" if rank < around else text
    return f"{of.operation}({', '.join(written(each) for each in of.arguments)})"


LONGEST = 20_000  # characters of a formula in a file
FUNCTIONS: dict[str, Callable[..., Expression]] = {
    **{
        each: unary(each)
        for each in ("sin", "cos", "exp", "log", "tanh", "abs", "sign", "rotation", "rotation1", "rotation2")
    },
    "tan": tan,
    "sqrt": sqrt,
    "asin": asin,
    ATAN2: atan2,
    "larger": larger,
}


def parse(text: str) -> Expression:
    """A formula from its text: numbers, names, + - * / **, and the functions of this file; everything else is refused.

    Names that are no words of Python stand in quotes, such as ``'beam 3'.theta[1]`` or ``'beam 3.root m'``.
    """
    if len(text) > LONGEST:
        raise InvalidInput(f"the formula '{clip(text)}' has {len(text)} characters; write it in at most {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _read(tree, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"'{clip(text)}' is no formula; write numbers, names, + - * / ** and functions") from None


OPERATORS: dict[type[ast.operator], Callable[[Expression, Expression], Expression]] = {
    ast.Add: add,
    ast.Sub: lambda a, b: add(a, -b),
    ast.Mult: multiply,
    ast.Div: divide,
    ast.Pow: power,
}


def _read(node: ast.expr, text: str) -> Expression:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return as_expression(float(value))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_read(left, text), _read(right, text))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _read(operand, text)
        case ast.Subscript(value=value, slice=ast.Constant(value=int() as index)) if index >= 0:
            return name(_path(value, text), index)
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]) if word in FUNCTIONS:
            if len(arguments) != (count := 2 if word in (ATAN2, "larger") else 1):
                raise InvalidInput(f"{word} takes {count} arguments, not {len(arguments)}, in '{clip(text)}'")
            return FUNCTIONS[word](*(_read(each, text) for each in arguments))
        case ast.Name(id="pi"):
            return constant(math.pi)
        case ast.Name() | ast.Attribute() | ast.Constant(value=str()):
            return name(_path(node, text))
    raise InvalidInput(
        f"'{clip(ast.unparse(node))}' is not allowed in the formula '{clip(text)}'; write numbers, names, + - * / **"
        f" and the functions {', '.join(FUNCTIONS)}"
    )


def _path(node: ast.expr, text: str) -> str:
    """A dotted name; names that begin with an underscore belong to Python and are refused."""
    match node:
        case ast.Name(id=word):
            found = word
        case ast.Attribute(value=value, attr=word):
            found = f"{_path(value, text)}.{word}"
        case ast.Constant(value=str() as word):
            found = word
        case _:
            raise InvalidInput(f"'{clip(ast.unparse(node))}' is no name, in the formula '{clip(text)}'; correct it")
    if word.startswith("_"):
        raise InvalidInput(f"'{clip(word)}' begins with an underscore, in the formula '{clip(text)}'; rename it")
    return found
