//! Known Python sandbox escapes: each raises an error and reaches nothing.

use onetool_sandbox::{Layer, Outcome, RunError};
use serde_json::json;

use crate::support::{run, sandbox, value};

#[tokio::test]
async fn s3_run_6_3_there_is_nothing_to_reach() {
    let sandbox = sandbox();
    // Each program must raise an exception whose message contains the text.
    let refused = [
        ("open('/etc/passwd').read()", "file.read(path=…)"),
        ("open('/tmp/x', 'w')", "files are not accessible"),
        ("import io\nio.open('/etc/passwd')", "files are not accessible"),
        ("import io\nio.FileIO('/etc/passwd')", ""),
        ("import _io\n_io.open('/etc/passwd')", "files are not accessible"),
        ("import _io\n_io.FileIO(0)", ""),
        ("import pathlib\npathlib.Path('/etc/passwd').read_text()", "files are not accessible"),
        ("import os\nos.listdir('/')", "files are not accessible"),
        ("import os\nos.open('/etc/passwd', 0)", "files are not accessible"),
        ("import os\nos.getcwd()", "files are not accessible"),
        ("import os\nos.system('id')", "processes cannot be started"),
        ("import os\nos.popen('id').read()", "processes cannot be started"),
        ("import os\nos.fork()", "processes cannot be started"),
        ("import os\nos.execv('/bin/sh', ['sh'])", "processes cannot be started"),
        ("import os\nos.kill(1, 9)", "processes cannot be started"),
        ("import os\nos._exit(0)", "processes cannot be started"),
        ("import os\nos.environ['PATH']", "PATH"),
        ("import posix\nposix.open('/etc/passwd', 0)", "files are not accessible"),
        ("import subprocess", "processes cannot be started"),
        ("import multiprocessing", "processes cannot be started"),
        ("import socket", "the network is not accessible"),
        ("import _socket", "the network is not accessible"),
        ("import ssl", "the network is not accessible"),
        ("import urllib.request", "the network is not accessible"),
        ("import http.client", "the network is not accessible"),
        ("import requests", "web.fetch"),
        ("import ctypes", "the system is not accessible"),
        ("import _ctypes", "the system is not accessible"),
        ("import gc\ngc.get_objects()", "the system is not accessible"),
        ("import marshal\nmarshal.loads(b'x')", "the system is not accessible"),
        (
            "import sys\ndel sys.modules['os']\nimport sys\nsys.meta_path.clear()\nimport marshal\nmarshal.loads(b'')",
            "",
        ),
        ("import tempfile", "files are not accessible"),
        ("import shutil\nshutil.copy('/etc/passwd', '/tmp/x')", ""),
        ("import glob\nglob.glob('/*')", "files are not accessible"),
        ("import sqlite3", "files are not accessible"),
        ("import resource", "the system is not accessible"),
        ("import faulthandler", "the system is not accessible"),
        ("import _remote_debugging", "the system is not accessible"),
        ("import _interpreters", "processes cannot be started"),
        ("import fcntl", "files are not accessible"),
        ("import signal\nsignal.alarm(1)", "processes cannot be started"),
        ("input('?')", "input() is not available"),
        ("import sys\nsys.stdin.read()", "standard input is not available"),
        ("breakpoint()", ""),
        ("import importlib\nimportlib.import_module('subprocess')", "processes cannot be started"),
        ("__import__('os').system('id')", "processes cannot be started"),
        ("().__class__.__base__.__subclasses__()[0].__init__.__globals__['os'].system('id')", ""),
        ("[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0](['id'])", ""),
        (
            "[c for c in ().__class__.__base__.__subclasses__() if 'FileIO' in c.__name__][0]('/etc/passwd')",
            "",
        ),
        (
            "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'FileLoader'][0]('a', '/etc/passwd').get_data('/etc/passwd')",
            "",
        ),
        (
            "import importlib.machinery\nimportlib.machinery.SourceFileLoader('x', '/etc/passwd').load_module()",
            "",
        ),
        ("import linecache\nx = linecache.getlines('/etc/passwd')\nassert x, 'empty'", ""),
        ("import asyncio\nawait asyncio.open_connection('1.1.1.1', 80)", ""),
        ("import asyncio\nawait asyncio.create_subprocess_exec('id')", ""),
        ("import asyncio\nasyncio.base_events.subprocess.Popen(['id'])", ""),
        ("import logging\nlogging.FileHandler('/tmp/x')", ""),
        ("import zipfile\nzipfile.ZipFile('/tmp/x.zip', 'w')", ""),
        ("exec(\"import os; os.system('id')\")", "processes cannot be started"),
        ("eval(\"__import__('os').listdir('/')\")", "files are not accessible"),
        ("(lambda: 0).__globals__['__builtins__'].open('/etc/passwd')", ""),
        ("getattr(getattr(t, 'echo'), '__globals__')", ""),
        ("(lambda: 0).__code__.replace(co_code=b'')", "code objects cannot be created"),
        ("import types\ntypes.CodeType(0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', '', 0, b'', b'')", ""),
        ("import _thread\n_thread.interrupt_main()\nwhile True: pass", "interrupt_main"),
        ("import _thread\n_thread._make_thread_handle(1)", "_make_thread_handle"),
        ("import _thread\n_thread._shutdown()", "_shutdown"),
        (
            "import sys, importlib.util, importlib.machinery as m\nsys.meta_path.clear()\n\
             importlib.util.module_from_spec(m.BuiltinImporter.find_spec('marshal')).loads",
            "module 'marshal' cannot be created in run",
        ),
        (
            "import sys, importlib.machinery as m\nsys.meta_path[:] = [m.BuiltinImporter]\nimport marshal",
            "module 'marshal' cannot be created in run",
        ),
        (
            "import sys, _imp\nfrom types import SimpleNamespace as N\ndel sys.modules['_imp']\n\
             _imp.create_builtin(N(name='_imp'))",
            "module '_imp' cannot be created in run",
        ),
        (
            "import _imp\nclass N:\n    names = ['marshal', 'math']\n    name = property(lambda self: self.names.pop())\n\
             _imp.create_builtin(N()).loads",
            "loads",
        ),
    ];
    for (source, mention) in refused {
        match run(&sandbox, source).await {
            Err(RunError::Exception { kind, message, .. }) => {
                assert!(message.contains(mention), "{source}\n{kind}: {message}");
            }
            other => panic!("{source}\n{other:?}"),
        }
    }
}

