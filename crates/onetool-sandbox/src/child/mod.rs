//! The child's side of a run: receives the program, prepares its source, runs it and reports the result.

mod channel;
mod errors;
mod lockdown;
mod native;
mod source;
mod values;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustpython::InterpreterBuilderExt as _;
use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef};
use rustpython_vm::compiler::Mode;
use rustpython_vm::function::{FuncArgs, KwArgs};
use rustpython_vm::scope::Scope;
use rustpython_vm::{
    AsObject as _, Interpreter, InterpreterBuilder, PyObjectRef, PyResult, Settings, VirtualMachine,
};

use self::source::Prepared;
use self::values::Converter;
use crate::wire::{self, Done, FromChild, ToChild};
use crate::{Input, LimitKind, NameKind};
use onetool_cage::process::exit_immediately;

/// The Python part of the child, in load order.
const PRELUDE: &[(&str, &str)] = &[
    ("onetool/posix.py", include_str!("../prelude/posix.py")),
    ("onetool/modules.py", include_str!("../prelude/modules.py")),
    ("onetool/tools.py", include_str!("../prelude/tools.py")),
    ("onetool/loop.py", include_str!("../prelude/loop.py")),
    ("onetool/lockdown.py", include_str!("../prelude/lockdown.py")),
];

/// The program of [`rehearse`]. It uses no names that the host would be asked about, and prints nothing.
const REHEARSAL: &str = include_str!("../prelude/rehearsal.py");

/// Space in the last frame in addition to the result.
const DONE_MARGIN: usize = 256;

/// How long to wait for a program before rehearsing: about the time that a client needs between a result and its next
/// program.
const REHEARSAL_DELAY: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// The globals of the prelude, which a child uses.
pub(crate) struct Prelude {
    globals: PyDictRef,
}

/// Creates the interpreter.
pub(crate) fn warm_interpreter() -> Interpreter {
    let mut settings = Settings::default();
    settings.isolated = true;
    settings.ignore_environment = true;
    settings.import_site = false;
    settings.install_signal_handlers = false;
    settings.write_bytecode = false;
    settings.argv = vec!["main.py".to_owned()];
    InterpreterBuilder::new().settings(settings).init_stdlib().interpreter()
}

/// Loads the prelude, which imports the most used modules.
pub(crate) fn warm_prelude(vm: &VirtualMachine) -> Result<Prelude, String> {
    let load = || -> PyResult<PyDictRef> {
        let scope = vm.new_scope_with_builtins();
        native::install(vm, &scope.globals)?;
        scope.globals.set_item("__name__", vm.ctx.new_str("onetool").into(), vm)?;
        for (name, source) in PRELUDE {
            let code =
                vm.compile(source, Mode::Exec, *name).map_err(|error| error.into_pyexception(vm, None))?;
            vm.run_code_obj(code, scope.clone())?;
        }
        lockdown::apply(vm, &scope.globals)?;
        Ok(scope.globals)
    };
    load().map(|globals| Prelude { globals }).map_err(|error| {
        let mut text = String::new();
        // If the traceback cannot be formatted, the text stays empty.
        let _ = vm.write_exception(&mut text, &error);
        text
    })
}

/// Runs this process's program.
pub(crate) fn run(vm: &VirtualMachine, prelude: &Prelude, socket: OwnedFd, wake: (OwnedFd, OwnedFd)) {
    let socket = UnixStream::from(socket);
    // A rehearsal would only delay a program that is already there.
    if !arrives_soon(&socket) {
        rehearse(vm, prelude);
    }
    let Ok(ToChild::Program { source, file_name, input, max_frame, max_result }) = wire::read_frame(&socket)
    else {
        return;
    };
    let channel = channel::open(socket, wake, max_frame);
    let done = Run { vm, prelude, file_name, input, max_result }.run_guarded(&source);
    let max =
        if matches!(done, Done::Value { .. }) { max_result.saturating_add(DONE_MARGIN) } else { max_frame };
    if !channel.send_within(max, &FromChild::Done(done)) {
        channel.send(&FromChild::Done(Done::Limit(LimitKind::Result)));
    }
}

