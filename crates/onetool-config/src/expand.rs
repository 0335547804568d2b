//! `${NAME}` and `${NAME:-default}` inside values.

use indexmap::IndexMap;

use crate::error::ConfigError;
use crate::tree::{Kind, Location, Node, join_key};

/// The values of variables, and which of them were used.
pub(crate) struct Variables<'a> {
    secrets: IndexMap<String, String>,
    env: &'a dyn Fn(&str) -> Option<String>,
    from_env: Vec<String>,
    /// Whether an unset variable without a default stays `${NAME}` instead of being an error.
    keeps_unset: bool,
}

impl<'a> Variables<'a> {
    pub(crate) fn new(secrets: IndexMap<String, String>, env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { secrets, env, from_env: Vec::new(), keeps_unset: false }
    }

    /// Leaves unset variables without a default as written.
    pub(crate) fn keep_unset(self) -> Self {
        Self { keeps_unset: true, ..self }
    }

    /// Returns every value that must not be shown.
    pub(crate) fn into_values(self) -> impl Iterator<Item = String> {
        self.secrets.into_values().chain(self.from_env)
    }

    fn get(&mut self, name: &str) -> Option<String> {
        if let Some(value) = self.secrets.get(name) {
            return Some(value.clone());
        }
        let value = (self.env)(name)?;
        self.from_env.push(value.clone());
        Some(value)
    }

    /// Expands every value of the tree. Keys and structure do not change: an expanded value is still a scalar.
    pub(crate) fn expand(&mut self, node: &mut Node, path: &str) -> Result<(), ConfigError> {
        match &mut node.kind {
            Kind::Scalar(scalar) if scalar.text.contains("${") => {
                scalar.text = self.expand_text(&scalar.text, path, &node.at)?;
                scalar.is_expanded = true;
                Ok(())
            }
            Kind::Scalar(_) => Ok(()),
            Kind::Seq(items) => (items.iter_mut().enumerate())
                .try_for_each(|(index, item)| self.expand(item, &format!("{path}[{index}]"))),
            Kind::Map(entries) => (entries.iter_mut())
                .try_for_each(|(key, entry)| self.expand(&mut entry.value, &join_key(path, key))),
        }
    }

    fn expand_text(&mut self, text: &str, path: &str, at: &Location) -> Result<String, ConfigError> {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, variable) = rest.split_at(start);
            if let Some(before) = before.strip_suffix('$') {
                expanded.push_str(before);
                expanded.push_str("${");
                rest = &variable[2..];
                continue;
            }
            expanded.push_str(before);
            let malformed = || ConfigError::Syntax {
                message: format!("'{path}' contains a '${{' that is not ${{NAME}} or ${{NAME:-default}}"),
                hint: Some("write $${ for a literal ${".to_owned()),
                at: at.clone(),
            };
            let (variable, after) = variable[2..].split_once('}').ok_or_else(malformed)?;
            let (name, default) = match variable.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (variable, None),
            };
            if !is_name(name) || default.is_some_and(|it| it.contains("${")) {
                return Err(malformed());
            }
            // As in a shell, the default after `:-` also replaces an empty value.
            let value = self.get(name).filter(|it| default.is_none() || !it.is_empty());
            match value.or_else(|| default.map(str::to_owned)) {
                Some(value) => expanded.push_str(&value),
                None if self.keeps_unset => expanded.extend(["${", name, "}"]),
                None => {
                    let (name, key) = (name.to_owned(), path.to_owned());
                    return Err(ConfigError::Variable { name, key, at: at.clone() });
                }
            }
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
