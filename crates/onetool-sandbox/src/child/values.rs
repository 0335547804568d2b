//! Conversion between Python objects and JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustpython_vm::builtins::{PyByteArray, PyBytes, PyDictRef, PyFloat, PyInt, PyList, PyStr, PyTuple};
use rustpython_vm::{AsObject as _, PyObject, PyObjectRef, PyResult, VirtualMachine};
use serde_json::{Map, Number, Value};

use crate::session::MAX_DEPTH;

/// Converts Python values to JSON, within a size limit.
pub(super) struct Converter<'a> {
    vm: &'a VirtualMachine,
    /// The prelude's function that converts a value without a JSON equivalent to a simpler one.
    simplify: &'a PyObject,
    /// The ids of the containers around the current value, to detect one that contains itself.
    path: Vec<usize>,
    /// The approximate number of bytes left. Without a limit, shared objects could expand exponentially.
    budget: usize,
    is_over_budget: bool,
}

impl<'a> Converter<'a> {
    pub(super) fn new(vm: &'a VirtualMachine, simplify: &'a PyObject, budget: usize) -> Self {
        Self { vm, simplify, path: Vec::new(), budget, is_over_budget: false }
    }

    /// Returns whether the last conversion failed because the value is too large.
    pub(super) fn is_over_budget(&self) -> bool {
        self.is_over_budget
    }

    /// Converts a value.
    pub(super) fn convert(&mut self, object: &PyObject) -> PyResult<Value> {
        let vm = self.vm;
        self.spend(1)?;
        if vm.is_none(object) {
            return Ok(Value::Null);
        }
        if object.is(&vm.ctx.true_value) {
            return Ok(Value::Bool(true));
        }
        if object.is(&vm.ctx.false_value) {
            return Ok(Value::Bool(false));
        }
        let class = object.class();
        let is_exactly = |class: &PyObject| class.is(object.class());
        if is_exactly(vm.ctx.types.str_type.as_object()) {
            let text = object.downcast_ref::<PyStr>().map(|text| text.to_string_lossy().into_owned());
            let text = text.unwrap_or_default();
            self.spend(text.len())?;
            return Ok(Value::String(text));
        }
        if is_exactly(vm.ctx.types.int_type.as_object()) {
            return Ok(object.downcast_ref::<PyInt>().map_or(Value::Null, |it| integer(it)));
        }
        if is_exactly(vm.ctx.types.float_type.as_object()) {
            let number = object.downcast_ref::<PyFloat>().map(rustpython_vm::Py::to_f64);
            return Ok(number.and_then(Number::from_f64).map_or(Value::Null, Value::Number));
        }
        if let Some(bytes) = object.downcast_ref::<PyBytes>() {
            return self.bytes(bytes.as_bytes());
        }
        if let Some(bytes) = object.downcast_ref::<PyByteArray>() {
            return self.bytes(&bytes.borrow_buf());
        }
        if object.fast_isinstance(vm.ctx.types.dict_type) {
            let members: Option<PyDictRef> = object.to_owned().downcast().ok();
            return self.inside(object, |it| it.dict(members));
        }
        if object.fast_isinstance(vm.ctx.types.list_type) {
            let items = object.downcast_ref::<PyList>().map(|list| list.borrow_vec().to_vec());
            return self.inside(object, |it| it.items(&items.unwrap_or_default()));
        }
        if object.fast_isinstance(vm.ctx.types.tuple_type) && class.is(vm.ctx.types.tuple_type) {
            let items = object.downcast_ref::<PyTuple>().map(|tuple| tuple.as_slice().to_vec());
            return self.inside(object, |it| it.items(&items.unwrap_or_default()));
        }
        self.inside(object, |it| {
            let simpler = it.simplify.call((object.to_owned(),), it.vm)?;
            it.convert(&simpler)
        })
    }

    /// Runs `convert` for a container. Fails if the container contains itself or is nested too deeply.
    fn inside(
        &mut self,
        container: &PyObject,
        convert: impl FnOnce(&mut Self) -> PyResult<Value>,
    ) -> PyResult<Value> {
        let id = container.get_id();
        if self.path.contains(&id) {
            return Err(self.vm.new_value_error("the value contains itself"));
        }
        if self.path.len() >= MAX_DEPTH {
            let message = format!("the value is nested more than {MAX_DEPTH} levels deep");
            return Err(self.vm.new_value_error(message));
        }
        self.path.push(id);
        let converted = convert(self);
        self.path.pop();
        converted
    }

    fn items(&mut self, items: &[PyObjectRef]) -> PyResult<Value> {
        items.iter().map(|item| self.convert(item)).collect::<PyResult<_>>().map(Value::Array)
    }

    fn dict(&mut self, members: Option<PyDictRef>) -> PyResult<Value> {
        let mut map = Map::new();
        for (key, value) in members.into_iter().flatten() {
            let key = self.key(&key)?;
            self.spend(key.len() + 2)?;
            map.insert(key, self.convert(&value)?);
        }
        Ok(Value::Object(map))
    }

    /// Converts a key as Python's `json` module does; other objects become their `str`.
    fn key(&self, key: &PyObject) -> PyResult<String> {
        let vm = self.vm;
        if vm.is_none(key) {
            return Ok("null".to_owned());
        }
        if key.is(&vm.ctx.true_value) {
            return Ok("true".to_owned());
        }
        if key.is(&vm.ctx.false_value) {
            return Ok("false".to_owned());
        }
        Ok(key.str(vm)?.to_string_lossy().into_owned())
    }

    fn bytes(&mut self, bytes: &[u8]) -> PyResult<Value> {
        self.spend(bytes.len())?;
        let text = std::str::from_utf8(bytes).map_or_else(|_| STANDARD.encode(bytes), ToOwned::to_owned);
        Ok(Value::String(text))
    }

    fn spend(&mut self, bytes: usize) -> PyResult<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => self.budget = left,
            None => {
                self.is_over_budget = true;
                return Err(self.vm.new_value_error("the value is too large"));
            }
        }
        Ok(())
    }
}

/// Converts an integer. One that does not fit in 64 bits becomes a string, because JSON readers would round it.
fn integer(number: &PyInt) -> Value {
    let number = number.as_bigint();
    i64::try_from(number)
        .map(Value::from)
        .or_else(|_| u64::try_from(number).map(Value::from))
        .unwrap_or_else(|_| Value::String(number.to_string()))
}

/// Converts JSON to a Python value.
pub(super) fn to_python(vm: &VirtualMachine, value: Value) -> PyResult {
    Ok(match value {
        Value::Null => vm.ctx.none(),
        Value::Bool(it) => vm.ctx.new_bool(it).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => vm.ctx.new_int(number).into(),
            (None, Some(number)) => vm.ctx.new_int(number).into(),
            (None, None) => vm.ctx.new_float(number.as_f64().unwrap_or(f64::NAN)).into(),
        },
        Value::String(text) => vm.ctx.new_str(text).into(),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| to_python(vm, item)).collect::<PyResult<Vec<_>>>()?;
            vm.ctx.new_list(items).into()
        }
        Value::Object(members) => {
            let dict = vm.ctx.new_dict();
            for (key, value) in members {
                dict.set_item(key.as_str(), to_python(vm, value)?, vm)?;
            }
            dict.into()
        }
    })
}
