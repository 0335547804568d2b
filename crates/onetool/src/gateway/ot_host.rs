//! Implements the functions of the `ot` pack that need the gateway.

use std::sync::Arc;

use onetool_core::{BoxFuture, CallContext, error_chain};
use serde_json::{Value, json};

use super::{Inner, Requester, SourceReport, SourceState};
use crate::notify::{self, Notified, NotifyError};
use crate::ot::{FailedPack, OtContext, OtHost, Reloaded, ServerState, StatsError, StatsQuery};
use crate::stats_file;
use onetool_core::PackError;
use onetool_run::shortcuts::Shortcuts;
use onetool_server::catalog::Source;
use onetool_store::Store as _;
use onetool_store::results::{QueryError, ResultPage, ResultQuery};
use onetool_store::stats;

/// Creates a snapshot of the gateway's state for the functions of the pack.
pub(super) fn context(inner: &Arc<Inner>) -> OtContext {
    let catalog = inner.server.catalog();
    let shortcuts = Shortcuts::of(&catalog).clone();
    let reports = inner.sources.reports();
    let store = inner.store.health();
    let broken = inner.broken_packs().into_iter().map(failed_pack);
    OtContext {
        config: inner.config(),
        aliases: shortcuts.aliases,
        snippets: shortcuts.snippets,
        servers: reports
            .iter()
            .filter(|it| matches!(it.source, Source::Proxy(_)))
            .map(server_state)
            .collect(),
        failed_packs: broken.chain(reports.iter().filter_map(failed_source)).collect(),
        storage_problem: store.problem,
        storage_size: store.size_bytes,
        version: inner.server.version(),
        python: onetool_run::LANGUAGE_VERSION.to_owned(),
        cwd: inner.options.directory.clone(),
        finder: inner.finder.clone(),
        host: Arc::new(Host(inner.clone())),
        catalog,
    }
}

fn failed_pack(error: PackError) -> FailedPack {
    FailedPack { name: error.name.clone(), reason: error.to_string() }
}

fn server_state(report: &SourceReport) -> ServerState {
    ServerState {
        name: report.name.clone(),
        connected: report.state == SourceState::Connected,
        reason: report.reason().map(str::to_owned),
        enabled: report.state != SourceState::Disabled,
    }
}

/// Returns a source whose pack is missing: an API that could not be loaded, or a source whose name is taken.
fn failed_source(report: &SourceReport) -> Option<FailedPack> {
    let is_api = matches!(report.source, Source::OpenApi(_));
    let reason = if is_api { report.reason() } else { report.conflict.as_deref() };
    reason.map(|reason| FailedPack { name: report.name.clone(), reason: reason.to_owned() })
}

struct Host(Arc<Inner>);

impl OtHost for Host {
    fn reload(&self) -> BoxFuture<'_, Result<Reloaded, String>> {
        Box::pin(async {
            let load = self.0.options.load.clone().ok_or("this server has no configuration file")?;
            let config = tokio::task::spawn_blocking(move || load()).await;
            let config = config.map_err(|error| error.to_string())??;
            let report = self.0.reload(config, Requester::Agent).map_err(|error| {
                let place = error.location().map_or_else(String::new, |at| format!("{at}: "));
                format!("{place}{}", error_chain(&error))
            })?;
            Ok(Reloaded {
                on_restart: report.on_restart,
                waiting: report.waiting,
                operator_reload: self.0.options.operator_reload.clone(),
            })
        })
    }

    fn stats<'a>(
        &'a self,
        query: StatsQuery,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<Value, StatsError>> {
        Box::pin(async move {
            let report =
                self.0.stats.report(query.period, query.tool.as_deref()).await.map_err(
                    |error| match error {
                        stats::StatsError::Disabled => StatsError::Off,
                        other => StatsError::Read { reason: other.to_string() },
                    },
                )?;
            let mut response = json!(report);
            if let Some(path) = query.output {
                let html = stats::html(&report, &self.0.config().http.title);
                let (root, own) = (self.0.options.directory.clone(), self.0.own_files.clone());
                let written = tokio::task::spawn_blocking({
                    let path = path.clone();
                    move || stats_file::write_report(&root, &path, &html, &own.resolve())
                });
                let failed = |reason: String| StatsError::Write { path: path.clone(), reason };
                let file = written.await.map_err(|error| failed(error.to_string()))?;
                let file = file.map_err(|error| failed(error.reason()))?;
                response["html_report"] = json!(file.display().to_string());
            }
            Ok(response)
        })
    }

    fn result<'a>(
        &'a self,
        query: ResultQuery,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ResultPage, QueryError>> {
        Box::pin(self.0.results.query(cx.caller(), query))
    }

    fn load<'a>(&'a self, handle: String, cx: &'a CallContext) -> BoxFuture<'a, Result<Value, QueryError>> {
        Box::pin(async move { self.0.results.load(cx.caller(), &handle.into()).await })
    }

    fn notify(&self, topic: String, message: String) -> BoxFuture<'_, Result<Notified, NotifyError>> {
        let (config, now, own) = (self.0.config(), self.0.clock.now(), self.0.own_files.clone());
        Box::pin(async move {
            let append = move || notify::append(&config.notify.topics, &topic, &message, now, &own.resolve());
            let written = tokio::task::spawn_blocking(append).await;
            written.unwrap_or_else(|error| {
                Err(NotifyError::Append {
                    path: std::path::PathBuf::new(),
                    source: std::io::Error::other(error),
                })
            })
        })
    }
}
