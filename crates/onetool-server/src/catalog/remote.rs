//! What other servers and APIs offer: taken in and out by source, and never over what is here already.

use std::sync::Arc;

use onetool_core::{Prompt, Resource, Tool};

use super::untrusted::{UntrustedPrompt, UntrustedResource};
use super::{Catalog, Entry, RegisterError, Source};

/// Everything that one source offers at one moment.
#[derive(Clone, Default)]
pub struct Offer {
    /// Its tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Its resources.
    pub resources: Vec<Arc<dyn Resource>>,
    /// Its prompts.
    pub prompts: Vec<Arc<dyn Prompt>>,
    /// What the source says about its own use.
    pub description: Option<String>,
    /// Whether its answers are to be marked as foreign.
    pub is_untrusted: bool,
}

impl Offer {
    /// Tells whether both hold the very same things.
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
    /// Puts what `source` offers now in the place of what it offered before, and touches nothing else.
    ///
    /// Returns what could not be taken, and why; the rest is there all the same.
    pub fn set_source(&mut self, source: &Source, pack: &str, offer: &Offer) -> Vec<RegisterError> {
        self.remove_source(source);
        if let Some(description) = &offer.description {
            self.describe_pack(pack, description, source.clone());
        }
        let mut refused = Vec::new();
        for tool in &offer.tools {
            refused.extend(self.add_remote_tool(tool.clone(), source, offer.is_untrusted).err());
        }
        for mut resource in offer.resources.iter().cloned() {
            if offer.is_untrusted {
                resource = Arc::new(UntrustedResource(resource));
            }
            refused.extend(self.add_resource(resource, source.clone()).err());
        }
        for mut prompt in offer.prompts.iter().cloned() {
            if offer.is_untrusted {
                prompt = Arc::new(UntrustedPrompt(prompt));
            }
            refused.extend(self.add_prompt(prompt, source.clone()).err());
        }
        refused
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
        let entry = Entry::new(tool, flat, source.clone())?.untrusted(is_untrusted);
        self.insert(entry);
        Ok(())
    }

    /// Tells whether a pack of that name is here already, whatever may come from outside.
    pub fn has_local_pack(&self, pack: &str) -> bool {
        self.tools.values().any(|entry| !entry.source().is_remote() && entry.name().pack() == Some(pack))
    }

    /// Tells whether the name belongs to the gateway itself.
    pub fn is_reserved_pack(&self, pack: &str) -> bool {
        self.reserved.iter().any(|it| it == pack)
    }

    /// Puts what comes from outside on the clients' lists, too.
    pub(crate) fn list_remote(&mut self) {
        self.lists_remote = true;
    }
}
