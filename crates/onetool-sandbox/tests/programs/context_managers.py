import contextlib
import io
import time


class Timer:
    def __enter__(self):
        self.started = time.monotonic()
        return self

    def __exit__(self, kind, error, trace):
        self.took = time.monotonic() - self.started
        print("left with", kind.__name__ if kind else None)
        return kind is ToolError


with Timer() as timer:
    web.fetch("https://example.com/missing")
    print("not reached")
with contextlib.suppress(ToolError, KeyError):
    shop.customer(id=99)
captured = io.StringIO()
with contextlib.redirect_stdout(captured), contextlib.ExitStack() as stack:
    for name in "ab":
        stack.callback(print, "closing", name)
    print("inside")
with contextlib.closing(io.StringIO("text")) as stream:
    content = stream.read()
{"took": timer.took >= 0, "captured": captured.getvalue().splitlines(), "content": content, "closed": stream.closed}
