"""The syntax tree of a Murphi model, before names and types are resolved."""

from __future__ import annotations

from dataclasses import dataclass

from outcrop.source import Span

# Plain slotted classes: a large model has some 50,000 nodes, and frozen dataclasses take three times as long to make.


@dataclass(slots=True)
class Node:
    span: Span


@dataclass(slots=True)
class Name(Node):
    """An identifier at its place of declaration."""

    text: str


# --- Types -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class TypeName(Node):
    name: str


@dataclass(slots=True)
class EnumType(Node):
    members: list[Name]


@dataclass(slots=True)
class RangeType(Node):
    low: Expression
    high: Expression


@dataclass(slots=True)
class ScalarsetType(Node):
    size: Expression


@dataclass(slots=True)
class UnionType(Node):
    members: list[TypeExpression]


@dataclass(slots=True)
class RecordType(Node):
    fields: list[tuple[list[Name], TypeExpression]]


@dataclass(slots=True)
class ArrayType(Node):
    index: TypeExpression
    element: TypeExpression


@dataclass(slots=True)
class MultisetType(Node):
    capacity: Expression
    element: TypeExpression


@dataclass(slots=True)
class RealType(Node):
    digits: Expression
    exponent: Expression


TypeExpression = (
    TypeName | EnumType | RangeType | ScalarsetType | UnionType | RecordType | ArrayType | MultisetType | RealType
)

# --- Expressions -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Integer(Node):
    value: int


@dataclass(slots=True)
class RealNumber(Node):
    value: float


@dataclass(slots=True)
class Identifier(Node):
    """A use of a name; ``true``, ``false`` and ``undefined`` are names too."""

    name: str


@dataclass(slots=True)
class FieldAccess(Node):
    base: Expression
    field: Name


@dataclass(slots=True)
class ElementAccess(Node):
    base: Expression
    index: Expression


@dataclass(slots=True)
class UnaryOperation(Node):
    """``operator``: ! - + ~ in ASCII spelling. ``!!x`` is two of them."""

    operator: str
    operand: Expression


@dataclass(slots=True)
class BinaryOperation(Node):
    """``operator`` in ASCII spelling, ``==`` folded into ``=``: ? excluded, one of
    -> || && | ^ & < <= = != >= > << >> + - * / %. ``operator_span`` points at it."""

    operator: str
    operator_span: Span
    left: Expression
    right: Expression


@dataclass(slots=True)
class ConditionalOperation(Node):
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(slots=True)
class TypeQuantifier(Node):
    """A quantifier ``i : T``."""

    name: Name
    type: TypeExpression


@dataclass(slots=True)
class StepQuantifier(Node):
    """A quantifier ``i := first to last [by step]``."""

    name: Name
    first: Expression
    last: Expression
    step: Expression | None


QuantifierSyntax = TypeQuantifier | StepQuantifier


@dataclass(slots=True)
class QuantifiedOperation(Node):
    """``kind``: forall or exists."""

    kind: str
    quantifiers: list[QuantifierSyntax]
    body: Expression


@dataclass(slots=True)
class CallOperation(Node):
    """A function or procedure call, a call of a real function such as ``sqrt`` included."""

    name: Name
    arguments: list[Expression]


@dataclass(slots=True)
class IsUndefinedOperation(Node):
    operand: Expression


@dataclass(slots=True)
class IsMemberOperation(Node):
    operand: Expression
    type: TypeExpression


@dataclass(slots=True)
class MultisetCountOperation(Node):
    name: Name
    multiset: Expression
    condition: Expression


Expression = (
    Integer
    | RealNumber
    | Identifier
    | FieldAccess
    | ElementAccess
    | UnaryOperation
    | BinaryOperation
    | ConditionalOperation
    | QuantifiedOperation
    | CallOperation
    | IsUndefinedOperation
    | IsMemberOperation
    | MultisetCountOperation
)

# --- Statements --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class AssignStatement(Node):
    target: Expression
    value: Expression


@dataclass(slots=True)
class IfStatement(Node):
    branches: list[tuple[Expression, list[Statement]]]
    otherwise: list[Statement] | None


@dataclass(slots=True)
class SwitchStatement(Node):
    selector: Expression
    cases: list[tuple[list[Expression], list[Statement]]]
    otherwise: list[Statement] | None


