//! Limits what a reload requested by an agent may change. Everything else waits for the operator.
//!
//! This is an allowlist: a setting that is not named here keeps its old value.

use std::collections::HashSet;
use std::path::PathBuf;

use indexmap::IndexMap;
use onetool_config::PendingChanges;
use onetool_core::Policy;
use onetool_declared::{DeclaredOptions, ResourceBody, ResourceOptions, ToolBody, ToolOptions};
use onetool_run::RunOptions;
use onetool_run::shortcuts::AliasOptions;

use crate::config::{ApiConfig, Config, HttpConfig, NotifyConfig, UpstreamConfig};

/// A configuration that an agent may activate, and how it differs from the one on disk.
pub(super) struct AgentReload {
    pub(super) config: Config,
    /// The keys of the settings that wait for the operator, each with what changed.
    pub(super) waiting: Vec<String>,
}

impl AgentReload {
    /// Uses the settings of `new` that an agent may change, and those of `old` for the rest.
    pub(super) fn new(old: &Config, new: Config) -> Self {
        let mut pending = Pending::default();
        let is_new_server = |name: &&String| !old.servers.contains_key(*name);
        let is_new_api = |name: &&String| !old.apis.contains_key(*name);
        pending.names.extend(new.servers.keys().filter(is_new_server).cloned());
        pending.names.extend(new.apis.keys().filter(is_new_api).cloned());
        let (packs, new_packs) = old.packs.restrict(&new.packs, &mut pending.changes);
        pending.names.extend(new_packs.into_iter().map(str::to_owned));
        let mut config = Config {
            servers: pending.changes.entries("servers", &old.servers, new.servers, upstream),
            apis: pending.changes.entries("openapi", &old.apis, new.apis, api),
            declared: pending.declared(&old.declared, new.declared),
            pack_files: pending.pack_files(&old.pack_files, new.pack_files),
            packs,
            notify: pending.notify(&old.notify, new.notify),
            http: pending.http(&old.http, new.http),
            policy: pending.policy(&old.policy, new.policy),
            run: pending.run(&old.run, new.run),
            // Descriptions, and limits for what agents use.
            server: new.server,
            startup_wait: new.startup_wait,
            docs: new.docs,
            snippets: new.snippets,
            output: new.output,
            stats: new.stats,
            search: new.search,
            storage: new.storage,
            renames: new.renames,
            protocol: new.protocol,
            path: new.path,
            files: new.files,
            warnings: new.warnings,
            notice: new.notice,
            // The settings that keep their old values may contain old secrets.
            redactor: new.redactor.and(&old.redactor),
            aliases: IndexMap::new(),
        };
        config.aliases = pending.aliases(&old.aliases, new.aliases);
        Self { config, waiting: pending.changes.into_keys() }
    }
}

/// Collects the changes that wait for the operator.
#[derive(Default)]
struct Pending {
    changes: PendingChanges,
    /// Packs and tools that do not exist until the operator reloads, so aliases cannot refer to them.
    names: HashSet<String>,
}

impl Pending {
    fn declared(&mut self, old: &DeclaredOptions, new: DeclaredOptions) -> DeclaredOptions {
        let mut declared = DeclaredOptions::default();
        declared.tools = self.tools(&old.tools, new.tools);
        declared.resources = self.resources(&old.resources, new.resources);
        declared.prompts = new.prompts;
        declared
    }

    /// Accepts changes to Python tools, which have no privileges; new or changed requests and commands wait.
    fn tools(&mut self, old: &[ToolOptions], new: Vec<ToolOptions>) -> Vec<ToolOptions> {
        let mut accepted = Vec::new();
        for tool in new {
            if let ToolBody::Python(_) = &tool.body {
                accepted.push(tool);
                continue;
            }
            let key = format!("tools.{}", tool.name);
            let Some(known) = old.iter().find(|it| it.name == tool.name) else {
                self.changes.add(&key, "new");
                self.names.insert(tool.name);
                continue;
            };
            let mut allowed = known.clone();
            allowed.title.clone_from(&tool.title);
            allowed.description.clone_from(&tool.description);
            allowed.timeout = tool.timeout;
            allowed.at = tool.at.clone();
            if allowed != tool {
                self.changes.add(&key, "changed");
            }
            accepted.push(allowed);
        }
        accepted
    }

