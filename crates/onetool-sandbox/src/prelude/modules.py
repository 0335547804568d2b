# Imports the most used modules once, in the zygote. Modules that asyncio imports but programs cannot use are replaced by
# stand-ins for that time. Other modules are imported on demand, because a preloaded module permanently takes memory:
# decimal and its dependencies 3 MB, urllib.parse 1.6 MB, statistics, uuid and pprint half a megabyte each.


class _Stand(types.ModuleType):
    """A module that has every attribute, as an empty class."""

    __all__ = ()
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        stub = type(name, (Exception if name.endswith(("Error", "error", "Expired", "timeout")) else object,), {})
        setattr(self, name, stub)
        return stub


_STANDS = ("socket", "subprocess", "ssl", "selectors", "select", "fcntl",
           "asyncio.selector_events", "asyncio.base_subprocess", "asyncio.sslproto", "asyncio.trsock")
for _name in _STANDS:
    sys.modules[_name] = _Stand(_name)
for _name in ("_socket", "_signal", "_posixsubprocess"):
    sys.modules[_name] = None

# asyncio uses the handlers of `signal`, so its stand-in has some.
_signal_module = _Stand("signal")
_signal_module.getsignal = lambda number: None
_signal_module.signal = _refuse("signal.signal", "signals cannot be handled in run", ValueError)
_signal_module.default_int_handler = object()
for _number, _name in enumerate(("SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT"), 1):
    setattr(_signal_module, _name, _number)
for _number, _name in {9: "SIGKILL", 14: "SIGALRM", 15: "SIGTERM"}.items():
    setattr(_signal_module, _name, _number)
sys.modules["signal"] = _signal_module

import asyncio
import base64
import bisect
import collections
import concurrent.futures
import contextlib
import contextvars
import copy
import csv
import dataclasses
import datetime
import enum
import functools
import hashlib
import heapq
import inspect
import io
import itertools
import json
import math
import operator
import random
import re
import string
import textwrap
import threading
import time
import traceback
import typing
import concurrent.futures.thread

time.localtime()
time.strftime("%Y")
datetime.datetime.strptime("2020-01-02", "%Y-%m-%d")
re.compile(r"(\w+)\s*=\s*(\d+)").match("a = 1")
json.loads(json.dumps({"a": [1, 2.5, None, "x"]}))
