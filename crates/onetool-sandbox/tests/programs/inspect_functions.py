import ast
import inspect
import types
import weakref


class Registry:
    def __init__(self):
        self.tools = {}

    def tool(self, function):
        """Registers a function with its signature."""
        self.tools[function.__name__] = inspect.signature(function)
        return function


registry = Registry()


@registry.tool
def convert(amount: float, currency: str = "EUR", *, exact: bool = False, **options):
    """Converts an amount."""
    return amount


@registry.tool
def ping(): ...


parameters = {name: [(p.name, p.kind.name, None if p.default is p.empty else p.default) for p in signature.parameters.values()] for name, signature in registry.tools.items()}
tree = ast.parse("total = sum(x * 2 for x in rows if x > limit)")
names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
alive = weakref.ref(registry)
bound = inspect.signature(convert).bind(5, exact=True)
bound.apply_defaults()
print(inspect.getdoc(convert), dict(bound.arguments))
{"parameters": parameters, "names": names, "literal": ast.literal_eval("[1, {'a': (2, None)}]"), "alive": alive() is registry, "function": isinstance(ping, types.FunctionType), "method": inspect.ismethod(registry.tool)}
