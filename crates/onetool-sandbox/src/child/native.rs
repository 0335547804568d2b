//! Native functions for the prelude.

use std::time::Duration;

use rustpython_vm::builtins::{PyDictRef, PyListRef, PyTupleRef};
use rustpython_vm::function::OptionalArg;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};
use serde_json::Value;

use super::channel::{Reply, channel};
use super::values::{Converter, to_python};
use crate::HostReply;

/// Maximum size of converted arguments. Programs reach the limit of a frame first.
const MAX_ARGUMENTS: usize = 1 << 30;

/// Adds the functions to the prelude's globals.
pub(super) fn install(vm: &VirtualMachine, globals: &PyDictRef) -> PyResult<()> {
    globals.set_item("_call", vm.new_function("call", call).into(), vm)?;
    globals.set_item("_send", vm.new_function("send", send).into(), vm)?;
    globals.set_item("_answers", vm.new_function("answers", replies).into(), vm)?;
    globals.set_item("_wake", vm.new_function("wake", wake).into(), vm)?;
    globals.set_item("_print", vm.new_function("print", print).into(), vm)?;
    globals.set_item("_random", vm.new_function("random", random).into(), vm)?;
    Ok(())
}

/// Calls the host and waits. Returns `(True, value, extra)` or `(False, kind, message)`.
fn call(
    name: String,
    args: PyListRef,
    kwargs: PyDictRef,
    simplify: PyObjectRef,
    vm: &VirtualMachine,
) -> PyResult {
    let id = send_call(name, &args, kwargs, &simplify, false, vm)?;
    let reply = vm.allow_threads(|| channel().reply(id));
    Ok(reply_to_python(vm, reply)?.into())
}

/// Sends a call whose result goes to the event loop, and returns its id.
fn send(
    name: String,
    args: PyListRef,
    kwargs: PyDictRef,
    simplify: PyObjectRef,
    vm: &VirtualMachine,
) -> PyResult<u64> {
    send_call(name, &args, kwargs, &simplify, true, vm)
}

fn send_call(
    name: String,
    args: &PyListRef,
    kwargs: PyDictRef,
    simplify: &PyObjectRef,
    is_awaited: bool,
    vm: &VirtualMachine,
) -> PyResult<u64> {
    let mut converter = Converter::new(vm, simplify, MAX_ARGUMENTS);
    let args: Vec<PyObjectRef> = args.borrow_vec().to_vec();
    let args = args.iter().map(|it| converter.convert(it)).collect::<PyResult<Vec<Value>>>()?;
    let Value::Object(kwargs) = converter.convert(kwargs.as_object())? else {
        return Err(vm.new_type_error("keyword arguments must be a dict"));
    };
    let error = format!("the arguments of {name} are too large");
    let sent = vm.allow_threads(|| channel().call(name, args, kwargs, is_awaited));
    sent.ok_or_else(|| vm.new_value_error(error))
}

/// Waits for results. Returns a list of `(id, result)`, with results as [`call`] returns them.
fn replies(timeout: OptionalArg<Option<f64>>, vm: &VirtualMachine) -> PyResult {
    let timeout = timeout
        .flatten()
        .map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::from_hours(24)));
    let replies = vm.allow_threads(|| channel().replies(timeout));
    let replies = replies
        .into_iter()
        .map(|(id, reply)| {
            let id = vm.ctx.new_int(id).into();
            Ok(vm.ctx.new_tuple(vec![id, reply_to_python(vm, reply)?.into()]).into())
        })
        .collect::<PyResult<Vec<PyObjectRef>>>()?;
    Ok(vm.ctx.new_list(replies).into())
}

fn reply_to_python(vm: &VirtualMachine, reply: Reply) -> PyResult<PyTupleRef> {
    let parts = match reply {
        Ok(HostReply { value, extra }) => {
            let extra = serde_json::to_value(extra).unwrap_or_default();
            vec![vm.ctx.new_bool(true).into(), to_python(vm, value)?, to_python(vm, extra)?]
        }
        Err(error) => vec![
            vm.ctx.new_bool(false).into(),
            vm.ctx.new_str(error.kind).into(),
            vm.ctx.new_str(error.message).into(),
        ],
    };
    Ok(vm.ctx.new_tuple(parts))
}

/// Wakes the event loop from another thread.
fn wake() {
    channel().wake();
}

/// Sends printed text.
fn print(text: PyObjectRef, vm: &VirtualMachine) -> PyResult<()> {
    let text = text.str(vm)?;
    let text = text.to_string_lossy();
    vm.allow_threads(|| channel().print(&text));
    Ok(())
}

/// Returns random bytes from the system.
fn random(length: usize, vm: &VirtualMachine) -> PyResult {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(error) => return Err(vm.new_runtime_error(format!("cannot get random bytes: {error}"))),
        }
    }
    Ok(vm.ctx.new_bytes(bytes).into())
}
