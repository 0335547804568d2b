//! All tools, resources and prompts, in immutable snapshots that are replaced atomically.

mod active;
mod check;
mod entry;
mod error;
mod listed;
mod names;
mod portable;
mod remote;
mod resolve;
mod shared;
mod untrusted;

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use onetool_core::{Pack, Policy, Prompt, Resource, ResourceSpec, Tool, ToolDocs, ToolName};

pub use active::{ActiveSets, OwnList};
pub use entry::{Entry, Source};
pub use error::{RegisterError, UnknownName};
pub use remote::Offer;
pub use shared::{Change, SharedCatalog};

/// A snapshot of all tools, resources and prompts, in the order of their registration.
///
/// ```
/// # use onetool_server::{CallContext, JsonObject, Server, tool_fn};
/// # let hello = tool_fn("demo.hello", "Says hello.", |(): (), _: CallContext| async { "hello" });
/// let server = Server::builder().extra_tools([hello]).build()?;
/// let catalog = server.catalog();
/// assert!(catalog.get("demo.hello").is_some());
/// assert_eq!(catalog.resolve("demo.helo").err().map(|unknown| unknown.similar), Some(vec!["demo.hello".into()]));
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
#[derive(Clone, Default)]
pub struct Catalog {
    tools: IndexMap<ToolName, Arc<Entry>>,
    by_flat_name: HashMap<Arc<str>, ToolName>,
    resources: IndexMap<String, Registered<dyn Resource>>,
    prompts: IndexMap<String, Registered<dyn Prompt>>,
    reserved: Arc<[String]>,
    /// Descriptions of packs.
    pack_descriptions: IndexMap<String, Registered<str>>,
    /// Names of packs that are bundled with onetool, which other packs of the same name replace.
    bundled: HashSet<Arc<str>>,
    rules: Arc<Rules>,
    /// Whether remote tools are on the clients' lists, because this server has no search.
    lists_remote: bool,
}

/// The operator's settings for tools, in addition to what their sources define.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Rules {
    /// Which tools may be called.
    pub policy: Policy,
    /// Documentation for agents, by canonical name.
    pub docs: IndexMap<String, ToolDocs>,
    /// New names by old names.
    pub renames: IndexMap<String, String>,
    /// Tools that are on every client's list, by canonical or flat name.
    pub pinned: HashSet<String>,
    /// Data of the embedding program that belongs to the same snapshot.
    pub attached: Option<Arc<dyn Any + Send + Sync>>,
}

struct Registered<T: ?Sized> {
    item: Arc<T>,
    source: Source,
}

impl<T: ?Sized> Clone for Registered<T> {
    fn clone(&self) -> Self {
        Self { item: self.item.clone(), source: self.source.clone() }
    }
}

impl Catalog {
    /// Returns all tools that the policy allows, except the gateway's surface.
    pub fn tools(&self) -> impl DoubleEndedIterator<Item = &Arc<Entry>> {
        self.allowed().filter(|entry| *entry.source() != Source::Surface)
    }

