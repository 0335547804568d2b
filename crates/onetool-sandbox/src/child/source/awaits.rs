//! Defers calls whose value is awaited: passed to `await`, `gather` and the like.
//!
//! A tool call blocks. If its value is only ever awaited, the call is edited to return an awaitable instead, so that
//! several calls can run concurrently. All other calls keep blocking, and awaiting their values is harmless: a case that
//! is missed here is slower, but never wrong.

use std::collections::{BTreeMap, HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, Expr, ExprCall, ExprContext, ModModule, Parameters, Stmt};
use ruff_text_size::{Ranged as _, TextSize};

use super::Edits;

/// Functions that await their arguments, as names or as attributes of any object.
const AWAITING: &[&str] =
    &["gather", "create_task", "ensure_future", "wait_for", "as_completed", "shield", "run_until_complete"];
/// Functions that await their arguments, as attributes of `asyncio` only.
const AWAITING_IN_ASYNCIO: &[&str] = &["run", "wait"];
/// Functions and methods that return the elements of their arguments.
const PASS_THROUGH: &[&str] =
    &["list", "tuple", "set", "reversed", "enumerate", "zip", "values", "items", "copy"];

/// Defers calls that are awaited, and makes every `await` accept plain values.
pub(super) fn make_awaitable(module: &ModModule, edits: &mut Edits) {
    let mut finder = Finder { scopes: vec![Scope::default()], ..Finder::default() };
    finder.visit_body(&module.body);
    if finder.awaits.is_empty()
        && finder.scopes.iter().all(|scope| scope.awaited.is_empty())
        && finder.deferred.is_empty()
    {
        return;
    }
    finder.trace_awaited_names();
    for (start, end) in &finder.awaits {
        edits.wrap(*start, "__ot_await__(", *end, ")");
    }
    for (start, end) in &finder.deferred {
        edits.wrap(*start, "__ot_later__(", *end, ")");
    }
}

#[derive(Default)]
struct Finder<'a> {
    scopes: Vec<Scope<'a>>,
    current: usize,
    functions: HashMap<&'a str, (usize, &'a Parameters)>,
    /// Calls by name, with the scope of the caller. The function may be defined in the program.
    calls: Vec<(usize, &'a ExprCall)>,
    /// Ranges of the operands of `await`.
    awaits: BTreeMap<TextSize, TextSize>,
    /// Ranges of the callees of deferred calls.
    deferred: BTreeMap<TextSize, TextSize>,
}

/// How the names of a function, or of the module, are used.
#[derive(Default)]
struct Scope<'a> {
    awaited: HashSet<&'a str>,
    plain: HashSet<&'a str>,
    /// The values assigned to a name or to its elements.
    sources: HashMap<&'a str, Vec<&'a Expr>>,
    /// Loop variables, and the name that the loop iterates over.
    loops: Vec<(Vec<&'a str>, &'a str)>,
}

