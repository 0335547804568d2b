//! Packs of tools that need no server of their own.

pub(crate) mod python;
