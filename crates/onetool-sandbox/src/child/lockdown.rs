//! Removes the ways to create bytecode by hand. This cannot be done in Python, so the prelude does not.
//!
//! The interpreter trusts its compiler, so bytecode from elsewhere can crash it. The cage contains a crash; this is a
//! second line of defense.

use std::collections::HashSet;

use rustpython_vm::builtins::PyDictRef;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

/// Modules that the prelude modifies. A fresh copy would not have the modifications.
const MODIFIED: [&str; 2] = ["_imp", "_thread"];

/// Applies the lockdown. `prelude` contains the names of the refused modules.
pub(super) fn apply(vm: &VirtualMachine, prelude: &PyDictRef) -> PyResult<()> {
    lock_code_objects(vm);
    lock_builtin_modules(vm, prelude)
}

/// Makes the compiler the only source of code objects.
fn lock_code_objects(vm: &VirtualMachine) {
    let code = vm.ctx.types.code_type;
    code.slots.new.store(None);
    for name in ["replace", "__replace__"] {
        let refuse = |_: FuncArgs, vm: &VirtualMachine| -> PyResult {
            Err(vm.new_type_error("code objects cannot be created in run"))
        };
        code.set_attr(vm.ctx.intern_str(name), vm.new_function("replace", refuse).into());
    }
}

/// Prevents code from bypassing the import system to create refused built-in modules.
fn lock_builtin_modules(vm: &VirtualMachine, prelude: &PyDictRef) -> PyResult<()> {
    let names = prelude.get_item("_REFUSED", vm)?;
    let names: Vec<String> = vm.extract_elements_with(names.as_ref(), |name| text(vm, &name))?;
    let mut refused: HashSet<String> = names.into_iter().collect();
    refused.extend(MODIFIED.map(ToOwned::to_owned));
    let namespace = vm.import("types", 0)?.get_attr("SimpleNamespace", vm)?;
    let imp = vm.import("_imp", 0)?;
    let create = imp.get_attr("create_builtin", vm)?;
    let guarded = move |spec: PyObjectRef, vm: &VirtualMachine| -> PyResult {
        let name = text(vm, &spec.get_attr("name", vm)?)?;
        if refused.contains(&name) {
            let message = format!("module '{name}' cannot be created in run");
            return Err(vm.new_import_error(message, vm.ctx.new_str(name)));
        }
        // A new spec, because the name of the code's spec could change between two reads.
        let spec = namespace.call((), vm)?;
        spec.set_attr("name", vm.ctx.new_str(name), vm)?;
        create.call((spec,), vm)
    };
    imp.set_attr("create_builtin", vm.new_function("create_builtin", guarded), vm)
}

fn text(vm: &VirtualMachine, object: &PyObjectRef) -> PyResult<String> {
    Ok(object.str(vm)?.to_string_lossy().into_owned())
}
