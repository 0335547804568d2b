//! An exception that the code did not catch, as its author can use it.

use std::fmt::Write as _;

use rustpython_vm::builtins::PyBaseExceptionRef;
use rustpython_vm::{AsObject as _, VirtualMachine};

use crate::wire::Done;

/// The text that the code was made from.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) file_name: &'a str,
}

/// A line of the program that was being run.
struct Place {
    line: u32,
    function: String,
}

/// Describes an exception with the program's own lines.
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
    let places = places(error, source);
    let mut traceback = String::new();
    if !places.is_empty() {
        traceback.push_str("Traceback (most recent call last):\n");
    }
    for place in &places {
        let Place { line, function } = place;
        // Writing to a string does not fail.
        let _ = writeln!(traceback, "  File \"{}\", line {line}, in {function}", source.file_name);
        if let Some(text) = source.text.lines().nth(*line as usize - 1) {
            let _ = writeln!(traceback, "    {}", text.trim());
        }
    }
    let _ = match message.as_str() {
        "" => write!(traceback, "{kind}"),
        message => write!(traceback, "{kind}: {message}"),
    };
    Done::Exception { kind, message, line: places.last().map(|place| place.line), traceback }
}

/// A compiler's complaint about the program itself, not about something it tried to compile.
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
    let message = message.unwrap_or_else(|_| "the exception's text cannot be made".to_owned());
    if error.fast_isinstance(vm.ctx.exceptions.memory_error) && message.is_empty() {
        return "the code needed more memory than a run may use".to_owned();
    }
    if error.fast_isinstance(vm.ctx.exceptions.name_error) {
        let hint = hints.iter().find(|(name, _)| message.contains(&format!("'{name}'")));
        if let Some((_, hint)) = hint {
            return format!("{message}. {hint}");
        }
    }
    message
}

fn places(error: &PyBaseExceptionRef, source: &Source<'_>) -> Vec<Place> {
    let mut places = Vec::new();
    let entries = std::iter::successors(error.traceback(), |entry| entry.next.lock().clone());
    for entry in entries {
        let code = entry.frame.f_code();
        if code.source_path().as_str() == source.file_name {
            let line = u32::try_from(entry.lineno.get()).unwrap_or(u32::MAX);
            places.push(Place { line, function: code.obj_name.as_str().to_owned() });
        }
    }
    places
}
