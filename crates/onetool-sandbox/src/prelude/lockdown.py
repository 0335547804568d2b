# A second line of defense after the process's cage: removes what programs do not need, and refuses other functions and
# modules with a hint about what to use instead.

_REFUSED = {
    **dict.fromkeys(("socket", "ssl", "select", "selectors", "socketserver", "http.client", "http.server", "ftplib",
                     "smtplib", "imaplib", "poplib", "xmlrpc", "urllib.request", "urllib3", "requests", "httpx", "aiohttp",
                     "_socket", "_ssl", "websockets", "webbrowser"), NETWORK),
    **dict.fromkeys(("subprocess", "multiprocessing", "pty", "_posixsubprocess", "signal", "_signal", "concurrent.interpreters",
                     "_interpreters", "_interpchannels", "_interpqueues"), PROCESSES),
    **dict.fromkeys(("tempfile", "fileinput", "sqlite3", "dbm", "shelve", "mmap", "fcntl", "zipimport",
                     "tarfile"), FILES),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi", "resource", "pwd", "grp", "termios", "tty", "curses", "readline",
                     "tkinter", "pdb", "bdb", "gc", "marshal", "_testinternalcapi", "_remote_debugging", "faulthandler",
                     "tracemalloc", "code", "codeop", "pip", "ensurepip", "venv", "site"), SYSTEM),
    **dict.fromkeys(("numpy", "pandas", "scipy", "yaml", "bs4", "lxml", "dateutil", "pytz", "pydantic", "attr"),
                    "only Python's standard library is available"),
}


# The names of `_thread` that programs and later imports use. `threading` has already imported the others it needs.
_THREAD = {"LockType", "RLock", "TIMEOUT_MAX", "_local", "allocate_lock", "error", "exit", "get_ident", "get_native_id", "lock",
           "start_new_thread"}


class _Fence:
    """Refuses imports by name, before other finders see them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        text = _REFUSED.get(name) or _REFUSED.get(name.partition(".")[0])
        if text:
            raise ModuleNotFoundError(f"No module named '{name}': {text}", name=name)
        return None


def _close(globals):
    for name in [*sys.modules]:
        if name in _REFUSED or name.partition(".")[0] in _REFUSED:
            if name in ("marshal", "gc", "_testinternalcapi"):
                for attribute in [*vars(sys.modules[name])]:
                    if not attribute.startswith("__"):
                        delattr(sys.modules[name], attribute)
            del sys.modules[name]
    sys.meta_path.insert(0, _Fence)
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()
    for name in ("settrace", "setprofile", "_current_frames", "_current_exceptions", "addaudithook", "setrecursionlimit",
                 "_clear_type_cache", "activate_stack_trampoline", "remote_exec"):
        if hasattr(sys, name):
            setattr(sys, name, _refuse("sys." + name, SYSTEM))
    sys.executable = ""
    for name in [*vars(_thread)]:
        if not name.startswith("__") and name not in _THREAD:
            delattr(_thread, name)


def _input(prompt=""):
    raise EOFError("input() is not available in run; put the value in the code")


for _name in ("fork", "forkpty", "popen", "execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe",
              "spawnl", "spawnle", "spawnlp", "spawnv", "spawnve", "spawnvp", "system"):
    setattr(os, _name, _refuse("os." + _name, PROCESSES))
import _thread

builtins.input = _input
builtins.open = io.open = io.open_code = _refuse("open", FILES)
import _io

import glob

glob.glob = glob.iglob = _refuse("glob", FILES)
_io.open = _io.open_code = builtins.open
builtins.breakpoint = _refuse("breakpoint", SYSTEM)
builtins.exit = builtins.quit = lambda code=None: sys.exit(code)
_close(globals())


_seed = random.Random.seed


def seed(self, a=None, version=2):
    # The state of the interpreter's seed source was copied by the fork: siblings would draw the same numbers.
    _seed(self, int.from_bytes(_random(32)) if a is None else a, version)


random.Random.seed = seed
random.seed = random._inst.seed


def _begin():
    """Gives a child a different random state from its siblings."""
    random.seed()


def _finish(value):
    """Returns the final value. Runs a coroutine that was not awaited."""
    if asyncio.iscoroutine(value) or isinstance(value, Later):
        return _drive(_coroutine(value))
    return value


def _end():
    """Waits for threads, as Python does at exit."""
    if threading.active_count() > 1:
        threading._shutdown()
