//! A console without an interpreter: one call with literals per line, in Python's spelling.

use onetool_core::JsonObject;
use serde_json::{Number, Value};

/// One call.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: JsonObject,
}

/// Reads every call of the code; comments and empty lines are skipped.
pub(crate) fn parse(code: &str) -> Result<Vec<Call>, String> {
    let mut reader = Reader { rest: code, whole: code };
    let mut calls = Vec::new();
    loop {
        reader.skip();
        if reader.rest.is_empty() {
            return Ok(calls);
        }
        calls.push(reader.call()?);
    }
}

struct Reader<'a> {
    rest: &'a str,
    whole: &'a str,
}

impl Reader<'_> {
    fn fail<T>(&self, wanted: &str) -> Result<T, String> {
        let line = self.whole[..self.whole.len() - self.rest.len()].lines().count().max(1);
        let here: String = self.rest.chars().take(20).collect();
        Err(format!("SyntaxError: line {line}: expected {wanted} at {here:?}"))
    }

    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest),
                None => return,
            }
        }
    }

    fn take(&mut self, text: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Result<String, String> {
        self.skip();
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        if end == 0 {
            return self.fail("a name");
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word.to_owned())
    }

    fn call(&mut self) -> Result<Call, String> {
        let name = self.word()?;
        if !self.take("(") {
            return self.fail("'('");
        }
        let mut args = JsonObject::new();
        while !self.take(")") {
            if self.take("**") {
                let Value::Object(more) = self.value()? else { return self.fail("a dict after '**'") };
                args.extend(more);
            } else {
                let key = self.word()?;
                if !self.take("=") {
                    return self.fail("'='");
                }
                args.insert(key, self.value()?);
            }
            if !self.take(",") && !self.rest.trim_start().starts_with(')') {
                return self.fail("',' or ')'");
            }
        }
        Ok(Call { name, args })
    }

    fn value(&mut self) -> Result<Value, String> {
        self.skip();
        match self.rest.chars().next() {
            Some('"') => self.string().map(Value::String),
            Some('[') => self.list(),
            Some('{') => self.dict(),
            Some('-' | '0'..='9') => self.number(),
            _ => match self.word()?.as_str() {
                "True" => Ok(Value::Bool(true)),
                "False" => Ok(Value::Bool(false)),
                "None" => Ok(Value::Null),
                other => self.fail(&format!("a literal instead of {other}")),
            },
        }
    }

    /// A double-quoted Python string without prefix is a JSON string where the page writes it.
    fn string(&mut self) -> Result<String, String> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        let Some(Ok(text)) = values.next() else { return self.fail("a string") };
        let read = values.byte_offset();
        self.rest = &self.rest[read..];
        Ok(text)
    }

    fn number(&mut self) -> Result<Value, String> {
        let end =
            self.rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        let Ok(number) = serde_json::from_str::<Number>(text) else { return self.fail("a number") };
        self.rest = rest;
        Ok(Value::Number(number))
    }

    fn list(&mut self) -> Result<Value, String> {
        self.take("[");
        let mut items = Vec::new();
        while !self.take("]") {
            items.push(self.value()?);
            self.take(",");
        }
        Ok(Value::Array(items))
    }

    fn dict(&mut self) -> Result<Value, String> {
        self.take("{");
        let mut items = JsonObject::new();
        while !self.take("}") {
            let key = self.string()?;
            if !self.take(":") {
                return self.fail("':'");
            }
            items.insert(key, self.value()?);
            self.take(",");
            self.skip();
        }
        Ok(Value::Object(items))
    }
}