#[tokio::test]
async fn s3_what_remains_contains_nothing() {
    let sandbox = sandbox();
    for (source, expected) in [
        ("import os\ndict(os.environ)", json!({})),
        ("import os\nos.path.exists('/etc/passwd')", json!(false)),
        ("import os\nos.getenv('HOME', 'none')", json!("none")),
        ("import sys\n[sys.argv, sys.path, sys.executable]", json!([["main.py"], [], ""])),
        // Attributes in format strings, frames and globals only lead to Python objects of this process.
        ("'{0.__class__.__mro__}'.format(1)", json!("(<class 'int'>, <class 'object'>)")),
        ("import sys\ntype(sys._getframe().f_back).__name__", json!("NoneType")),
        ("import os\nos.path.join('a', 'b')", json!("a/b")),
    ] {
        assert_eq!(value(&sandbox, source).await, expected, "{source}");
    }
}

/// The prelude's functions can do nothing that calling a tool cannot.
#[tokio::test]
async fn s3_the_preludes_globals_grant_no_privileges() {
    let sandbox = sandbox();
    let source = "g = type(t).__getattr__.__globals__\nsorted(k for k in g if callable(g[k]) and k.startswith('_') and k[1:2] != '_')";
    let names = value(&sandbox, source).await;
    assert!(names.as_array().unwrap().iter().any(|name| name == "_call"), "{names}");
    let source = "g = type(t).__getattr__.__globals__\ng['os'].system('id')";
    assert!(matches!(run(&sandbox, source).await, Err(RunError::Exception { .. })));
}

/// Hand-written bytecode could crash the interpreter, but only its own process.
#[tokio::test]
async fn s3_hand_made_bytecode_affects_only_its_process() {
    let sandbox = sandbox();
    for source in [
        "def f(): pass\nf.__code__ = f.__code__.replace(co_code=bytes([100, 255] * 50))\nf()",
        "import types\nc = (lambda: 0).__code__\ntypes.FunctionType(c.replace(co_consts=()), {})()",
        "def f(): return 1\nf.__code__ = f.__code__.replace(co_stacksize=0, co_code=bytes(range(256)))\nf()",
    ] {
        let outcome: Result<Outcome, RunError> = run(&sandbox, source).await;
        assert!(
            matches!(
                outcome,
                Err(RunError::Died { .. } | RunError::Exception { .. } | RunError::Limit { .. }) | Ok(_)
            ),
            "{source}"
        );
        assert_eq!(value(&sandbox, "1").await, json!(1), "after {source}");
    }
}

#[tokio::test]
async fn cage_5_the_sandbox_has_every_layer() {
    let report = sandbox().cage_report().await.unwrap();
    assert_eq!(report.gaps(), [""; 0], "{report:?}");
    assert_eq!(report.namespaces, Layer::Applied);
}
