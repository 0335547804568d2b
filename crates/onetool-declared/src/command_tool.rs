//! A tool made from a command line: an argv list, never a shell string.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use onetool_config::{Redactor, Secret};
use onetool_core::{
    BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec, parse_bounded_json,
};
use onetool_proxy::{ChildContext, ProcessTree, TreeCommand, describe_exit, find_program};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::template::{Place, Template, TemplateError};
use crate::options::CommandOptions;

const MAX_OUTPUT: u64 = 10 * 1024 * 1024;
const MAX_STDERR_SHOWN: usize = 2000;

pub(super) struct CommandTool {
    spec: ToolSpec,
    program: String,
    arguments: Vec<Template>,
    stdin: Option<Template>,
    own_environment: Vec<(String, Secret)>,
    context: ChildContext,
    directory: PathBuf,
    timeout: Option<Duration>,
    redactor: Redactor,
}

impl CommandTool {
    pub(super) fn new(
        spec: ToolSpec,
        config: &CommandOptions,
        timeout: Option<Duration>,
        context: ChildContext,
        redactor: Redactor,
    ) -> Result<Self, TemplateError> {
        let Some((program, arguments)) = config.argv.split_first() else {
            return Err(TemplateError::Invalid { reason: "the command is empty".into() });
        };
        let template = |source: &String| Template::new(source, Place::Plain);
        Ok(Self {
            program: program.clone(),
            arguments: arguments.iter().map(template).collect::<Result<_, _>>()?,
            stdin: config.stdin.as_ref().map(template).transpose()?,
            own_environment: config.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            directory: config.cwd.clone(),
            spec,
            context,
            timeout,
            redactor,
        })
    }

    async fn run(&self, args: &JsonObject) -> Result<ToolOutput, ToolError> {
        let failed = |error: TemplateError| ToolError::failed(error.to_string());
        let mut arguments = Vec::new();
        for template in &self.arguments {
            arguments.extend(template.render_if_given(args).map_err(failed)?);
        }
        let stdin = self.stdin.as_ref().map(|it| it.render(args)).transpose().map_err(failed)?;
        let mut running = self.start(arguments, stdin.is_some()).map_err(ToolError::failed)?;
        let (status, stdout, stderr) = communicate(&mut running, stdin).await?;
        if status.success() {
            return Ok(output(&stdout));
        }
        let details = String::from_utf8_lossy(if stderr.is_empty() { &stdout } else { &stderr });
        let details: String = details.trim().chars().take(MAX_STDERR_SHOWN).collect();
        let colon = if details.is_empty() { "" } else { ": " };
        let text = format!("'{}' {}{colon}{details}", self.program, describe_exit(status));
        Ok(ToolOutput::error(self.redactor.scrub(&text)))
    }

    /// Starts the program. It and everything it started ends when the returned value is dropped, or when this process
    /// ends.
    fn start(&self, arguments: Vec<String>, has_stdin: bool) -> Result<ProcessTree, String> {
        let own = self.own_environment.iter().map(|(name, value)| (name, value.expose()));
        let environment = self.context.environment.with_own(own);
        // Without a PATH, look in the directories of the system's programs.
        let path = environment.get(OsStr::new("PATH")).map_or(OsStr::new("/usr/bin:/bin"), |path| path);
        let program = find_program(&self.program, Some(path), Some(&self.directory))?;
        let start = || -> io::Result<ProcessTree> {
            let mut tree = TreeCommand::new(&program, self.context.guard.as_ref())?;
            tree.command()
                .args(arguments)
                .current_dir(&self.directory)
                .env_clear()
                .envs(&environment)
                .stdin(if has_stdin { Stdio::piped() } else { Stdio::null() })
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            tree.spawn()
        };
        start().map_err(|error| format!("cannot start '{}': {error}", self.program))
    }
}

fn output(stdout: &[u8]) -> ToolOutput {
    match parse_bounded_json(stdout) {
        Some(value @ (Value::Object(_) | Value::Array(_))) => ToolOutput::structured(value),
        // The final line break is only for terminals.
        _ => ToolOutput::text(String::from_utf8_lossy(stdout.strip_suffix(b"\n").unwrap_or(stdout))),
    }
}

/// Writes the program's input and reads its output until it ends.
async fn communicate(
    running: &mut ProcessTree,
    text: Option<String>,
) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), ToolError> {
    let (stdin, stdout, stderr) = running.take_streams();
    let feed = async {
        if let (Some(mut stdin), Some(text)) = (stdin, text) {
            // A program may end without reading all of its input.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
    };
    let ((), stdout, stderr) = tokio::join!(feed, read_limited(stdout), read_limited(stderr));
    let (stdout, stderr) = (stdout?, stderr?);
    let status = running.wait().await;
    let status =
        status.map_err(|error| ToolError::failed(format!("cannot wait for the command: {error}")))?;
    Ok((status, stdout, stderr))
}

async fn read_limited(stream: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    let Some(stream) = stream else { return Ok(bytes) };
    let read = stream.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).await;
    read.map_err(|error| ToolError::failed(format!("cannot read from the command: {error}")))?;
    if bytes.len() as u64 > MAX_OUTPUT {
        return Err(ToolError::failed(format!("the command wrote more than {MAX_OUTPUT} bytes")));
    }
    Ok(bytes)
}

impl Tool for CommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Some(limit) = self.timeout else { return self.run(&args).await };
            let over = || {
                format!("'{}' did not finish within {} s and was killed", self.program, limit.as_secs_f64())
            };
            tokio::time::timeout(limit, self.run(&args))
                .await
                .unwrap_or_else(|_| Err(ToolError::failed(over())))
        })
    }
}
