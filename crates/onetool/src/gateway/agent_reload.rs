//! What a reload that an agent asks for may change. Everything else waits for the operator.
//!
//! The rule is a list of what is allowed. Every struct is taken apart by name, so a new setting does not compile until
//! somebody has decided about it here.

use std::borrow::Cow;
use std::collections::HashSet;

use indexmap::IndexMap;

use crate::catalog::Policy;
use crate::config::{
    AliasConfig, ApiConfig, BravePackConfig, Config, DatabaseConfig, DbPackConfig, FilePackConfig,
    HttpConfig, LlmPackConfig, PackFilesConfig, PackagePackConfig, PacksConfig, ResourceBody, ResourceConfig,
    RipgrepPackConfig, RunConfig, ToolBody, ToolConfig, TopicConfig, UpstreamConfig, WebPackConfig,
};

/// A configuration that an agent may bring into force, and what it lacks of the one on disk.
pub(super) struct AgentReload {
    pub(super) config: Config,
    /// The settings that wait, by their keys, each with what is new about it.
    pub(super) waiting: Vec<String>,
}

impl AgentReload {
    /// Takes over from `new` what an agent may change; the rest stays as it is in `old`.
    pub(super) fn new(old: &Config, new: Config) -> Self {
        let mut waiting = Waiting::default();
        let is_new_server = |name: &&String| !old.servers.contains_key(*name);
        let is_new_api = |name: &&String| !old.apis.contains_key(*name);
        waiting.names.extend(new.servers.keys().filter(is_new_server).cloned());
        waiting.names.extend(new.apis.keys().filter(is_new_api).cloned());
        let Config {
            path,
            files,
            server,
            tools,
            servers,
            apis,
            startup_wait,
            pack_files,
            packs,
            resources,
            prompts,
            docs,
            aliases,
            snippets,
            notify,
            run,
            output,
            stats,
            search,
            storage,
            renames,
            http,
            protocol_max,
            policy,
            redactor,
            warnings,
            notice,
        } = new;
        let config = Config {
            servers: waiting.entries("servers", &old.servers, servers, upstream),
            apis: waiting.entries("openapi", &old.apis, apis, api),
            tools: waiting.tools(&old.tools, tools),
            resources: waiting.resources(&old.resources, resources),
            pack_files: waiting.pack_files(&old.pack_files, pack_files),
            packs: waiting.packs(&old.packs, packs),
            notify: waiting.topics(&old.notify, notify),
            http: waiting.http(&old.http, http),
            policy: waiting.policy(&old.policy, policy),
            run: waiting.run(&old.run, run),
            aliases: IndexMap::new(),
            // Words, and limits of what an agent uses.
            server,
            startup_wait,
            prompts,
            docs,
            snippets,
            output,
            stats,
            search,
            storage,
            renames,
            protocol_max,
            path,
            files,
            warnings,
            notice,
            // What stays in force still has the old secrets.
            redactor: redactor.and(&old.redactor),
        };
        let aliases = waiting.aliases(&old.aliases, aliases);
        Self { config: Config { aliases, ..config }, waiting: waiting.keys }
    }
}

/// Collects what waits.
#[derive(Default)]
struct Waiting {
    keys: Vec<String>,
    /// Packs and tools that are not there yet, so that nothing can stand for them.
    names: HashSet<String>,
}

impl Waiting {
    fn add(&mut self, key: &str, why: &str) {
        self.keys.push(format!("{key} ({why})"));
    }

    /// Keeps the old value, and notes that it waits, unless the new one may be taken.
    fn choose<T: Clone>(&mut self, key: &str, why: &str, old: &T, new: T, is_allowed: bool) -> T {
        if is_allowed {
            return new;
        }
        self.add(key, why);
        old.clone()
    }

