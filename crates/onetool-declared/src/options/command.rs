//! A program to run, with templates in its arguments.

use std::fmt;
use std::path::{MAIN_SEPARATOR, PathBuf};

use indexmap::IndexMap;
use onetool_config::{ConfigError, Secret, Section, TemplateNames, is_template};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A program to run, with templates in its arguments.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct CommandOptions {
    /// The program, then its arguments, which are templates.
    pub argv: Vec<String>,
    /// Environment variables.
    pub env: IndexMap<String, Secret>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The program's standard input, a template.
    pub stdin: Option<String>,
}

/// Shows only the program, because any argument may contain a secret.
impl fmt::Debug for CommandOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandOptions").field("program", &self.argv.first()).finish_non_exhaustive()
    }
}

impl CommandOptions {
    pub(super) fn read(
        Argv(mut argv): Argv,
        cwd: Option<String>,
        env: IndexMap<String, Secret>,
        stdin: Option<String>,
        names: &TemplateNames,
        tool: &Section<'_>,
    ) -> Result<Self, ConfigError> {
        let section = tool.field("command");
        for (index, argument) in argv.iter().enumerate() {
            names.check(argument, &section.item(index))?;
        }
        match argv.first_mut() {
            None => return Err(section.invalid("the list must name a program")),
            Some(program) if program.trim().is_empty() => {
                return Err(section.invalid("the list must begin with a program"));
            }
            Some(program) if is_template(program) => {
                return Err(section.item(0).invalid("the program must not contain {{ }}"));
            }
            // A bare name is looked up in PATH; a path is relative to the file.
            Some(program) if program.contains(['/', MAIN_SEPARATOR]) => {
                *program = section.item(0).absolute_path(program).to_string_lossy().into_owned();
            }
            Some(_) => {}
        }
        if let Some(stdin) = &stdin {
            names.check(stdin, &tool.field("stdin"))?;
        }
        let cwd = tool.field("cwd").absolute_path(cwd.as_deref().unwrap_or("."));
        Ok(Self { argv, env, cwd, stdin })
    }
}

/// A command line as a list. A string would need a shell, and a shell allows injection.
pub(super) struct Argv(Vec<String>);

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Argv;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, for example [git, log]")
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Argv, E> {
                Err(E::custom("write the command as a list, for example [git, log]"))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Argv, A::Error> {
                let mut argv = Vec::new();
                while let Some(argument) = items.next_element()? {
                    argv.push(argument);
                }
                Ok(Argv(argv))
            }
        }
        deserializer.deserialize_any(List)
    }
}
