"""Names of a Promela model, and the variables, channels and constants that they stand for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from outcrop.ir.nodes import Expression, Local, Place, Variable
from outcrop.ir.types import Array, Enum, Range, Record, Scalarset, Type
from outcrop.lang.promela import syntax
from outcrop.lang.promela.control import Graph
from outcrop.source import Span

BIT = Range(0, 1, "bit")
BOOL = Range(0, 1, "bool", labels=("false", "true"))
BYTE = Range(0, 255, "byte")
CHAN = Range(0, 255, "chan")
PID = Range(0, 255, "pid")
SHORT = Range(-32768, 32767, "short")
INT = Range(-(2**31), 2**31 - 1, "int")
#: Types that hold nothing but numbers.
NUMBERS: dict[str, Range] = {"bit": BIT, "bool": BOOL, "byte": BYTE, "pid": PID, "short": SHORT, "int": INT}


@dataclass(eq=False)
class VariableSymbol:
    """A variable. ``field``: its number in the record of its process; None: it is global."""

    name: str
    type: Type
    span: Span
    variable: Variable | None = None
    field: int | None = None
    initial: InitialValue = None
    is_channel: bool = True  #: whether it can hold the number of a channel


@dataclass(frozen=True)
class FieldValues:
    """Initial values of a structure, one for each field."""

    values: tuple[InitialValue, ...]


#: An initial value: a number, those of the elements of an array, or of the fields of a structure. None: zero.
InitialValue = syntax.Expression | tuple["InitialValue", ...] | FieldValues | None


@dataclass(eq=False)
class ChannelSymbol:
    """Channels that one declaration makes, each with a number; ``base`` is the first.

    One that a process declares exists once for each process: ``proctype`` has ``pids`` of them. A buffered channel
    is a record in ``storage``: how many messages it holds, and the messages, the oldest first, then zeroes.
    """

    name: str
    capacity: int
    types: tuple[Range, ...]
    size: int | None  #: number of elements of an array of channels; None: not an array
    span: Span
    proctype: ProctypeSymbol | None = None
    base: int = 0
    storage: Variable | None = None

    @property
    def width(self) -> int:
        """Channels that one process declares, or all of a global declaration."""
        return 1 if self.size is None else self.size

    @property
    def count(self) -> int:
        return self.width * (1 if self.proctype is None else len(self.proctype.pids))

    @property
    def titles(self) -> list[str]:
        """The names of the channels, by number."""
        owners = [""]
        if self.proctype is not None:
            several = len(self.proctype.pids) > 1
            owners = [f"{self.proctype.name}{f'[{pid}]' if several else ''}." for pid in self.proctype.pids]
        own = self.name.rpartition(".")[2] if self.proctype is not None else self.name
        indices = [""] if self.size is None else [f"[{at}]" for at in range(self.size)]
        return [f"{owner}{own}{index}" for owner in owners for index in indices]


def with_channel(kind: Range, titles: tuple[str, ...]) -> Range:
    """Returns a type of numbers; if its values are channels, they have names."""
    return replace(kind, labels=titles) if kind.name == CHAN.name else kind


def with_channels(kind: Type, titles: tuple[str, ...]) -> Type:
    """Returns a type in which values of channel variables have names."""
    if isinstance(kind, Range):
        return with_channel(kind, titles)
    if isinstance(kind, Array):
        return replace(kind, element=with_channels(kind.element, titles))
    if isinstance(kind, Record):
        return replace(kind, fields=tuple((name, with_channels(each, titles)) for name, each in kind.fields))
    return kind


@dataclass(frozen=True)
class InitialChannel(syntax.Expression):
    """The number of a channel that a declaration makes, as the initial value of a variable."""

    channel: ChannelSymbol
    index: int


@dataclass(eq=False)
class ConstantSymbol:
    value: int
    span: Span


Symbol = VariableSymbol | ChannelSymbol | ConstantSymbol


@dataclass(eq=False)
class ProctypeSymbol:
    """A proctype. Its processes are records in ``variable``: where each is, its parameters and its variables.

    ``pids``: the numbers that its processes can have. With one alone the variable is a record, otherwise an array.
    """

    tree: syntax.Proctype
    graph: Graph
    names: dict[str, Symbol] = field(default_factory=dict)
    fields: list[VariableSymbol] = field(default_factory=list)
    parameters: list[VariableSymbol] = field(default_factory=list)
    channels: list[ChannelSymbol] = field(default_factory=list)
    pids: range = range(0)
    active: range = range(0)  #: processes that exist from the start
    locations: Enum = field(default_factory=lambda: Enum(("-",)))
    record: Record = field(default_factory=lambda: Record(()))
    variable: Variable | None = None
    priority: int | None = 1  #: of all its processes; None: each has one of its own
    scalarset: Scalarset | None = None  #: numbers of identical processes, where symmetry was asked for

    @property
    def name(self) -> str:
        return self.tree.name.text

    @property
    def pid_type(self) -> Range | Scalarset:
        return self.scalarset or Range(self.pids.start, self.pids.stop - 1, "pid")

    @property
    def pid_values(self) -> range:
        """The values of ``pid_type``."""
        return self.pids if self.scalarset is None else range(len(self.pids))


@dataclass(frozen=True)
class Self:
    """The process that takes a step: its number, and the place of its record. ``local``: the parameter of the rule
    that has its number, where there are several."""

    proctype: ProctypeSymbol
    pid: Expression
    place: Place
    local: Local | None = None