    /// Takes a section of named entries: they may go, and change as `allowed` says; new ones wait.
    fn entries<T: Clone + PartialEq>(
        &mut self,
        section: &str,
        old: &IndexMap<String, T>,
        new: IndexMap<String, T>,
        allowed: impl Fn(&T, &T) -> T,
    ) -> IndexMap<String, T> {
        let mut taken = IndexMap::new();
        for (name, new) in new {
            let key = format!("{section}.{name}");
            match old.get(&name) {
                None => self.add(&key, "new"),
                Some(old) => {
                    let allowed = allowed(old, &new);
                    if allowed != new {
                        self.add(&key, "changed");
                    }
                    taken.insert(name, allowed);
                }
            }
        }
        taken
    }

    /// Takes tools: those in Python have no rights of their own, others wait.
    fn tools(&mut self, old: &[ToolConfig], new: Vec<ToolConfig>) -> Vec<ToolConfig> {
        let mut taken = Vec::new();
        for tool in new {
            let known = old.iter().find(|it| it.name == tool.name);
            let (ToolBody::Http(_) | ToolBody::Command(_)) = &tool.body else {
                taken.push(tool);
                continue;
            };
            let key = format!("tools.{}", tool.name);
            let Some(known) = known else {
                self.add(&key, "new");
                self.names.insert(tool.name);
                continue;
            };
            let ToolConfig {
                name,
                title,
                description,
                input_schema: _,
                annotations: _,
                timeout,
                body: _,
                at,
            } = tool.clone();
            let allowed = ToolConfig { name, title, description, timeout, at, ..known.clone() };
            if allowed != tool {
                self.add(&key, "changed");
            }
            taken.push(allowed);
        }
        taken
    }

    /// Takes resources: texts, and files that are resources already.
    fn resources(&mut self, old: &[ResourceConfig], new: Vec<ResourceConfig>) -> Vec<ResourceConfig> {
        let mut taken = Vec::new();
        for resource in new {
            let is_known = match &resource.body {
                ResourceBody::Text(_) => true,
                ResourceBody::File { path, .. } => old
                    .iter()
                    .any(|it| matches!(&it.body, ResourceBody::File { path: known, .. } if known == path)),
            };
            if is_known {
                taken.push(resource);
            } else {
                self.add(&format!("resources.{}", resource.name), "new file");
            }
        }
        taken
    }

    fn pack_files(&mut self, old: &[PackFilesConfig], new: Vec<PackFilesConfig>) -> Vec<PackFilesConfig> {
        let is_known = |it: &PackFilesConfig| old.iter().any(|known| known.pattern == it.pattern);
        let is_allowed = new.iter().all(is_known);
        self.choose("packs.files", "new files", &old.to_vec(), new, is_allowed)
    }

    fn packs(&mut self, old: &PacksConfig, new: PacksConfig) -> PacksConfig {
        let PacksConfig { file, ripgrep, db, web, brave, package, llm, named } = new;
        PacksConfig {
            file: self.pack("file", old.file.as_ref(), file, Self::file_pack),
            ripgrep: self.pack("ripgrep", old.ripgrep.as_ref(), ripgrep, Self::ripgrep_pack),
            db: self.db_pack(old.db.as_ref(), db),
            web: self.pack("web", old.web.as_ref(), web, Self::web_pack),
            brave: self.pack("brave", old.brave.as_ref(), brave, Self::brave_pack),
            package: self.pack("package", old.package.as_ref(), package, Self::package_pack),
            llm: self.pack("llm", old.llm.as_ref(), llm, Self::llm_pack),
            named,
        }
    }

    /// Takes a pack: it may go, and change as `change` says; one that was not there waits.
    fn pack<T>(
        &mut self,
        name: &str,
        old: Option<&T>,
        new: Option<T>,
        change: impl FnOnce(&mut Self, &T, T) -> T,
    ) -> Option<T> {
        match (old, new) {
            (_, None) => None,
            (Some(old), Some(new)) => Some(change(self, old, new)),
            (None, Some(_)) => {
                self.add(&format!("packs.{name}"), "new");
                self.names.insert(name.to_owned());
                None
            }
        }
    }