    /// Returns the tools that are on every client's list.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.allowed().filter(|entry| self.is_listed(entry))
    }

    /// Returns whether a tool is on every client's list.
    pub fn is_listed(&self, entry: &Entry) -> bool {
        let is_pinned = |name: &str| self.rules.pinned.contains(name);
        let source = entry.source();
        source.is_listed()
            || (self.lists_remote && source.is_remote())
            || is_pinned(entry.name().as_str())
            || is_pinned(entry.flat_name())
    }

    /// Returns whether a pinned tool does not exist, or does not exist yet.
    pub(crate) fn lacks_pinned(&self) -> bool {
        self.rules.pinned.iter().any(|name| self.get(name).is_none())
    }

    fn allowed(&self) -> impl DoubleEndedIterator<Item = &Arc<Entry>> {
        self.tools.values().filter(|entry| self.rules.policy.shows(entry.name()))
    }

    /// Returns all resources, including templates.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<dyn Resource>> {
        self.resources.values().map(|registered| &registered.item)
    }

    /// Returns all prompts.
    pub fn prompts(&self) -> impl Iterator<Item = &Arc<dyn Prompt>> {
        self.prompts.values().map(|registered| &registered.item)
    }

    /// Returns the prompt with this name.
    pub fn prompt(&self, name: &str) -> Option<&Arc<dyn Prompt>> {
        self.prompts.get(name).map(|registered| &registered.item)
    }

    /// Returns the resource or template registered with exactly this URI.
    pub fn resource(&self, uri: &str) -> Option<&Arc<dyn Resource>> {
        self.resources.get(uri).map(|registered| &registered.item)
    }

    /// Returns whether a resource comes from another server.
    pub(crate) fn is_remote_resource(&self, spec: &ResourceSpec) -> bool {
        self.resources.get(spec.uri.as_str()).is_some_and(|registered| registered.source.is_remote())
    }

    /// Returns the description of a pack.
    pub fn pack_description(&self, pack: &str) -> Option<&str> {
        self.pack_descriptions.get(pack).map(|registered| &*registered.item)
    }

    /// Returns the operator's settings for tools.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the operator's documentation of a tool for agents.
    pub fn docs(&self, name: &ToolName) -> Option<&ToolDocs> {
        self.rules.docs.get(name.as_str())
    }

    /// Returns the description that agents see.
    pub fn description<'a>(&'a self, entry: &'a Entry) -> &'a str {
        let own = self.docs(entry.name()).and_then(|docs| docs.description.as_deref());
        own.unwrap_or(&entry.spec().description)
    }

    /// Returns the tools whose flat name has a suffix that makes it unique.
    pub fn renamed_apart(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.values().filter(|entry| entry.flat_name() != entry.name().flat())
    }

    pub(crate) fn reserve(&mut self, names: &[&str]) {
        self.reserved = names.iter().map(|name| (*name).to_owned()).collect();
    }

    /// Replaces the operator's settings.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = Arc::new(rules);
    }

    /// Adds a local tool: from code, the configuration or a pack.
    pub fn add_tool(&mut self, tool: Arc<dyn Tool>, source: Source) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        name.check()?;
        if !source.is_gateway() && self.is_reserved(&name) {
            return Err(RegisterError::ReservedTool { name });
        }
        if let Some(pack) = name.pack().filter(|pack| self.bundled.contains(*pack)) {
            self.remove_bundle(pack);
        }
        let flat = self.flat_name_for(&name, &source)?;
        let entry = Entry::new(tool, flat, source)?;
        self.insert(entry);
        Ok(())
    }

    /// Adds a bundled pack, which any other pack of the same name replaces; returns the errors of tools that were not
    /// added.
    pub fn add_bundle(&mut self, pack: Pack) -> Vec<RegisterError> {
        if let Some(description) = &pack.description {
            self.describe_pack(&pack.name, description, Source::Bundled);
        }
        let tools = pack.tools.into_iter();
        let refused = tools.filter_map(|tool| self.add_tool(tool, Source::Bundled).err()).collect();
        // Last, because from here on, adding a tool to a pack of this name replaces the bundled pack.
        self.bundled.insert(pack.name);
        refused
    }

    /// Returns whether this bundled pack was added and not replaced.
    pub fn has_bundle(&self, pack: &str) -> bool {
        self.bundled.contains(pack)
    }

    fn remove_bundle(&mut self, pack: &str) {
        self.bundled.remove(pack);
        self.tools.retain(|name, entry| *entry.source() != Source::Bundled || name.pack() != Some(pack));
        self.by_flat_name.retain(|_, name| self.tools.contains_key(name));
        self.pack_descriptions.retain(|name, it| it.source != Source::Bundled || name != pack);
    }

    /// Adds a resource.
    ///
    /// # Errors
    /// If the URI is invalid or already registered.
    pub fn add_resource(&mut self, item: Arc<dyn Resource>, source: Source) -> Result<(), RegisterError> {
        let uri = item.spec().uri.as_str().to_owned();
        if !uri.contains(':') {
            return Err(RegisterError::InvalidUri { uri });
        }
        if self.resources.contains_key(&uri) {
            return Err(RegisterError::DuplicateResource { uri });
        }
        self.resources.insert(uri, Registered { item, source });
        Ok(())
    }

    /// Adds a prompt.
    ///
    /// # Errors
    /// If the name is empty or already registered.
    pub fn add_prompt(&mut self, item: Arc<dyn Prompt>, source: Source) -> Result<(), RegisterError> {
        let name = item.spec().name.clone();
        if name.is_empty() {
            return Err(RegisterError::EmptyPromptName);
        }
        if self.prompts.contains_key(&name) {
            return Err(RegisterError::DuplicatePrompt { name });
        }
        self.prompts.insert(name, Registered { item, source });
        Ok(())
    }

    /// Sets the description of a pack, unless it has one.
    pub fn describe_pack(&mut self, pack: &str, description: &str, source: Source) {
        let item = Registered { item: description.into(), source };
        self.pack_descriptions.entry(pack.to_owned()).or_insert(item);
    }

    pub(crate) fn remove_tool(&mut self, name: &str) -> bool {
        let Some(entry) = self.get(name).cloned() else { return false };
        self.tools.shift_remove(entry.name());
        self.by_flat_name.remove(entry.flat_name());
        true
    }

    pub(crate) fn remove_prompt(&mut self, name: &str) -> bool {
        self.prompts.shift_remove(name).is_some()
    }

    pub(crate) fn remove_resource(&mut self, uri: &str) -> bool {
        self.resources.shift_remove(uri).is_some()
    }

    /// Removes everything that `source` provides.
    pub fn remove_source(&mut self, source: &Source) {
        self.tools.retain(|_, entry| entry.source() != source);
        self.by_flat_name.retain(|_, name| self.tools.contains_key(name));
        self.resources.retain(|_, registered| registered.source != *source);
        self.prompts.retain(|_, registered| registered.source != *source);
        self.pack_descriptions.retain(|_, registered| registered.source != *source);
        if *source == Source::Bundled {
            self.bundled.clear();
        }
    }

    /// Returns which of the clients' lists changed.
    fn difference(&self, old: &Self, loaded: &ActiveSets) -> Change {
        let tool = |catalog: &Self, entry: &Entry| {
            (entry.flat_name().to_owned(), catalog.description(entry).to_owned(), entry.spec().clone())
        };
        let tools_differ =
            !self.seen(loaded).map(|it| tool(self, it)).eq(old.seen(loaded).map(|it| tool(old, it)));
        let resources_differ = !self.resources().map(Resource::spec).eq(old.resources().map(Resource::spec));
        let prompts_differ = !self.prompts().map(Prompt::spec).eq(old.prompts().map(Prompt::spec));
        Change {
            tools: tools_differ.into(),
            resources: resources_differ.into(),
            prompts: prompts_differ.into(),
        }
    }

    /// Returns the tools that are on some client's list, because every client has them or a session loaded them.
    fn seen(&self, loaded: &ActiveSets) -> impl Iterator<Item = &Arc<Entry>> {
        self.allowed().filter(|entry| self.is_listed(entry) || loaded.may_contain(entry.name()))
    }
}