impl<'a> Finder<'a> {
    fn scope(&mut self) -> &mut Scope<'a> {
        &mut self.scopes[self.current]
    }

    /// Visits an expression whose value is awaited.
    fn visit_awaited(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) => {
                self.scope().awaited.insert(it.id.as_str());
            }
            Expr::Starred(it) => self.visit_awaited(&it.value),
            Expr::Named(it) => self.visit_awaited(&it.value),
            Expr::List(it) => it.elts.iter().for_each(|it| self.visit_awaited(it)),
            Expr::Tuple(it) => it.elts.iter().for_each(|it| self.visit_awaited(it)),
            Expr::Set(it) => it.elts.iter().for_each(|it| self.visit_awaited(it)),
            Expr::If(it) => {
                self.visit_expr(&it.test);
                self.visit_awaited(&it.body);
                self.visit_awaited(&it.orelse);
            }
            Expr::ListComp(it) => self.visit_awaited_comprehension(&it.generators, &it.elt),
            Expr::SetComp(it) => self.visit_awaited_comprehension(&it.generators, &it.elt),
            Expr::Generator(it) => self.visit_awaited_comprehension(&it.generators, &it.elt),
            Expr::Subscript(it) if it.value.is_name_expr() => {
                self.visit_awaited(&it.value);
                self.visit_expr(&it.slice);
            }
            Expr::Call(it) if is_awaiting(&it.func) => self.visit_expr(expr),
            Expr::Call(it) if is_pass_through(&it.func) => {
                if let Expr::Attribute(method) = &*it.func {
                    self.visit_awaited(&method.value);
                }
                it.arguments.args.iter().for_each(|it| self.visit_awaited(it));
            }
            Expr::Call(it) => {
                self.defer(it);
                self.visit_expr(expr);
            }
            _ => self.visit_expr(expr),
        }
    }

    fn visit_awaited_comprehension(&mut self, generators: &'a [Comprehension], element: &'a Expr) {
        for generator in generators {
            self.visit_comprehension(generator);
        }
        self.visit_awaited(element);
    }

    /// Marks a call as deferred.
    fn defer(&mut self, call: &'a ExprCall) {
        let is_asyncio = matches!(&*call.func, Expr::Attribute(it) if is_name(&it.value, "asyncio"));
        if !is_asyncio {
            self.deferred.insert(call.func.start(), call.func.end());
        }
    }

    /// Records an assignment.
    fn assign(&mut self, target: &'a Expr, value: &'a Expr) {
        match (target, value) {
            (Expr::Name(name), _) => self.add_source(name.id.as_str(), value),
            (Expr::Subscript(it), _) => {
                if let Expr::Name(name) = &*it.value {
                    self.add_source(name.id.as_str(), value);
                }
            }
            (Expr::Tuple(targets), Expr::Tuple(values)) if targets.elts.len() == values.elts.len() => {
                targets.elts.iter().zip(&values.elts).for_each(|(target, value)| self.assign(target, value));
            }
            _ => {}
        }
    }

    fn add_source(&mut self, name: &'a str, value: &'a Expr) {
        self.scope().sources.entry(name).or_default().push(value);
    }

    /// Visits the header of a loop.
    fn visit_loop(&mut self, target: &'a Expr, iterable: &'a Expr) {
        let mut names = Vec::new();
        collect_names(target, &mut names);
        if let Some(name) = iterated_name(iterable) {
            self.scope().loops.push((names, name));
        } else {
            for name in names {
                self.add_source(name, iterable);
            }
            self.visit_expr(iterable);
        }
    }

    /// Traces awaited names back to the calls that their values come from, and defers these.
    fn trace_awaited_names(&mut self) {
        let mut has_changed = true;
        let mut done: HashSet<(usize, &str)> = HashSet::new();
        while std::mem::take(&mut has_changed) {
            for index in 0..self.scopes.len() {
                let scope = &mut self.scopes[index];
                for (names, iterated) in &scope.loops {
                    let is_awaited = names.iter().any(|name| scope.awaited.contains(name));
                    let uses = if is_awaited { &mut scope.awaited } else { &mut scope.plain };
                    has_changed |= uses.insert(iterated) && is_awaited;
                }
                let mut sources = Vec::new();
                for name in scope.awaited.difference(&scope.plain) {
                    if done.insert((index, name)) {
                        sources.extend(scope.sources.get(name).into_iter().flatten().copied());
                    }
                }
                has_changed |= !sources.is_empty();
                for expr in sources {
                    self.defer_sources(index, expr);
                }
            }
            has_changed |= self.trace_awaited_parameters();
        }
    }

    /// Traces awaited parameters back to the arguments of calls. Returns whether it deferred further calls.
    fn trace_awaited_parameters(&mut self) -> bool {
        let mut sources = Vec::new();
        for (caller, call) in &self.calls {
            let Expr::Name(name) = &*call.func else { continue };
            let Some((callee, parameters)) = self.functions.get(name.id.as_str()) else { continue };
            let scope = &self.scopes[*callee];
            let awaits = |name: &str| scope.awaited.contains(name) && !scope.plain.contains(name);
            let positional = parameters.posonlyargs.iter().chain(&parameters.args);
            for (parameter, argument) in positional.zip(&call.arguments.args) {
                if awaits(parameter.parameter.name.as_str()) {
                    sources.push((*caller, argument));
                }
            }
            for keyword in &call.arguments.keywords {
                if keyword.arg.as_ref().is_some_and(|name| awaits(name.as_str())) {
                    sources.push((*caller, &keyword.value));
                }
            }
        }
        let before = self.deferred.len();
        for (caller, argument) in sources {
            self.defer_sources(caller, argument);
        }
        self.deferred.len() > before
    }

    /// Defers the calls that an awaited value comes from, in an expression that was already visited.
    fn defer_sources(&mut self, scope: usize, expr: &'a Expr) {
        match expr {
            Expr::Name(it) => {
                self.scopes[scope].awaited.insert(it.id.as_str());
            }
            Expr::List(it) => it.elts.iter().for_each(|it| self.defer_sources(scope, it)),
            Expr::Tuple(it) => it.elts.iter().for_each(|it| self.defer_sources(scope, it)),
            Expr::Set(it) => it.elts.iter().for_each(|it| self.defer_sources(scope, it)),
            Expr::Dict(it) => it.items.iter().for_each(|it| self.defer_sources(scope, &it.value)),
            Expr::ListComp(it) => self.defer_sources(scope, &it.elt),
            Expr::SetComp(it) => self.defer_sources(scope, &it.elt),
            Expr::Generator(it) => self.defer_sources(scope, &it.elt),
            Expr::DictComp(it) => self.defer_sources(scope, &it.value),
            Expr::If(it) => {
                self.defer_sources(scope, &it.body);
                self.defer_sources(scope, &it.orelse);
            }
            Expr::Starred(it) => self.defer_sources(scope, &it.value),
            Expr::Call(it) if is_awaiting(&it.func) => {}
            Expr::Call(it) if is_pass_through(&it.func) => {
                it.arguments.args.iter().for_each(|it| self.defer_sources(scope, it));
            }
            Expr::Call(it) => self.defer(it),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => {
                it.decorator_list.iter().for_each(|it| self.visit_decorator(it));
                let outer = std::mem::replace(&mut self.current, self.scopes.len());
                self.scopes.push(Scope::default());
                self.functions.insert(it.name.as_str(), (self.current, &it.parameters));
                self.visit_parameters(&it.parameters);
                self.visit_body(&it.body);
                self.current = outer;
            }
            Stmt::Assign(it) => {
                it.targets.iter().for_each(|target| self.assign(target, &it.value));
                it.targets.iter().for_each(|target| self.visit_expr(target));
                self.visit_expr(&it.value);
            }
            Stmt::AnnAssign(it) => {
                if let Some(value) = &it.value {
                    self.assign(&it.target, value);
                    self.visit_expr(value);
                }
            }
            Stmt::AugAssign(it) => {
                self.assign(&it.target, &it.value);
                self.visit_expr(&it.value);
            }
            Stmt::For(it) => {
                self.visit_loop(&it.target, &it.iter);
                self.visit_body(&it.body);
                self.visit_body(&it.orelse);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.visit_loop(&comprehension.target, &comprehension.iter);
        comprehension.ifs.iter().for_each(|it| self.visit_expr(it));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) => {
                if it.ctx == ExprContext::Load {
                    self.scope().plain.insert(it.id.as_str());
                }
            }
            // Assigning an element does not use the container's value.
            Expr::Subscript(it) if it.ctx == ExprContext::Store && it.value.is_name_expr() => {
                self.visit_expr(&it.slice);
            }
            Expr::Await(it) => {
                self.awaits.insert(it.value.start(), it.value.end());
                self.visit_awaited(&it.value);
            }
            Expr::Call(it) if is_awaiting(&it.func) => {
                self.visit_expr(&it.func);
                it.arguments.args.iter().for_each(|it| self.visit_awaited(it));
                it.arguments.keywords.iter().for_each(|it| self.visit_awaited(&it.value));
            }
            Expr::Call(it) => {
                match &*it.func {
                    Expr::Name(name) => {
                        self.calls.push((self.current, it));
                        let is_len = name.id.as_str() == "len";
                        if is_len && it.arguments.args.iter().all(Expr::is_name_expr) {
                            return;
                        }
                        self.visit_expr(&it.func);
                    }
                    Expr::Attribute(method) => match (&*method.value, method.attr.as_str()) {
                        (Expr::Name(list), "append" | "add" | "extend") => {
                            let name = list.id.as_str();
                            it.arguments.args.iter().for_each(|value| self.add_source(name, value));
                        }
                        _ => self.visit_expr(&it.func),
                    },
                    _ => self.visit_expr(&it.func),
                }
                visitor::walk_arguments(self, &it.arguments);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

fn is_awaiting(function: &Expr) -> bool {
    match function {
        Expr::Name(it) => AWAITING.contains(&it.id.as_str()),
        Expr::Attribute(it) => {
            AWAITING.contains(&it.attr.as_str())
                || AWAITING_IN_ASYNCIO.contains(&it.attr.as_str()) && is_name(&it.value, "asyncio")
        }
        _ => false,
    }
}

fn is_pass_through(function: &Expr) -> bool {
    match function {
        Expr::Name(it) => PASS_THROUGH.contains(&it.id.as_str()),
        Expr::Attribute(it) => PASS_THROUGH.contains(&it.attr.as_str()) && it.value.is_name_expr(),
        _ => false,
    }
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Name(it) if it.id.as_str() == name)
}

/// Returns the name that a loop iterates over, if it is a single name.
fn iterated_name(iterable: &Expr) -> Option<&str> {
    match iterable {
        Expr::Name(it) => Some(it.id.as_str()),
        Expr::Call(it) if is_pass_through(&it.func) => match &*it.func {
            Expr::Attribute(method) => iterated_name(&method.value),
            _ if it.arguments.args.len() == 1 => iterated_name(&it.arguments.args[0]),
            _ => None,
        },
        _ => None,
    }
}

fn collect_names<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(it) => names.push(it.id.as_str()),
        Expr::Tuple(it) => it.elts.iter().for_each(|it| collect_names(it, names)),
        Expr::List(it) => it.elts.iter().for_each(|it| collect_names(it, names)),
        Expr::Starred(it) => collect_names(&it.value, names),
        _ => {}
    }
}
