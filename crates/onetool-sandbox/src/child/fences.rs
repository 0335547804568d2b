//! What the prelude's Python cannot take away: ways to make bytecode by hand.
//!
//! The interpreter trusts its compiler, so code that it did not compile may crash it. The cage holds then, too; this is
//! the second fence.

use std::collections::HashSet;

use rustpython_vm::builtins::PyDictRef;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

/// Modules that were changed when they were warmed: a second, fresh one would undo that.
const CHANGED: [&str; 2] = ["_imp", "_thread"];

/// Takes the ways away. `prelude` has the names of the modules that are refused.
pub(super) fn close(vm: &VirtualMachine, prelude: &PyDictRef) -> PyResult<()> {
    close_code_objects(vm);
    close_builtin_modules(vm, prelude)
}

/// Code objects come from the compiler only.
fn close_code_objects(vm: &VirtualMachine) {
    let code = vm.ctx.types.code_type;
    code.slots.new.store(None);
    for name in ["replace", "__replace__"] {
        let refuse = |_: FuncArgs, vm: &VirtualMachine| -> PyResult {
            Err(vm.new_type_error("code objects cannot be made by hand in run"))
        };
        code.set_attr(vm.ctx.intern_str(name), vm.new_function("replace", refuse).into());
    }
}

/// Modules of the interpreter that are refused cannot be made anew behind the import system's back.
fn close_builtin_modules(vm: &VirtualMachine, prelude: &PyDictRef) -> PyResult<()> {
    let names = prelude.get_item("_REFUSED", vm)?;
    let names: Vec<String> = vm.extract_elements_with(names.as_ref(), |name| text(vm, &name))?;
    let mut refused: HashSet<String> = names.into_iter().collect();
    refused.extend(CHANGED.map(ToOwned::to_owned));
    let namespace = vm.import("types", 0)?.get_attr("SimpleNamespace", vm)?;
    let imp = vm.import("_imp", 0)?;
    let create = imp.get_attr("create_builtin", vm)?;
    let guarded = move |spec: PyObjectRef, vm: &VirtualMachine| -> PyResult {
        let name = text(vm, &spec.get_attr("name", vm)?)?;
        if refused.contains(&name) {
            let message = format!("module '{name}' cannot be made in run");
            return Err(vm.new_import_error(message, vm.ctx.new_str(name)));
        }
        // A spec of our own: the code's may have another name when it is asked again.
        let spec = namespace.call((), vm)?;
        spec.set_attr("name", vm.ctx.new_str(name), vm)?;
        create.call((spec,), vm)
    };
    imp.set_attr("create_builtin", vm.new_function("create_builtin", guarded), vm)
}

fn text(vm: &VirtualMachine, object: &PyObjectRef) -> PyResult<String> {
    Ok(object.str(vm)?.to_string_lossy().into_owned())
}
