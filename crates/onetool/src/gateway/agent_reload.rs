//! What a reload that an agent asks for may change. Everything else waits for the operator.
//!
//! The rule is a list of what is allowed: a setting that is not named here keeps its old value.

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
    /// The settings that wait, by their keys, each with what changed.
    pub(super) waiting: Vec<String>,
}

impl AgentReload {
    /// Takes from `new` what an agent may change, and everything else from `old`.
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
            // Texts, and limits of what agents use.
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
            // The settings that stay may contain the old secrets.
            redactor: new.redactor.and(&old.redactor),
            aliases: IndexMap::new(),
        };
        config.aliases = pending.aliases(&old.aliases, new.aliases);
        Self { config, waiting: pending.changes.into_keys() }
    }
}

/// Collects what waits.
#[derive(Default)]
struct Pending {
    changes: PendingChanges,
    /// Packs and tools that do not exist yet, so that nothing can refer to them.
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

    /// Takes tools. Python tools have no rights, so they may change; requests and commands wait.
    fn tools(&mut self, old: &[ToolOptions], new: Vec<ToolOptions>) -> Vec<ToolOptions> {
        let mut taken = Vec::new();
        for tool in new {
            if let ToolBody::Python(_) = &tool.body {
                taken.push(tool);
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
            taken.push(allowed);
        }
        taken
    }

    /// Takes resources: texts, and files that already are resources.
    fn resources(&mut self, old: &[ResourceOptions], new: Vec<ResourceOptions>) -> Vec<ResourceOptions> {
        let file = |resource: &ResourceOptions| match &resource.body {
            ResourceBody::File { path, .. } => Some(path.clone()),
            _ => None,
        };
        let known: Vec<PathBuf> = old.iter().filter_map(file).collect();
        let (taken, waiting): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|it| file(it).is_none_or(|path| known.contains(&path)));
        for resource in waiting {
            self.changes.add(&format!("resources.{}", resource.name), "new file");
        }
        taken
    }

    fn pack_files(&mut self, old: &[PathBuf], new: Vec<PathBuf>) -> Vec<PathBuf> {
        let is_allowed = are_among(&new, old);
        self.changes.choose("packs.files", "new files", &old.to_vec(), new, is_allowed)
    }

    /// Takes topics whose file another topic already has.
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
        // Has no effect before a restart, which only the operator can cause.
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

    /// Takes the limits of programs; `require_cage` can only be switched on.
    fn run(&mut self, old: &RunOptions, mut new: RunOptions) -> RunOptions {
        let is_allowed = new.require_cage || !old.require_cage;
        let (old, requested) = (&old.require_cage, new.require_cage);
        new.require_cage = self.changes.choose("run.require_cage", "off", old, requested, is_allowed);
        new
    }

    /// Takes a policy that allows nothing more.
    fn policy(&mut self, old: &Policy, new: Policy) -> Policy {
        let allows_no_more = are_among(&new.allow, &old.allow) || old.allow.iter().any(|glob| glob == "*");
        let is_allowed = allows_no_more && are_among(&old.deny, &new.deny);
        self.changes.choose("policy", "looser", old, new, is_allowed)
    }

    /// Takes aliases, except those of something that waits: they would refer to nothing.
    fn aliases(
        &mut self,
        old: &IndexMap<String, AliasOptions>,
        new: IndexMap<String, AliasOptions>,
    ) -> IndexMap<String, AliasOptions> {
        let waits = |alias: &AliasOptions| {
            let mut target = alias.target.as_str();
            // A chain longer than all aliases together is a cycle, which is reported later.
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
        let mut taken = new;
        for name in waiting {
            self.changes.add(&format!("aliases.{name}"), "its target waits");
            match old.get(&name) {
                Some(known) => taken.insert(name, known.clone()),
                None => taken.shift_remove(&name),
            };
        }
        taken
    }
}

fn are_among<T: PartialEq>(these: &[T], those: &[T]) -> bool {
    these.iter().all(|it| those.contains(it))
}

/// Takes the changes of a server that give it no more rights: time limits, disabling it, marking its results.
fn upstream(old: &UpstreamConfig, new: &UpstreamConfig) -> UpstreamConfig {
    let mut allowed = old.clone();
    allowed.connection.timeout = new.connection.timeout;
    allowed.connection.connect_timeout = new.connection.connect_timeout;
    allowed.connection.enabled &= new.connection.enabled;
    allowed.is_untrusted |= new.is_untrusted;
    allowed
}

/// Takes the changes of an API that give it no more rights.
fn api(old: &ApiConfig, new: &ApiConfig) -> ApiConfig {
    let mut allowed = old.clone();
    allowed.options.timeout = new.options.timeout;
    allowed.options.read_only |= new.options.read_only;
    allowed.options.allow_private &= new.options.allow_private;
    allowed.is_enabled &= new.is_enabled;
    allowed.is_untrusted |= new.is_untrusted;
    allowed
}
