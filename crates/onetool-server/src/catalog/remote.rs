//! The tools, resources and prompts of other servers and APIs, added and removed by source.

use std::sync::Arc;

use onetool_core::{Prompt, Resource, Tool};

use super::untrusted::{UntrustedPrompt, UntrustedResource};
use super::{Catalog, Entry, RegisterError, Source};

/// Everything that a source currently offers.
#[derive(Clone, Default)]
pub struct Offer {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The resources.
    pub resources: Vec<Arc<dyn Resource>>,
    /// The prompts.
    pub prompts: Vec<Arc<dyn Prompt>>,
    /// The source's description.
    pub description: Option<String>,
    /// Whether to mark all output of the source as external content.
    pub is_untrusted: bool,
}

impl Offer {
    /// Returns whether both consist of the same objects.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<dyn Tool>, &Arc<dyn Tool>)| Arc::ptr_eq(a, b);
        self.tools.len() == other.tools.len()
            && self.resources.len() == other.resources.len()
            && self.prompts.len() == other.prompts.len()
            && self.tools.iter().zip(&other.tools).all(same)
            && self.resources.iter().zip(&other.resources).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.prompts.iter().zip(&other.prompts).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.description == other.description
            && self.is_untrusted == other.is_untrusted
    }
}

impl Catalog {
    /// Replaces what `source` offered before with `offer`. Nothing else changes.
    ///
    /// Returns the errors of tools, resources and prompts that cannot be added; the others are added anyway.
    pub fn set_source(&mut self, source: &Source, pack: &str, offer: &Offer) -> Vec<RegisterError> {
        self.remove_source(source);
        if let Some(description) = &offer.description {
            self.describe_pack(pack, description, source.clone());
        }
        let mut errors = Vec::new();
        for tool in &offer.tools {
            errors.extend(self.add_remote_tool(tool.clone(), source, offer.is_untrusted).err());
        }
        for mut resource in offer.resources.iter().cloned() {
            if offer.is_untrusted {
                resource = Arc::new(UntrustedResource(resource));
            }
            errors.extend(self.add_resource(resource, source.clone()).err());
        }
        for mut prompt in offer.prompts.iter().cloned() {
            if offer.is_untrusted {
                prompt = Arc::new(UntrustedPrompt(prompt));
            }
            errors.extend(self.add_prompt(prompt, source.clone()).err());
        }
        errors
    }

    fn add_remote_tool(
        &mut self,
        tool: Arc<dyn Tool>,
        source: &Source,
        is_untrusted: bool,
    ) -> Result<(), RegisterError> {
        let name = tool.spec().name.clone();
        name.check()?;
        if self.is_reserved(&name) {
            return Err(RegisterError::ReservedTool { name });
        }
        let flat = self.flat_name_for(&name, source)?;
        let entry = Entry::new(tool, flat, source.clone())?.with_untrusted(is_untrusted);
        self.insert(entry);
        Ok(())
    }

    /// Returns whether a local pack has this name.
    pub fn has_local_pack(&self, pack: &str) -> bool {
        self.tools.values().any(|entry| !entry.source().is_remote() && entry.name().pack() == Some(pack))
    }

    /// Returns whether this name is reserved for the gateway.
    pub fn is_reserved_pack(&self, pack: &str) -> bool {
        self.reserved.iter().any(|it| it == pack)
    }

    /// Adds remote tools to the clients' lists.
    pub(crate) fn list_remote(&mut self) {
        self.lists_remote = true;
    }
}
