# An asyncio event loop for calls to the host.
from asyncio import base_events, events, futures, tasks, timeouts

_waiting = {}


class _Selector:
    """Waits for results of calls instead of sockets."""

    def select(self, timeout=None):
        if timeout is not None and timeout <= 0 and not _waiting:
            return ()
        return _answers(None if timeout is None else float(timeout))

    def close(self):
        pass


class _Loop(base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, replies):
        for number, reply in replies:
            future = _waiting.pop(number, None)
            if future is None:
                continue
            if future.get_loop() is self:
                _settle(future, reply)
            else:
                future.get_loop().call_soon_threadsafe(_settle, future, reply)

    def _write_to_self(self):
        _wake()

    def create_task(self, coro, **options):
        return super().create_task(_coroutine(coro), **options)


def _settle(future, reply):
    if future.done():
        return
    try:
        future.set_result(_result(reply))
    except Exception as error:
        future.set_exception(error)
    except BaseException as error:
        future.set_exception(ToolError(str(error)))


class _Policy(events._AbstractEventLoopPolicy):
    def __init__(self):
        self._local = threading.local()

    def get_event_loop(self):
        loop = getattr(self._local, "loop", None)
        if loop is None or loop.is_closed():
            if threading.current_thread() is not threading.main_thread():
                raise RuntimeError(f"There is no current event loop in thread {threading.current_thread().name!r}.")
            loop = self._local.loop = _Loop()
        return loop

    def set_event_loop(self, loop):
        self._local.loop = loop

    def new_event_loop(self):
        return _Loop()


events._event_loop_policy = _Policy()
asyncio.SelectorEventLoop = asyncio.EventLoop = asyncio.DefaultEventLoop = _Loop


class Later:
    """A call that starts when it is awaited, or when it is used as a plain value."""

    __slots__ = ("_name", "_args", "_kwargs", "_future", "_known")

    def __init__(self, name, args, kwargs):
        self._name, self._args, self._kwargs, self._future, self._known = name, args, kwargs, None, None

    def __await__(self):
        if self._known is None:
            if self._future is None:
                self._future = asyncio.get_running_loop().create_future()
                _waiting[_send(self._name, [*self._args], self._kwargs, _simplify)] = self._future
            return (yield from self._future.__await__())
        return self._known[0]

    def _value(self):
        if self._known is None:
            if self._future is None:
                self._known = (_result(_call(self._name, [*self._args], self._kwargs, _simplify)),)
            elif self._future.done():
                self._known = (self._future.result(),)
            else:
                self._known = (self._future.get_loop().run_until_complete(self._future),)
        return self._known[0]

    def __getattr__(self, name):
        if name.startswith("__") or name in ("send", "throw", "close", "_asyncio_future_blocking"):
            raise AttributeError(name)
        return getattr(self._value(), name)

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"<pending call to {self._name}>" if self._known is None else repr(self._known[0])


def _forward(name):
    def forwarded(self, *args):
        return getattr(operator, name)(self._value(), *args)

    return forwarded


for _name in ("__getitem__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__",
              "__sub__", "__mul__", "__truediv__", "__mod__", "__or__", "__and__"):
    setattr(Later, _name, _forward(_name))
Later.__iter__ = lambda self: iter(self._value())
Later.__len__ = lambda self: len(self._value())
Later.__str__ = lambda self: str(self._value())
Later.__bool__ = lambda self: bool(self._value())
Later.__int__ = lambda self: int(self._value())
Later.__float__ = lambda self: float(self._value())


def _later(function):
    """Wraps the callee of an awaited call: a call to a tool is deferred."""
    if type(function) is Tool:
        return lambda *args, **kwargs: Later(function.__name__, args, kwargs)
    return function


async def _give(value):
    return value


async def _wait_for_it(awaitable):
    return await awaitable


def _awaitable(value):
    """Makes any value awaitable; awaiting the result of a blocking call returns it."""
    return value if inspect.isawaitable(value) else _give(value)


def _coroutine(value):
    if asyncio.iscoroutine(value):
        return value
    return _wait_for_it(value) if inspect.isawaitable(value) else _give(value)


builtins.__ot_later__ = _later
builtins.__ot_await__ = _awaitable

_ensure_future, _create_task, _wait_for, _wait, _shield = (
    tasks.ensure_future, tasks.create_task, tasks.wait_for, tasks.wait, tasks.shield)


def ensure_future(coro_or_future, *, loop=None):
    return _ensure_future(_awaitable(coro_or_future), loop=loop)


def create_task(coro, **options):
    return _create_task(_coroutine(coro), **options)


async def wait_for(fut, timeout):
    return await _wait_for(_awaitable(fut), timeout)


async def wait(fs, *, timeout=None, return_when=tasks.ALL_COMPLETED):
    return await _wait([ensure_future(it) for it in fs], timeout=timeout, return_when=return_when)


for _function in (ensure_future, create_task, wait_for, wait):
    setattr(tasks, _function.__name__, _function)
    setattr(asyncio, _function.__name__, _function)


def _drive(coroutine):
    """Runs a program with a top-level `await`, or a coroutine that is its final value."""
    loop = events._event_loop_policy.get_event_loop()
    return loop.run_until_complete(coroutine)
