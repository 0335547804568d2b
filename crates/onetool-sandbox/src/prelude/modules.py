# The modules that most programs use are imported once, in the zygote; those that asyncio only mentions are stand-ins
# meanwhile. What is not here is imported when a program asks for it: a module that is kept warm takes memory for good,
# decimal with what it needs 3 MB, urllib.parse 1.6 MB, statistics, uuid and pprint half a megabyte each.


class _Stand(types.ModuleType):
    """A module that has every attribute, and none that works."""

    __all__ = ()
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (Exception if name.endswith(("Error", "error", "Expired", "timeout")) else object,), {})
        setattr(self, name, made)
        return made


_STANDS = ("socket", "subprocess", "ssl", "selectors", "select", "fcntl",
           "asyncio.selector_events", "asyncio.base_subprocess", "asyncio.sslproto", "asyncio.trsock")
for _name in _STANDS:
    sys.modules[_name] = _Stand(_name)
for _name in ("_socket", "_signal", "_posixsubprocess"):
    sys.modules[_name] = None

# `signal` is asked for its handlers, so it gets some.
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
