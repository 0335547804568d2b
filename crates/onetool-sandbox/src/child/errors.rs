//! Descriptions of uncaught exceptions for the author of the code.

use std::fmt::Write as _;

use rustpython_vm::builtins::PyBaseExceptionRef;
use rustpython_vm::{AsObject as _, VirtualMachine};

use crate::wire::Done;

/// The program's source.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) file_name: &'a str,
}

/// A traceback entry: a line of the program that was being executed.
struct Location {
    line: u32,
    function: String,
}

/// Describes an exception, with a traceback that contains only the program's own lines.
pub(super) fn describe(
    vm: &VirtualMachine,
    error: &PyBaseExceptionRef,
    source: &Source<'_>,
    hints: &[(String, String)],
) -> Done {
    let kind = error.class().name().to_string();
    if error.fast_isinstance(vm.ctx.exceptions.syntax_error)
        && let Some(done) = syntax_error(vm, error, source)
    {
        return done;
    }
    let message = message(vm, error, hints);
    let locations = locations(error, source);
    let mut traceback = String::new();
    if !locations.is_empty() {
        traceback.push_str("Traceback (most recent call last):\n");
    }
    for Location { line, function } in &locations {
        // Writing to a String cannot fail.
        let _ = writeln!(traceback, "  File \"{}\", line {line}, in {function}", source.file_name);
        if let Some(text) = source.text.lines().nth(*line as usize - 1) {
            let _ = writeln!(traceback, "    {}", text.trim());
        }
    }
    let _ = match message.as_str() {
        "" => write!(traceback, "{kind}"),
        message => write!(traceback, "{kind}: {message}"),
    };
    Done::Exception { kind, message, line: locations.last().map(|location| location.line), traceback }
}

/// Describes a syntax error in the program itself, as opposed to one in code that the program compiled.
fn syntax_error(vm: &VirtualMachine, error: &PyBaseExceptionRef, source: &Source<'_>) -> Option<Done> {
    let get = |name: &'static str| error.as_object().get_attr(name, vm).ok();
    let number = |name| get(name)?.try_to_value::<u32>(vm).ok();
    let file_name = get("filename")?.str(vm).ok()?;
    if error.traceback().is_some() || file_name.to_string_lossy() != source.file_name {
        return None;
    }
    let line = number("lineno")?;
    let message = get("msg")?.str(vm).ok()?.to_string_lossy().into_owned();
    let text = source.text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default();
    Some(Done::Syntax { message, line, column: number("offset").unwrap_or(1), text: text.to_owned() })
}

fn message(vm: &VirtualMachine, error: &PyBaseExceptionRef, hints: &[(String, String)]) -> String {
    let message = error.as_object().str(vm).map(|text| text.to_string_lossy().into_owned());
    let message = message.unwrap_or_else(|_| "cannot format the message of the exception".to_owned());
    if error.fast_isinstance(vm.ctx.exceptions.memory_error) && message.is_empty() {
        return "the code exceeded the memory limit of a run".to_owned();
    }
    if error.fast_isinstance(vm.ctx.exceptions.name_error) {
        let hint = hints.iter().find(|(name, _)| message.contains(&format!("'{name}'")));
        if let Some((_, hint)) = hint {
            return format!("{message}. {hint}");
        }
    }
    message
}

fn locations(error: &PyBaseExceptionRef, source: &Source<'_>) -> Vec<Location> {
    let mut locations = Vec::new();
    let entries = std::iter::successors(error.traceback(), |entry| entry.next.lock().clone());
    for entry in entries {
        let code = entry.frame.f_code();
        if code.source_path().as_str() == source.file_name {
            let line = u32::try_from(entry.lineno.get()).unwrap_or(u32::MAX);
            locations.push(Location { line, function: code.obj_name.as_str().to_owned() });
        }
    }
    locations
}
