//! What the index promises.
