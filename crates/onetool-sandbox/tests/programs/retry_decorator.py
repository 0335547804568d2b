import functools


def retry(times, *exceptions):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            errors = []
            for _ in range(times):
                try:
                    return function(*args, **kwargs), errors
                except exceptions as error:
                    errors.append(f"{type(error).__name__}: {error}")
            raise RuntimeError(f"{function.__name__} failed {times} times") from None
        return wrapper
    return decorate


@retry(3, ToolError, KeyError)
def load(key, failures=2):
    """Loads a key."""
    return flaky.get(key=key, failures=failures)["attempt"]


good = load("x")
try:
    load("y", failures=5)
except RuntimeError as error:
    bad = str(error)
{"good": good, "bad": bad, "name": load.__name__, "doc": load.__doc__}