    fn file_pack(&mut self, old: &FilePackConfig, new: FilePackConfig) -> FilePackConfig {
        let FilePackConfig { roots, is_read_only, trash } = new;
        let is_narrower = are_among(&roots, &old.roots);
        let may_write = is_read_only || !old.is_read_only;
        let same_trash = trash == old.trash;
        FilePackConfig {
            roots: self.choose("packs.file.roots", "wider", &old.roots, roots, is_narrower),
            is_read_only: self.choose(
                "packs.file.read_only",
                "off",
                &old.is_read_only,
                is_read_only,
                may_write,
            ),
            trash: self.choose("packs.file.trash", "changed", &old.trash, trash, same_trash),
        }
    }

    fn ripgrep_pack(&mut self, old: &RipgrepPackConfig, new: RipgrepPackConfig) -> RipgrepPackConfig {
        let RipgrepPackConfig { roots } = new;
        let is_narrower = are_among(&roots, &old.roots);
        RipgrepPackConfig {
            roots: self.choose("packs.ripgrep.roots", "wider", &old.roots, roots, is_narrower),
        }
    }

    fn db_pack(&mut self, old: Option<&DbPackConfig>, new: Option<DbPackConfig>) -> Option<DbPackConfig> {
        let DbPackConfig { databases, timeout } = new?;
        let known = old.map_or_else(Default::default, |it| Cow::Borrowed(&it.databases));
        let databases = self.entries("packs.db.urls", &known, databases, database);
        (!databases.is_empty()).then_some(DbPackConfig { databases, timeout })
    }

    fn web_pack(&mut self, old: &WebPackConfig, new: WebPackConfig) -> WebPackConfig {
        let WebPackConfig { allow_private, timeout, max_bytes } = new;
        let is_allowed = old.allow_private || !allow_private;
        let allow_private =
            self.choose("packs.web.allow_private", "on", &old.allow_private, allow_private, is_allowed);
        WebPackConfig { allow_private, timeout, max_bytes }
    }

    fn brave_pack(&mut self, old: &BravePackConfig, new: BravePackConfig) -> BravePackConfig {
        let BravePackConfig { api_key, base_url, timeout } = new;
        let is_same = api_key == old.api_key && base_url == old.base_url;
        let known = (old.api_key.clone(), old.base_url.clone());
        let (api_key, base_url) = self.choose("packs.brave", "changed", &known, (api_key, base_url), is_same);
        BravePackConfig { api_key, base_url, timeout }
    }

    fn package_pack(&mut self, old: &PackagePackConfig, new: PackagePackConfig) -> PackagePackConfig {
        let PackagePackConfig { npm_url, pypi_url, crates_url, timeout } = new;
        let known = PackagePackConfig { timeout, ..old.clone() };
        let new = PackagePackConfig { npm_url, pypi_url, crates_url, timeout };
        let is_same = new == known;
        self.choose("packs.package", "changed", &known, new, is_same)
    }

    fn llm_pack(&mut self, old: &LlmPackConfig, new: LlmPackConfig) -> LlmPackConfig {
        let LlmPackConfig { endpoint, max_tokens, timeout } = new;
        let is_same = endpoint == old.endpoint;
        let endpoint = self.choose("packs.llm", "changed", &old.endpoint, endpoint, is_same);
        LlmPackConfig { endpoint, max_tokens, timeout }
    }

