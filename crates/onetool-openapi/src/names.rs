//! Readable, unique names of tools and arguments.

use std::collections::HashSet;

use onetool_core::FLAT_NAME_MAX;

/// Shortest budget for the names of tools; a pack name that leaves less is refused.
const SHORTEST_BUDGET: usize = 24;

/// The longest pack name that leaves room for the names of tools.
pub(crate) const PACK_NAME_MAX: usize = FLAT_NAME_MAX - 1 - SHORTEST_BUDGET;

/// Gives names to the operations of one document, in the document's order.
pub(crate) struct ToolNames {
    budget: usize,
    taken: HashSet<String>,
}

impl ToolNames {
    /// Makes names for a pack; `reserved` are those that the operator gave.
    pub(crate) fn new(pack: &str, reserved: impl Iterator<Item = String>) -> Self {
        Self { budget: FLAT_NAME_MAX.saturating_sub(pack.len() + 1), taken: reserved.collect() }
    }

    /// Returns the name of an operation, and whether it had to be shortened or told apart.
    ///
    /// `key` is unique in the document (`GET /pets`): its hash tells two operations with one name apart, the same way
    /// on every start.
    pub(crate) fn name(&mut self, wanted: &str, key: &str) -> (String, bool) {
        let full = snake_case(wanted);
        let full = if full.is_empty() { "operation".to_owned() } else { full };
        let short = shortened(&full, self.budget);
        let changed = short.len() < full.len();
        if self.taken.insert(short.to_owned()) {
            return (short.to_owned(), changed);
        }
        for salt in 0_u32.. {
            let name = format!("{}_{:06x}", shortened(&full, self.budget - 7), hash(key, salt) & 0x00ff_ffff);
            if self.taken.insert(name.clone()) {
                return (name, true);
            }
        }
        unreachable!("invariant: fewer than 2^32 names are taken")
    }
}

/// Returns the name of an operation without operationId: `get_pets_by_pet_id`.
pub(crate) fn name_from_path(method: &str, path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty()).map(|part| {
        let variable = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        variable.map_or_else(|| part.to_owned(), |variable| format!("by_{variable}"))
    });
    std::iter::once(method.to_owned()).chain(parts).collect::<Vec<_>>().join("_")
}

/// Splits words at case changes and odd characters: `listPetsByID` → `list_pets_by_id`.
pub(crate) fn snake_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_ascii_alphanumeric() {
            let starts_word = c.is_ascii_uppercase()
                && before.is_some_and(|before| {
                    before.is_ascii_lowercase()
                        || before.is_ascii_digit()
                        || (before.is_ascii_uppercase() && rest.peek().is_some_and(char::is_ascii_lowercase))
                });
            if starts_word && !out.ends_with('_') {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        before = Some(c);
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// Cuts a name to `max` characters, between words if that costs at most half of it.
fn shortened(name: &str, max: usize) -> &str {
    if name.len() <= max {
        return name;
    }
    let cut = &name[..max];
    let end = if name.as_bytes()[max] == b'_' { max } else { cut.rfind('_').unwrap_or(max) };
    cut[..if end * 2 < max { max } else { end }].trim_end_matches('_')
}

/// 32-bit FNV-1a: unlike the standard hasher the same in every release.
fn hash(text: &str, salt: u32) -> u32 {
    let bytes = text.bytes().chain(salt.to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Gives names to the arguments of one operation.
#[derive(Default)]
pub(crate) struct ArgumentNames {
    taken: HashSet<String>,
}

impl ArgumentNames {
    /// Returns the name of an argument that is `wire` on the wire; a taken one gets `suffix`.
    pub(crate) fn name(&mut self, wire: &str, suffix: &str) -> String {
        let plain = argument_name(wire);
        if self.taken.insert(plain.clone()) {
            return plain;
        }
        let mut name = format!("{plain}_{suffix}");
        let mut count = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{plain}_{suffix}_{count}");
            count += 1;
        }
        name
    }

    /// Tells whether all of these can keep their plain names.
    pub(crate) fn are_free<'a>(&self, mut wires: impl Iterator<Item = &'a str>) -> bool {
        let mut own = HashSet::new();
        wires.all(|wire| {
            let name = argument_name(wire);
            !self.taken.contains(&name) && own.insert(name)
        })
    }
}

/// Turns a wire name into one that every client and Python accept: `filter[name]` → `filter_name`.
fn argument_name(wire: &str) -> String {
    const MAX: usize = 56;
    let mut name = String::with_capacity(wire.len());
    for c in wire.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if !wire.ends_with('_') {
        name.truncate(name.trim_end_matches('_').len());
    }
    name.truncate(MAX);
    match name.as_bytes().first() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n4_names_are_readable_snake_case() {
        for (from, to) in [
            ("repos/list-for-org", "repos_list_for_org"),
            ("listPetsByID", "list_pets_by_id"),
            ("HTTPServerGet", "http_server_get"),
            ("getV2Users", "get_v2_users"),
            ("  weird!!name__x ", "weird_name_x"),
            ("Äpfel", "pfel"),
        ] {
            assert_eq!(snake_case(from), to);
        }
        assert_eq!(snake_case(&name_from_path("get", "/pets/{petId}/toys")), "get_pets_by_pet_id_toys");
    }

    #[test]
    fn n4_clashing_and_long_names_are_told_apart_and_stay_within_the_budget() {
        let mut names = ToolNames::new("pack", ["taken".to_owned()].into_iter());
        assert_eq!(names.name("getPet", "GET /a"), ("get_pet".into(), false));
        let (second, changed) = names.name("get-pet", "GET /b");
        assert!(second.starts_with("get_pet_") && second.len() == 14 && changed, "{second}");
        assert_ne!(names.name("taken", "GET /c").0, "taken");
        let long = "list_".repeat(30);
        let (first, _) = names.name(&long, "GET /d");
        let (second, _) = names.name(&long, "GET /e");
        assert!(first.len() <= 59 && second.len() <= 59 && first != second, "{first} {second}");
    }

    #[test]
    fn arguments_get_names_that_clients_accept() {
        let mut names = ArgumentNames::default();
        for (wire, name) in [
            ("id", "id"),
            ("filter[name]", "filter_name"),
            ("ids[]", "ids"),
            ("$filter", "filter"),
            ("X-Request-Id", "X_Request_Id"),
            ("2fa", "_2fa"),
            ("ü", "value"),
        ] {
            assert_eq!(names.name(wire, "query"), name);
        }
        assert_eq!(names.name("id", "query"), "id_query");
        assert_eq!(names.name("id", "query"), "id_query_2");
    }
}
