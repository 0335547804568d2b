# Packs and tools for the code, and the conversion of values to JSON.
import builtins


class ToolError(Exception):
    """A tool failed."""


ToolError.__module__ = "builtins"
builtins.ToolError = ToolError


def _raise(kind, message):
    found = getattr(builtins, kind, None)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        found = ToolError
    try:
        error = found(message)
    except TypeError:
        error = ToolError(message)
    raise error


class Data(dict):
    """An object returned by a tool, with its text and other content as attributes."""

    __slots__ = ("text", "blocks")


class Items(list):
    """A list returned by a tool, with its text and other content as attributes."""

    __slots__ = ("text", "blocks")


def _result(reply):
    if not reply[0]:
        _raise(reply[1], reply[2])
    value, extra = reply[1:]
    kind = extra and {dict: Data, list: Items}.get(type(value))
    if kind:
        value = kind(value)
        value.text, value.blocks = extra["text"], extra["blocks"]
    return value


class Tool:
    """A tool; calling it returns its result."""

    __slots__ = ("__name__",)

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return _result(_call(self.__name__, [*args], kwargs, _simplify))

    def __getattr__(self, name):
        # A tool's name can contain several dots.
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return Tool(f"{self.__name__}.{name}")

    def __repr__(self):
        return f"<tool {self.__name__}>"


class Pack:
    """A pack; its attributes are tools."""

    __slots__ = ("__name__",)

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"pack '{self.__name__}' has no attribute '{name}'")
        return Tool(f"{self.__name__}.{name}")

    def __repr__(self):
        return f"<pack {self.__name__}>"


def _bind(name, is_pack):
    setattr(builtins, name, Pack(name) if is_pack else Tool(name))


_DICT_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


def _simplify(value):
    """Converts a value without a JSON equivalent to a simpler one."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Later):
        return value._value()
    if isinstance(value, tuple):
        return [*value]
    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
        except TypeError:
            return [*value]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    # Without an import of decimal, there are no such values.
    decimal = sys.modules.get("decimal")
    if decimal and isinstance(value, decimal.Decimal):
        if value.is_finite():
            number = int(value) if value == value.to_integral_value() and abs(value) < 2**63 else float(value)
            if decimal.Decimal(str(number)) == value:
                return number
        return str(value)
    if isinstance(value, memoryview):
        return value.tobytes()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, collections.abc.Mapping):
        return dict(value.items())
    if isinstance(value, types.SimpleNamespace):
        return dict(vars(value))
    if isinstance(value, (*_DICT_VIEWS, range, collections.deque, collections.abc.Sequence, collections.abc.Iterator)):
        return [*value]
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    text = str(value)
    return text if type(text) is str else repr(type(value))


class _Return(BaseException):
    """Carries the value of a top-level `return` out of the program."""


def _return(value):
    raise _Return(value)


builtins.__ot_return__ = _return