    /// Takes topics whose file some topic has already.
    fn topics(&mut self, old: &[TopicConfig], new: Vec<TopicConfig>) -> Vec<TopicConfig> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|topic| old.iter().any(|it| it.file == topic.file));
        for topic in unknown {
            self.add(&format!("notify.topics '{}'", topic.pattern), "new file");
        }
        known
    }

    fn http(&mut self, old: &HttpConfig, new: HttpConfig) -> HttpConfig {
        let HttpConfig {
            listen,
            token,
            allow_execute,
            title,
            history,
            allowed_hosts,
            allowed_origins,
            max_body,
            connections,
        } = new;
        let is_same_token = token == old.token;
        let is_execute_allowed = old.allow_execute || !allow_execute;
        let are_hosts_known = are_among(&allowed_hosts, &old.allowed_hosts);
        let are_origins_known = are_among(&allowed_origins, &old.allowed_origins);
        HttpConfig {
            token: self.choose("http.token", "changed", &old.token, token, is_same_token),
            allow_execute: self.choose(
                "http.allow_execute",
                "on",
                &old.allow_execute,
                allow_execute,
                is_execute_allowed,
            ),
            allowed_hosts: self.choose(
                "http.allowed_hosts",
                "wider",
                &old.allowed_hosts,
                allowed_hosts,
                are_hosts_known,
            ),
            allowed_origins: self.choose(
                "http.allowed_origins",
                "wider",
                &old.allowed_origins,
                allowed_origins,
                are_origins_known,
            ),
            // Of no effect before a restart, which is the operator's.
            listen,
            title,
            history,
            max_body,
            connections,
        }
    }

    /// Takes the limits of a run; that a cage is required can only be switched on.
    fn run(&mut self, old: &RunConfig, new: RunConfig) -> RunConfig {
        let RunConfig {
            timeout,
            memory,
            max_calls,
            max_parallel,
            max_print,
            max_result,
            max_buffer,
            max_concurrent,
            max_total_memory,
            max_waiting,
            require_cage,
        } = new;
        let is_allowed = require_cage || !old.require_cage;
        RunConfig {
            timeout,
            memory,
            max_calls,
            max_parallel,
            max_print,
            max_result,
            max_buffer,
            max_concurrent,
            max_total_memory,
            max_waiting,
            require_cage: self.choose("run.require_cage", "off", &old.require_cage, require_cage, is_allowed),
        }
    }

    /// Takes a policy that allows nothing more.
    fn policy(&mut self, old: &Policy, new: Policy) -> Policy {
        let Policy { allow, deny } = &new;
        let allows_no_more = are_among(allow, &old.allow) || old.allow.iter().any(|glob| glob == "*");
        let is_allowed = allows_no_more && are_among(&old.deny, deny);
        self.choose("policy", "looser", old, new, is_allowed)
    }

    /// Takes aliases, but for those of something that waits: they would lead nowhere.
    fn aliases(
        &mut self,
        old: &IndexMap<String, AliasConfig>,
        new: IndexMap<String, AliasConfig>,
    ) -> IndexMap<String, AliasConfig> {
        let waits = |alias: &AliasConfig| {
            let mut target = alias.target.as_str();
            // A cycle is longer than all aliases together, and found out later.
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
            self.add(&format!("aliases.{name}"), "its target waits");
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

/// Takes over of a server what makes it no more than it was: patience, switching it off, marking what it says.
fn upstream(old: &UpstreamConfig, new: &UpstreamConfig) -> UpstreamConfig {
    let UpstreamConfig { connection, is_untrusted } = new;
    let mut allowed = old.clone();
    allowed.connection.timeout = connection.timeout;
    allowed.connection.connect_timeout = connection.connect_timeout;
    allowed.connection.enabled &= connection.enabled;
    allowed.is_untrusted |= is_untrusted;
    allowed
}

/// Takes over of an API what makes it no more than it was.
fn api(old: &ApiConfig, new: &ApiConfig) -> ApiConfig {
    let ApiConfig { origin: _, options, is_enabled, is_untrusted } = new;
    let mut allowed = old.clone();
    allowed.options.timeout = options.timeout;
    allowed.options.read_only |= options.read_only;
    allowed.options.allow_private &= options.allow_private;
    allowed.is_enabled &= is_enabled;
    allowed.is_untrusted |= is_untrusted;
    allowed
}

/// Takes over of a database what makes it no more than it was.
fn database(old: &DatabaseConfig, new: &DatabaseConfig) -> DatabaseConfig {
    let DatabaseConfig { written: _, address: _, is_writable, is_privileged } = new;
    DatabaseConfig {
        is_writable: old.is_writable && *is_writable,
        is_privileged: old.is_privileged && *is_privileged,
        ..old.clone()
    }
}