    /// Accepts text resources, and file resources whose file is already a resource.
    fn resources(&mut self, old: &[ResourceOptions], new: Vec<ResourceOptions>) -> Vec<ResourceOptions> {
        let file = |resource: &ResourceOptions| match &resource.body {
            ResourceBody::File { path, .. } => Some(path.clone()),
            _ => None,
        };
        let known: Vec<PathBuf> = old.iter().filter_map(file).collect();
        let (accepted, waiting): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|it| file(it).is_none_or(|path| known.contains(&path)));
        for resource in waiting {
            self.changes.add(&format!("resources.{}", resource.name), "new file");
        }
        accepted
    }

    fn pack_files(&mut self, old: &[PathBuf], new: Vec<PathBuf>) -> Vec<PathBuf> {
        let is_allowed = are_among(&new, old);
        self.changes.choose("packs.files", "new files", &old.to_vec(), new, is_allowed)
    }

    /// Accepts topics whose file a topic already uses.
    fn notify(&mut self, old: &NotifyConfig, mut new: NotifyConfig) -> NotifyConfig {
        let is_known = |file: &_| old.topics.iter().any(|it| it.file == *file);
        let (known, waiting): (Vec<_>, Vec<_>) = new.topics.into_iter().partition(|it| is_known(&it.file));
        for topic in waiting {
            self.changes.add(&format!("notify.topics '{}'", &*topic.pattern), "new file");
        }
        new.topics = known;
        new
    }

    fn http(&mut self, old: &HttpConfig, new: HttpConfig) -> HttpConfig {
        let is_execute_allowed = old.allow_execute || !new.allow_execute;
        let are_hosts_known = are_among(&new.allowed_hosts, &old.allowed_hosts);
        let are_origins_known = are_among(&new.allowed_origins, &old.allowed_origins);
        let changes = &mut self.changes;
        let mut http = old.clone();
        http.token = changes.keep("http.token", &old.token, new.token);
        http.allow_execute = changes.choose(
            "http.allow_execute",
            "on",
            &old.allow_execute,
            new.allow_execute,
            is_execute_allowed,
        );
        http.allowed_hosts = changes.choose(
            "http.allowed_hosts",
            "wider",
            &old.allowed_hosts,
            new.allowed_hosts,
            are_hosts_known,
        );
        http.allowed_origins = changes.choose(
            "http.allowed_origins",
            "wider",
            &old.allowed_origins,
            new.allowed_origins,
            are_origins_known,
        );
        // Takes effect only on a restart, which only the operator can do.
        http.listen = new.listen;
        http.title = new.title;
        http.history = new.history;
        http.max_body = new.max_body;
        http.max_connections = new.max_connections;
        http.max_connections_per_address = new.max_connections_per_address;
        http.header_timeout = new.header_timeout;
        http.body_timeout = new.body_timeout;
        http.idle_timeout = new.idle_timeout;
        http.write_timeout = new.write_timeout;
        http
    }

    /// Accepts new limits for programs; `require_cage` can only be turned on.
    fn run(&mut self, old: &RunOptions, mut new: RunOptions) -> RunOptions {
        let is_allowed = new.require_cage || !old.require_cage;
        let (old, requested) = (&old.require_cage, new.require_cage);
        new.require_cage = self.changes.choose("run.require_cage", "off", old, requested, is_allowed);
        new
    }

    /// Accepts a policy that allows nothing more than the old one.
    fn policy(&mut self, old: &Policy, new: Policy) -> Policy {
        let allows_no_more = are_among(&new.allow, &old.allow) || old.allow.iter().any(|glob| glob == "*");
        let is_allowed = allows_no_more && are_among(&old.deny, &new.deny);
        self.changes.choose("policy", "looser", old, new, is_allowed)
    }

    /// Accepts aliases, except those whose target waits and therefore does not exist yet.
    fn aliases(
        &mut self,
        old: &IndexMap<String, AliasOptions>,
        new: IndexMap<String, AliasOptions>,
    ) -> IndexMap<String, AliasOptions> {
        let waits = |alias: &AliasOptions| {
            let mut target = alias.target.as_str();
            // A chain longer than the number of aliases is a cycle, which is reported later.
            for _ in 0..=new.len() {
                let pack = target.split('.').next().unwrap_or(target);
                if self.names.contains(target) || self.names.contains(pack) {
                    return true;
                }
                match new.get(target) {
                    Some(next) => target = &next.target,
                    None => return false,
                }
            }
            false
        };
        let waiting: Vec<String> =
            new.iter().filter(|(_, it)| waits(it)).map(|(name, _)| name.clone()).collect();
        let mut accepted = new;
        for name in waiting {
            self.changes.add(&format!("aliases.{name}"), "its target waits");
            match old.get(&name) {
                Some(known) => accepted.insert(name, known.clone()),
                None => accepted.shift_remove(&name),
            };
        }
        accepted
    }
}

fn are_among<T: PartialEq>(these: &[T], those: &[T]) -> bool {
    these.iter().all(|it| those.contains(it))
}

/// Accepts changes that do not extend a server's privileges: timeouts, disabling it, marking it as untrusted.
fn upstream(old: &UpstreamConfig, new: &UpstreamConfig) -> UpstreamConfig {
    let mut allowed = old.clone();
    allowed.connection.timeout = new.connection.timeout;
    allowed.connection.connect_timeout = new.connection.connect_timeout;
    allowed.connection.enabled &= new.connection.enabled;
    allowed.is_untrusted |= new.is_untrusted;
    allowed
}

/// Accepts changes that do not extend an API's privileges.
fn api(old: &ApiConfig, new: &ApiConfig) -> ApiConfig {
    let mut allowed = old.clone();
    allowed.options.timeout = new.options.timeout;
    allowed.options.read_only |= new.options.read_only;
    allowed.options.allow_private &= new.options.allow_private;
    allowed.is_enabled &= new.is_enabled;
    allowed.is_untrusted |= new.is_untrusted;
    allowed
}
