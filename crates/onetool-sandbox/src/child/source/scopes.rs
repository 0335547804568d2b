//! Finds the names that a program uses without binding them first.

use std::collections::{BTreeSet, HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    AnyParameterRef, Comprehension, ExceptHandler, Expr, ExprContext, Identifier, ModModule, Parameters,
    Pattern, Stmt, TypeParam,
};
use ruff_text_size::{Ranged as _, TextSize};

/// Returns the names that the host may have to provide, sorted.
///
/// Excludes local names of functions, and names that the module binds before their first use. The program may still bind
/// the others: the host's objects are builtins, so the program's own names take precedence.
pub(super) fn free_names(module: &ModModule) -> Vec<String> {
    let mut finder = Finder { functions: Vec::new(), bound: HashMap::new(), loads: Vec::new() };
    finder.visit_body(&module.body);
    let free = finder.loads.iter().filter(|(name, at)| finder.bound.get(name).is_none_or(|bound| bound > at));
    free.map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

struct Finder<'a> {
    /// Local names of the functions around the current position.
    functions: Vec<HashSet<&'a str>>,
    /// Where the module first binds each name.
    bound: HashMap<&'a str, TextSize>,
    loads: Vec<(&'a str, TextSize)>,
}

impl<'a> Finder<'a> {
    fn load(&mut self, name: &'a str, at: TextSize) {
        if !self.functions.iter().any(|names| names.contains(name)) {
            self.loads.push((name, at));
        }
    }

    fn bind_in_module(&mut self, name: &'a str, at: TextSize) {
        if self.functions.is_empty() {
            let first = self.bound.entry(name).or_insert(at);
            *first = at.min(*first);
        }
    }

    fn function(&mut self, parameters: Option<&'a Parameters>, body: Body<'a>) {
        let mut names = Bindings::default();
        for parameter in parameters.into_iter().flat_map(Parameters::iter) {
            names.bound.insert(parameter.name().as_str());
        }
        match body {
            Body::Statements(body) => names.visit_body(body),
            Body::Expression(body) => names.visit_expr(body),
        }
        let bound = names.bound.difference(&names.outer).copied().collect();
        self.functions.push(bound);
        match body {
            Body::Statements(body) => self.visit_body(body),
            Body::Expression(body) => self.visit_expr(body),
        }
        self.functions.pop();
    }

    fn comprehension(&mut self, generators: &'a [Comprehension], parts: &[&'a Expr]) {
        let mut names = Bindings::default();
        for generator in generators {
            names.visit_expr(&generator.target);
        }
        self.functions.push(names.bound);
        for generator in generators {
            self.visit_comprehension(generator);
        }
        for part in parts {
            self.visit_expr(part);
        }
        self.functions.pop();
    }
}

#[derive(Clone, Copy)]
enum Body<'a> {
    Statements(&'a [Stmt]),
    Expression(&'a Expr),
}

impl<'a> Visitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => {
                it.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                it.parameters.iter().filter_map(AnyParameterRef::default).for_each(|it| self.visit_expr(it));
                self.bind_in_module(it.name.as_str(), it.start());
                self.function(Some(&it.parameters), Body::Statements(&it.body));
                return;
            }
            Stmt::ClassDef(it) => {
                it.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                it.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.bind_in_module(it.name.as_str(), it.start());
                self.function(None, Body::Statements(&it.body));
                return;
            }
            _ => {}
        }
        let mut names = Bindings::default();
        if self.functions.is_empty() {
            names.visit_single(stmt);
            names.bound.iter().for_each(|name| self.bind_in_module(name, Bindings::position(stmt)));
        }
        visitor::walk_stmt(self, stmt);
    }

    // Annotations are not evaluated.
    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) if it.ctx == ExprContext::Load => self.load(it.id.as_str(), it.start()),
            Expr::Lambda(it) => {
                let parameters = it.parameters.as_deref();
                let defaults =
                    parameters.into_iter().flat_map(Parameters::iter).filter_map(AnyParameterRef::default);
                defaults.for_each(|it| self.visit_expr(it));
                self.function(parameters, Body::Expression(&it.body));
            }
            Expr::ListComp(it) => self.comprehension(&it.generators, &[&*it.elt]),
            Expr::SetComp(it) => self.comprehension(&it.generators, &[&*it.elt]),
            Expr::Generator(it) => self.comprehension(&it.generators, &[&*it.elt]),
            Expr::DictComp(it) => {
                let parts: Vec<&Expr> = it.key.as_deref().into_iter().chain([&*it.value]).collect();
                self.comprehension(&it.generators, &parts);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// Collects the names that statements bind in their own scope.
#[derive(Default)]
struct Bindings<'a> {
    bound: HashSet<&'a str>,
    /// Names declared `global` or `nonlocal`.
    outer: HashSet<&'a str>,
    skips_bodies: bool,
}

impl<'a> Bindings<'a> {
    /// Collects the names that a statement binds, without those of the statements inside it.
    fn visit_single(&mut self, stmt: &'a Stmt) {
        self.skips_bodies = true;
        self.visit_stmt(stmt);
    }

    /// Returns where a statement binds its names: in its header for a block, at its end for any other statement.
    fn position(stmt: &Stmt) -> TextSize {
        match stmt {
            Stmt::For(it) => it.iter.end(),
            Stmt::With(it) => it.items.last().map_or(it.end(), |item| item.context_expr.end()),
            Stmt::While(it) => it.test.end(),
            Stmt::If(it) => it.test.end(),
            Stmt::Try(_) | Stmt::Match(_) => stmt.start(),
            _ => stmt.end(),
        }
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        if !self.skips_bodies {
            visitor::walk_body(self, body);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => {
                self.bound.insert(it.name.as_str());
                return;
            }
            Stmt::ClassDef(it) => {
                self.bound.insert(it.name.as_str());
                return;
            }
            Stmt::Import(it) => self.bound.extend(it.names.iter().map(|alias| match &alias.asname {
                Some(name) => name.as_str(),
                None => alias.name.as_str().split('.').next().unwrap_or_default(),
            })),
            Stmt::ImportFrom(it) => {
                let names =
                    it.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                self.bound.extend(names);
            }
            Stmt::Global(it) => self.outer.extend(it.names.iter().map(Identifier::as_str)),
            Stmt::Nonlocal(it) => self.outer.extend(it.names.iter().map(Identifier::as_str)),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) if it.ctx == ExprContext::Store => {
                self.bound.insert(it.id.as_str());
            }
            // Their targets are local. Only `:=` binds in the enclosing scope, which takes precedence over builtins anyway.
            Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_)
            | Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(it) = handler;
        self.bound.extend(it.name.as_ref().map(Identifier::as_str));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchAs(it) => self.bound.extend(it.name.as_ref().map(Identifier::as_str)),
            Pattern::MatchStar(it) => self.bound.extend(it.name.as_ref().map(Identifier::as_str)),
            Pattern::MatchMapping(it) => self.bound.extend(it.rest.as_ref().map(Identifier::as_str)),
            _ => {}
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_type_param(&mut self, _: &'a TypeParam) {}
}