/// Returns whether a program is available, or arrives within [`REHEARSAL_DELAY`].
fn arrives_soon(socket: &UnixStream) -> bool {
    let mut watched = [PollFd::new(socket, PollFlags::IN)];
    poll(&mut watched, Some(&REHEARSAL_DELAY)).is_ok_and(|ready| ready > 0)
}

/// Runs a small typical program, so that the pages that most programs write to are already copied when one arrives.
///
/// A program cannot see any trace of it, because it gets its own `__main__`.
fn rehearse(vm: &VirtualMachine, prelude: &Prelude) {
    let rehearsal = Run {
        vm,
        prelude,
        file_name: "rehearsal.py".to_owned(),
        input: Input::Nothing,
        max_result: REHEARSAL.len(),
    };
    // Encoding the result is part of the rehearsal; it is not sent.
    let _ = wire::encode(&FromChild::Done(rehearsal.run_guarded(REHEARSAL)));
}

struct Run<'a> {
    vm: &'a VirtualMachine,
    prelude: &'a Prelude,
    file_name: String,
    input: Input,
    max_result: usize,
}

impl Run<'_> {
    fn run_guarded(&self, source: &str) -> Done {
        // The message of an interpreter panic is on stderr, where the gateway reads it.
        catch_unwind(AssertUnwindSafe(|| self.run(source))).unwrap_or_else(|_| exit_immediately(101))
    }

    fn run(&self, source: &str) -> Done {
        let prepared = match source::prepare(source) {
            Ok(prepared) => prepared,
            Err(done) => return done,
        };
        let hints = match self.bind_names(&prepared) {
            Ok(hints) => hints,
            Err(error) => return self.exception(source, &[], &error),
        };
        self.execute(&prepared).unwrap_or_else(|error| self.exception(source, &hints, &error))
    }

    fn exception(&self, source: &str, hints: &[(String, String)], error: &PyBaseExceptionRef) -> Done {
        errors::describe(self.vm, error, &errors::Source { text: source, file_name: &self.file_name }, hints)
    }

    /// Asks the host about the free names, binds those it knows, and returns the hints for the others.
    fn bind_names(&self, prepared: &Prepared) -> PyResult<Vec<(String, String)>> {
        let builtins = self.vm.builtins.dict();
        let is_input = |name: &String| matches!(&self.input, Input::Globals(it) if it.contains_key(name));
        let is_unknown = |name: &String| !is_input(name) && !builtins.contains_key(name.as_str(), self.vm);
        let names: Vec<String> = prepared.free_names.iter().filter(|it| is_unknown(it)).cloned().collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut hints = Vec::new();
        for (name, kind) in names.iter().zip(channel::channel().names(names.clone())) {
            match kind {
                NameKind::Unknown { hint } => hints.extend(hint.map(|hint| (name.clone(), hint))),
                kind => {
                    self.prelude.call(
                        self.vm,
                        "_bind",
                        vec![
                            self.vm.ctx.new_str(name.as_str()).into(),
                            self.vm.ctx.new_bool(kind == NameKind::Pack).into(),
                        ],
                    )?;
                }
            }
        }
        Ok(hints)
    }

    fn execute(&self, prepared: &Prepared) -> PyResult<Done> {
        let vm = self.vm;
        self.prelude.call(vm, "_begin", Vec::new())?;
        let mut options = vm.compile_opts();
        options.allow_top_level_await = true;
        let code = vm
            .compile_with_opts(&prepared.text, Mode::Exec, self.file_name.as_str(), options)
            .map_err(|error| error.into_pyexception(vm, None))?;
        let scope = vm.new_scope_with_main()?;
        let globals = scope.globals.clone();
        self.set_input(&globals)?;
        let result = self.execute_code(code, scope).and_then(|()| self.call_function(&globals));
        let (has_value, value) = match result {
            Ok(Some(value)) => (true, value),
            Ok(None) if prepared.has_value => (true, globals.get_item(source::RESULT, vm)?),
            Ok(None) => (false, vm.ctx.none()),
            Err(error) => match self.early_exit(&error) {
                Some(result) => result,
                None => return Err(error),
            },
        };
        let value = self.prelude.call(vm, "_finish", vec![value])?;
        self.prelude.call(vm, "_end", Vec::new())?;
        let simplify = self.prelude.get(vm, "_simplify")?;
        let mut converter = Converter::new(vm, &simplify, self.max_result);
        let value = match converter.convert(&value) {
            Err(_) if converter.is_over_budget() => return Ok(Done::Limit(LimitKind::Result)),
            converted => converted?,
        };
        let format =
            globals.get_item_opt("__format__", vm)?.filter(|it| it.class().is(vm.ctx.types.str_type));
        let format = format.map(|it| it.str(vm).map(|it| it.to_string_lossy().into_owned())).transpose()?;
        let sanitize =
            globals.get_item_opt("__sanitize__", vm)?.map_or(Ok(false), |it| it.try_to_bool(vm))?;
        Ok(Done::Value { has_value, value, format, sanitize })
    }

    /// Sets the globals for the program's input.
    fn set_input(&self, globals: &PyDictRef) -> PyResult<()> {
        let vm = self.vm;
        match &self.input {
            Input::Nothing => {}
            Input::Globals(values) => {
                for (name, value) in values {
                    globals.set_item(name.as_str(), values::to_python(vm, value.clone())?, vm)?;
                }
            }
            Input::Call { module, .. } => {
                globals.set_item("__name__", vm.ctx.new_str(module.as_str()).into(), vm)?;
            }
        }
        Ok(())
    }

    /// Calls the function named in the input, if there is one.
    fn call_function(&self, globals: &PyDictRef) -> PyResult<Option<PyObjectRef>> {
        let vm = self.vm;
        let Input::Call { function, arguments, .. } = &self.input else { return Ok(None) };
        let arguments = arguments
            .iter()
            .map(|(name, value)| Ok((name.clone(), values::to_python(vm, value.clone())?)))
            .collect::<PyResult<KwArgs>>()?;
        let function = globals.get_item(function.as_str(), vm)?;
        function.call(FuncArgs::new(Vec::new(), arguments), vm).map(Some)
    }

    fn execute_code(
        &self,
        code: rustpython_vm::PyRef<rustpython_vm::builtins::PyCode>,
        scope: Scope,
    ) -> PyResult<()> {
        let vm = self.vm;
        let returned = vm.run_code_obj(code, scope)?;
        if returned.class().is(vm.ctx.types.coroutine_type) {
            self.prelude.call(vm, "_drive", vec![returned])?;
        }
        Ok(())
    }

    /// Returns the result if the exception is a top-level `return` or a successful `exit()`.
    fn early_exit(&self, error: &PyBaseExceptionRef) -> Option<(bool, PyObjectRef)> {
        let vm = self.vm;
        if error.class().name().to_string() == "_Return" {
            return Some((true, error.get_arg(0).unwrap_or_else(|| vm.ctx.none())));
        }
        if error.fast_isinstance(vm.ctx.exceptions.system_exit) {
            let code = error.get_arg(0).unwrap_or_else(|| vm.ctx.none());
            let is_success = vm.is_none(&code) || code.str(vm).is_ok_and(|code| code.as_bytes() == b"0");
            return is_success.then(|| (false, vm.ctx.none()));
        }
        None
    }
}

impl Prelude {
    fn get(&self, vm: &VirtualMachine, name: &str) -> PyResult {
        self.globals.get_item(name, vm)
    }

    fn call(&self, vm: &VirtualMachine, name: &str, arguments: Vec<PyObjectRef>) -> PyResult {
        self.get(vm, name)?.call(arguments, vm)
    }
}
