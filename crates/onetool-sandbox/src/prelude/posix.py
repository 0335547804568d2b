# A stand-in for `posix`, so that the real `os` can be imported: paths work, and system calls are refused.
import sys
import types

FILES = "files are not accessible from run; use the file pack: file.read(path=…)"
NETWORK = "the network is not accessible from run; call a tool instead, such as web.fetch(url=…)"
PROCESSES = "processes cannot be started from run; call a tool instead"
SYSTEM = "the system is not accessible from run"


def _refuse(name, text, kind=PermissionError):
    def refused(*args, **kwargs):
        raise kind(f"{name}: {text}")

    refused.__name__ = refused.__qualname__ = name
    return refused


_FILE_CALLS = """access chdir chmod chown chroot close closerange copy_file_range dup dup2 fchdir fchmod fchown fdatasync
fdopen fpathconf fstat fstatvfs fsync ftruncate getcwd getcwdb getxattr lchown link listdir listxattr lockf lseek lstat
mkdir mkfifo mknod open openpty pathconf pipe pipe2 posix_fadvise posix_fallocate pread preadv pwrite pwritev read readlink
readv remove removexattr rename replace rmdir scandir sendfile setxattr splice stat statvfs symlink sync truncate ttyname
umask unlink utime write writev isatty get_blocking set_blocking get_inheritable set_inheritable memfd_create""".split()
_PROCESS_CALLS = """abort execv execve kill killpg nice posix_spawn posix_spawnp system wait wait3 wait4 waitid waitpid
_exit getpgid getpgrp getpriority getsid setpgid setpriority setsid pidfd_open sched_setaffinity unshare setns""".split()
_SYSTEM_CALLS = """ctermid getegid geteuid getgid getgroups getloadavg getlogin getresgid getresuid getuid initgroups
putenv unsetenv setegid seteuid setgid setuid sysconf confstr times uname get_terminal_size""".split()


class DirEntry:
    def __init__(self, *args, **kwargs):
        raise TypeError("cannot create 'posix.DirEntry' instances")


class stat_result(tuple):
    pass


class terminal_size(tuple):
    columns = property(lambda self: self[0])
    lines = property(lambda self: self[1])


def _fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    try:
        found = type(path).__fspath__(path)
    except AttributeError:
        kind = type(path).__name__
        raise TypeError(f"expected str, bytes or os.PathLike object, not {kind}") from None
    if not isinstance(found, (str, bytes)):
        raise TypeError(f"expected {type(path).__name__}.__fspath__() to return str or bytes")
    return found


_posix = types.ModuleType("posix", "A stand-in for the operating system.")
for _names, _text in ((_FILE_CALLS, FILES), (_PROCESS_CALLS, PROCESSES), (_SYSTEM_CALLS, SYSTEM)):
    for _name in _names:
        setattr(_posix, _name, _refuse("os." + _name, _text))
for _name, _value in {
    "F_OK": 0, "R_OK": 4, "W_OK": 2, "X_OK": 1, "O_RDONLY": 0, "O_WRONLY": 1, "O_RDWR": 2, "O_CREAT": 64, "O_EXCL": 128,
    "O_TRUNC": 512, "O_APPEND": 1024, "O_NONBLOCK": 2048, "O_CLOEXEC": 524288, "O_NOFOLLOW": 131072, "O_DIRECTORY": 65536,
    "EX_OK": 0, "WNOHANG": 1, "P_NOWAIT": 1, "SEEK_DATA": 3, "SEEK_HOLE": 4, "TMP_MAX": 238328,
}.items():
    setattr(_posix, _name, _value)
_posix.environ = {}
_posix.fspath = _fspath
_posix.urandom = lambda size, /: _random(size)
_posix.getrandom = lambda size, flags=0: _random(size)
_posix.getpid = lambda: 1
_posix.getppid = lambda: 0
_posix.cpu_count = lambda: 4
_posix.strerror = lambda code, /: f"error {code}"
_posix.error = OSError
_posix.DirEntry, _posix.stat_result, _posix.terminal_size = DirEntry, stat_result, terminal_size
_posix._have_functions = []
for _name in ("WIFEXITED", "WEXITSTATUS", "WIFSIGNALED", "WTERMSIG", "WIFSTOPPED", "WSTOPSIG", "waitstatus_to_exitcode"):
    setattr(_posix, _name, _refuse("os." + _name, PROCESSES))

sys.modules["posix"] = _posix
sys.builtin_module_names = (*sys.builtin_module_names, "posix")
import os

os.get_terminal_size = lambda *args: os.terminal_size((80, 24))


class _Output:
    """Standard output and error, sent to the gateway as text."""

    encoding, errors, newlines, mode, line_buffering, closed = "utf-8", "strict", None, "w", True, False

    def __init__(self, name):
        self.name = name

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        _print(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    close = flush

    def isatty(self):
        return False

    def writable(self):
        return True

    def readable(self):
        return False

    def fileno(self):
        raise OSError("standard output has no file descriptor in run")

    def reconfigure(self, **options):
        pass

    @property
    def buffer(self):
        return _Bytes()


class _Bytes:
    def write(self, data):
        _print(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def flush(self):
        pass


class _Input:
    name, encoding, closed = "<stdin>", "utf-8", False

    def isatty(self):
        return False

    def _refuse(self, *args):
        raise EOFError("standard input is not available in run; put the value in the code")

    read = readline = readlines = __iter__ = _refuse


sys.stdout = sys.__stdout__ = _Output("<stdout>")
sys.stderr = sys.__stderr__ = _Output("<stderr>")
sys.stdin = sys.__stdin__ = _Input()
