"""Runs programs in CPython with the tools of `it/programs.rs` and prints a line of JSON for each.

Usage: `python3 harness.py a.py b.py …`. What `run` adds to Python (the value of the last expression, `return` and `await`
at the top level, awaitable tools) is added here with the `ast` module, so that the same source runs in both.
"""
import ast
import asyncio
import dataclasses
import datetime
import decimal
import enum
import inspect
import io
import json
import os
import pathlib
import sys
import time
import types

DATA = json.loads(pathlib.Path(__file__).with_name("data.json").read_text())


class ToolError(Exception):
    """A tool failed."""


class Shop:
    def orders(self, page=1, per_page=10, status=None):
        found = [it for it in DATA["orders"] if status is None or it["status"] == status]
        pages = -(-len(found) // per_page)
        items = found[(page - 1) * per_page:page * per_page]
        return {"items": items, "page": page, "pages": pages, "next": page + 1 if page < pages else None}

    def customer(self, id):
        return _find("customers", "id", id, f"shop.customer: no customer {id}")

    def product(self, sku):
        return _find("products", "sku", sku, f"shop.product: no product {sku}")

    def products(self, category=None):
        return [it for it in DATA["products"] if category is None or it["category"] == category]


class Web:
    def fetch(self, url):
        if url not in DATA["pages"]:
            raise ToolError(f"web.fetch: 404 for {url}")
        return DATA["pages"][url]

    def search(self, query, count=3):
        return [it for it in DATA["search"] if query.lower() in it["title"].lower()][:count]


class Db:
    def query(self, table, limit=100, offset=0):
        return DATA[table][offset:offset + limit]


class Flaky:
    attempts = {}

    def get(self, key, failures=2):
        attempt = self.attempts[key] = self.attempts.get(key, 0) + 1
        if attempt <= failures:
            raise ToolError(f"flaky.get: 503 for {key} (attempt {attempt})")
        return {"key": key, "attempt": attempt}


class Notes:
    notes = []

    def add(self, title, text=""):
        self.notes.append({"id": len(self.notes) + 1, "title": title, "text": text})
        return {"id": len(self.notes)}

    def all(self):
        return self.notes


class Mail:
    def send(self, to, subject, body=""):
        if "@" not in to:
            raise ToolError(f"mail.send: invalid address {to}")
        return {"to": to, "subject": subject, "size": len(body), "status": "sent"}


class Slow:
    def echo(self, value, ms=5):
        time.sleep(ms / 1000)
        return value


def _find(table, key, value, error):
    found = [it for it in DATA[table] if it[key] == value]
    if not found:
        raise ToolError(error)
    return found[0]


def _copied(pack):
    """Copies the results of tools, as `run` does, so that a program cannot modify the data of later calls."""
    wrapped = types.SimpleNamespace()
    for name, tool in inspect.getmembers(pack, inspect.ismethod):
        setattr(wrapped, name, lambda *args, _tool=tool, **kwargs: json.loads(json.dumps(_tool(*args, **kwargs))))
    return wrapped


class _Return(BaseException):
    pass


def _return(value=None):
    raise _Return(value)


async def _return_value(value):
    return value


def _awaitable(value):
    return value if inspect.isawaitable(value) else _return_value(value)


async def _later(function, *args, **kwargs):
    return await _awaitable(function(*args, **kwargs))


class Awaits(ast.NodeTransformer):
    """Makes any value awaitable, and defers calls inside `gather(…)` until they are awaited."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "gather":
            node.args = [self.defer(arg) for arg in node.args]
        return node

    def defer(self, node):
        if isinstance(node, ast.Starred):
            node.value = self.defer(node.value)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            node.elt = self.defer(node.elt)
        elif isinstance(node, ast.Call):
            return ast.copy_location(ast.Call(ast.Name("__later__", ast.Load()), [node.func, *node.args], node.keywords), node)
        return node

    def visit_Await(self, node):
        self.generic_visit(node)
        node.value = ast.copy_location(_call("__awaitable__", [node.value]), node)
        return node


class TopReturn(ast.NodeTransformer):
    """Allows `return` at the top level; a `return` inside a function is unchanged."""

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef

    def visit_Return(self, node):
        return ast.copy_location(ast.Expr(_call("__return__", [node.value] if node.value else [])), node)


def _call(name, args):
    return ast.Call(ast.Name(name, ast.Load()), args, [])


def _simple(value):
    """Converts a value to JSON by the rules of `docs/python.md`."""
    if isinstance(value, enum.Enum):
        return _simple(value.value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if -2**63 <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {json.dumps(key) if key is None or isinstance(key, bool) else str(key): _simple(it) for key, it in value.items()}
    if isinstance(value, (set, frozenset)):
        return [_simple(it) for it in sorted(value)]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (bytes, bytearray)):
        return value.decode()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _simple(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "__iter__"):
        return [_simple(it) for it in value]
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    return str(value)


def _ensure_future(value, *, loop=None):
    return _original_ensure_future(_awaitable(value), loop=loop)


_original_ensure_future = asyncio.tasks._ensure_future
asyncio.ensure_future = asyncio.tasks.ensure_future = asyncio.tasks._ensure_future = _ensure_future
_original_gather = asyncio.gather
asyncio.gather = lambda *values, **options: _original_gather(*map(_awaitable, values), **options)
_original_create_task = asyncio.BaseEventLoop.create_task
asyncio.BaseEventLoop.create_task = lambda self, coro, **options: _original_create_task(
    self, coro if inspect.iscoroutine(coro) else _wrap(coro), **options)


async def _wrap(value):
    return await _awaitable(value)


def execute(path):
    source = path.read_text()
    tree = ast.parse(source, "run.py")
    if isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("__value__", ast.Store())], last.value), last)
    tree = ast.fix_missing_locations(Awaits().visit(TopReturn().visit(tree)))
    packs = {"shop": Shop(), "web": Web(), "db": Db(), "flaky": Flaky(), "notes": Notes(), "mail": Mail(), "slow": Slow()}
    scope = {"__name__": "__main__", "ToolError": ToolError, "__awaitable__": _awaitable, "__later__": _later, "__return__": _return}
    scope |= {name: _copied(pack) for name, pack in packs.items()}
    # `dataclasses`, `pickle` and others look up the program's classes in its module.
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__dict__.update(scope)
    scope = module.__dict__
    output = sys.stdout = sys.stderr = io.StringIO()
    result = {}
    try:
        try:
            code = compile(tree, "run.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            pending = eval(code, scope)
            if inspect.iscoroutine(pending):
                asyncio.run(pending)
            if "__value__" in scope:
                result["value"] = scope["__value__"]
        except _Return as returned:
            result["value"] = returned.args[0]
        if inspect.iscoroutine(result.get("value")):
            result["value"] = asyncio.run(result["value"])
        if "value" in result:
            result["value"] = _simple(result["value"])
    except Exception as error:
        lines = [frame.lineno for frame in inspect.getinnerframes(error.__traceback__) if frame.filename == "run.py"]
        result = {"kind": type(error).__name__, "message": str(error), "line": lines[-1]}
    return {"program": path.name, **result, "printed": output.getvalue()}


for name in sys.argv[1:]:
    # A separate process for each program, so that no program sees another one's changes.
    if os.fork() == 0:
        stdout = sys.stdout
        result = execute(pathlib.Path(name))
        stdout.write(json.dumps(result) + "\n")
        stdout.flush()
        os._exit(0)
    os.wait()