@dataclass(slots=True)
class ForStatement(Node):
    quantifiers: list[QuantifierSyntax]
    body: list[Statement]


@dataclass(slots=True)
class WhileStatement(Node):
    condition: Expression
    body: list[Statement]


@dataclass(slots=True)
class AliasBinding(Node):
    name: Name
    value: Expression


@dataclass(slots=True)
class AliasStatement(Node):
    bindings: list[AliasBinding]
    body: list[Statement]


@dataclass(slots=True)
class CallStatement(Node):
    call: CallOperation


@dataclass(slots=True)
class ClearStatement(Node):
    target: Expression


@dataclass(slots=True)
class UndefineStatement(Node):
    target: Expression


@dataclass(slots=True)
class ErrorStatement(Node):
    message: str


@dataclass(slots=True)
class PropertyStatement(Node):
    """``kind``: assert (``invariant`` is the same), assume, cover or liveness (which is then refused)."""

    kind: str
    condition: Expression
    message: str


@dataclass(slots=True)
class PutStatement(Node):
    argument: str | Expression


@dataclass(slots=True)
class ReturnStatement(Node):
    value: Expression | None


@dataclass(slots=True)
class MultisetAddStatement(Node):
    value: Expression
    multiset: Expression


@dataclass(slots=True)
class MultisetRemoveStatement(Node):
    index: Expression
    multiset: Expression


@dataclass(slots=True)
class MultisetRemovePredStatement(Node):
    name: Name
    multiset: Expression
    condition: Expression


Statement = (
    AssignStatement
    | IfStatement
    | SwitchStatement
    | ForStatement
    | WhileStatement
    | AliasStatement
    | CallStatement
    | ClearStatement
    | UndefineStatement
    | ErrorStatement
    | PropertyStatement
    | PutStatement
    | ReturnStatement
    | MultisetAddStatement
    | MultisetRemoveStatement
    | MultisetRemovePredStatement
)

# --- Declarations ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ConstDeclaration(Node):
    names: list[Name]
    value: Expression


@dataclass(slots=True)
class TypeDeclaration(Node):
    names: list[Name]
    type: TypeExpression


@dataclass(slots=True)
class VarDeclaration(Node):
    names: list[Name]
    type: TypeExpression


Declaration = ConstDeclaration | TypeDeclaration | VarDeclaration


@dataclass(slots=True)
class FormalSyntax(Node):
    is_var: bool
    names: list[Name]
    type: TypeExpression


@dataclass(slots=True)
class FunctionDeclaration(Node):
    """``result`` None: a procedure."""

    name: Name
    formals: list[FormalSyntax]
    result: TypeExpression | None
    declarations: list[Declaration]
    body: list[Statement]


@dataclass(slots=True)
class RuleSyntax(Node):
    """``name`` is "" where the model gives none."""

    name: str
    priority: Expression | None
    guard: Expression | None
    declarations: list[Declaration]
    body: list[Statement]


@dataclass(slots=True)
class StartStateSyntax(Node):
    name: str
    declarations: list[Declaration]
    body: list[Statement]


@dataclass(slots=True)
class PropertySyntax(Node):
    """``kind``: invariant (``assert`` is the same), assume, cover or liveness."""

    kind: str
    name: str
    condition: Expression


@dataclass(slots=True)
class LtlSyntax(Node):
    """An LTL formula. ``formula`` is its place, since it has a separate syntax."""

    name: str
    formula: Span


@dataclass(slots=True)
class RuleSet(Node):
    quantifiers: list[QuantifierSyntax]
    rules: list[RuleItem]


@dataclass(slots=True)
class AliasRule(Node):
    bindings: list[AliasBinding]
    rules: list[RuleItem]


@dataclass(slots=True)
class ChooseRule(Node):
    name: Name
    multiset: Expression
    rules: list[RuleItem]


RuleItem = RuleSyntax | StartStateSyntax | PropertySyntax | LtlSyntax | RuleSet | AliasRule | ChooseRule


@dataclass(slots=True)
class ModelSyntax(Node):
    """Declarations, functions and rules in the order of the text."""

    items: list[Declaration | FunctionDeclaration | RuleItem]
