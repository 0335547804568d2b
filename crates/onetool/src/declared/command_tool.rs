//! A tool made from a command line: an argv list, never a shell string.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use onetool_core::{BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::ChildEnvironment;
use super::template::{Place, Template, TemplateError};
use crate::config::{CommandToolConfig, Redactor, Secret};

const MAX_OUTPUT: u64 = 10 * 1024 * 1024;
const MAX_STDERR_SHOWN: usize = 2000;

pub(super) struct CommandTool {
    spec: ToolSpec,
    program: String,
    arguments: Vec<Template>,
    stdin: Option<Template>,
    own_environment: Vec<(String, Secret)>,
    inherited: ChildEnvironment,
    directory: PathBuf,
    timeout: Option<Duration>,
    redactor: Redactor,
}

impl CommandTool {
    pub(super) fn new(
        spec: ToolSpec,
        config: &CommandToolConfig,
        timeout: Option<Duration>,
        inherited: ChildEnvironment,
        redactor: Redactor,
    ) -> Result<Self, TemplateError> {
        let Some((program, arguments)) = config.argv.split_first() else {
            return Err(TemplateError::Syntax { reason: "the command is empty".into() });
        };
        let template = |source: &String| Template::new(source, Place::Plain);
        Ok(Self {
            program: program.clone(),
            arguments: arguments.iter().map(template).collect::<Result<_, _>>()?,
            stdin: config.stdin.as_ref().map(template).transpose()?,
            own_environment: config.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            directory: config.cwd.clone(),
            spec,
            inherited,
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
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.inherited.iter().map(|(name, value)| (name, value)))
            .envs(self.own_environment.iter().map(|(name, value)| (name, value.expose())))
            .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let child = command
            .spawn()
            .map_err(|error| ToolError::failed(format!("cannot start '{}': {error}", self.program)))?;
        let mut group = Group::of(child);
        let (status, stdout, stderr) = group.communicate(stdin).await?;
        if status.success() {
            return Ok(output(&stdout));
        }
        let complaint = String::from_utf8_lossy(if stderr.is_empty() { &stdout } else { &stderr });
        let complaint: String = complaint.trim().chars().take(MAX_STDERR_SHOWN).collect();
        let text = format!("'{}' ended with {status}: {complaint}", self.program);
        Ok(ToolOutput::error(self.redactor.scrub(&text)))
    }
}

fn output(stdout: &[u8]) -> ToolOutput {
    match serde_json::from_slice::<Value>(stdout) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => ToolOutput::structured(value),
        // The line break that ends a program's output is for the terminal.
        _ => ToolOutput::text(String::from_utf8_lossy(stdout.strip_suffix(b"\n").unwrap_or(stdout))),
    }
}

/// A child and everything in its process group, all of which end when this is dropped.
struct Group {
    child: Child,
    id: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Self { child, id }
    }

    async fn communicate(
        &mut self,
        stdin: Option<String>,
    ) -> Result<(std::process::ExitStatus, Vec<u8>, Vec<u8>), ToolError> {
        let (input, stdout, stderr) =
            (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let feed = async {
            if let (Some(mut input), Some(text)) = (input, stdin) {
                // A program may well end without reading all of it.
                let _ = input.write_all(text.as_bytes()).await;
            }
        };
        let ((), stdout, stderr) = tokio::join!(feed, read_limited(stdout), read_limited(stderr));
        let (stdout, stderr) = (stdout?, stderr?);
        let status = self.child.wait().await;
        let status =
            status.map_err(|error| ToolError::failed(format!("cannot wait for the command: {error}")))?;
        Ok((status, stdout, stderr))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // What has ended already cannot be killed, which is fine.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
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
            let over =
                || format!("'{}' did not end within {} s and was killed", self.program, limit.as_secs_f64());
            tokio::time::timeout(limit, self.run(&args))
                .await
                .unwrap_or_else(|_| Err(ToolError::failed(over())))
        })
    }
}
