//! Readable, unique names for tools and arguments.

use std::collections::HashSet;

use onetool_core::FLAT_NAME_MAX;

/// The room for tool names that a pack name must leave.
const MIN_TOOL_NAME_ROOM: usize = 24;

/// Maximum length of a pack name.
pub(crate) const PACK_NAME_MAX: usize = FLAT_NAME_MAX - 1 - MIN_TOOL_NAME_ROOM;

/// Assigns names to the operations of one document, in the document's order.
pub(crate) struct ToolNames {
    max_length: usize,
    taken: HashSet<String>,
}

impl ToolNames {
    /// Starts with no names taken except `reserved`, the names that the operator chose.
    pub(crate) fn new(pack: &str, reserved: impl Iterator<Item = String>) -> Self {
        Self { max_length: FLAT_NAME_MAX.saturating_sub(pack.len() + 1), taken: reserved.collect() }
    }

    /// Returns the name of an operation, and whether it was shortened or made unique.
    ///
    /// `key` is unique in the document (`GET /pets`). If the name is taken, a hash of the key makes it unique, the same
    /// way on every start.
    pub(crate) fn assign(&mut self, preferred: &str, key: &str) -> (String, bool) {
        let full = snake_case(preferred);
        let full = if full.is_empty() { "operation".to_owned() } else { full };
        let short = shorten(&full, self.max_length);
        let changed = short.len() < full.len();
        if self.taken.insert(short.to_owned()) {
            return (short.to_owned(), changed);
        }
        for salt in 0_u32.. {
            let name =
                format!("{}_{:06x}", shorten(&full, self.max_length - 7), hash(key, salt) & 0x00ff_ffff);
            if self.taken.insert(name.clone()) {
                return (name, true);
            }
        }
        unreachable!("invariant: fewer than 2^32 names are taken")
    }
}

/// Returns a name for an operation without operationId: `get_pets_by_pet_id`.
pub(crate) fn name_from_path(method: &str, path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty()).map(|part| {
        let variable = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        variable.map_or_else(|| part.to_owned(), |variable| format!("by_{variable}"))
    });
    std::iter::once(method.to_owned()).chain(parts).collect::<Vec<_>>().join("_")
}

/// Splits words at case changes and at characters other than letters and digits: `listPetsByID` → `list_pets_by_id`.
pub(crate) fn snake_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut previous: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_ascii_alphanumeric() {
            let starts_word = c.is_ascii_uppercase()
                && previous.is_some_and(|previous| {
                    previous.is_ascii_lowercase()
                        || previous.is_ascii_digit()
                        || (previous.is_ascii_uppercase()
                            && rest.peek().is_some_and(char::is_ascii_lowercase))
                });
            if starts_word && !out.ends_with('_') {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        previous = Some(c);
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// Cuts a name to `max` characters, at a word boundary unless that loses more than half of them.
fn shorten(name: &str, max: usize) -> &str {
    if name.len() <= max {
        return name;
    }
    let cut = &name[..max];
    let end = if name.as_bytes()[max] == b'_' { max } else { cut.rfind('_').unwrap_or(max) };
    cut[..if end * 2 < max { max } else { end }].trim_end_matches('_')
}

/// Computes 32-bit FNV-1a, which is the same in every release, unlike the standard hasher.
fn hash(text: &str, salt: u32) -> u32 {
    let bytes = text.bytes().chain(salt.to_le_bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Assigns names to the arguments of one operation.
#[derive(Default)]
pub(crate) struct ArgumentNames {
    taken: HashSet<String>,
}

impl ArgumentNames {
    /// Returns a name for the argument that is sent as `wire_name`; if it is taken, appends `suffix`.
    pub(crate) fn assign(&mut self, wire_name: &str, suffix: &str) -> String {
        let plain = argument_name(wire_name);
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

    /// Returns whether all of these arguments can have their names without a suffix.
    pub(crate) fn are_free<'a>(&self, mut wire_names: impl Iterator<Item = &'a str>) -> bool {
        let mut seen = HashSet::new();
        wire_names.all(|wire_name| {
            let name = argument_name(wire_name);
            !self.taken.contains(&name) && seen.insert(name)
        })
    }
}

/// Turns a wire name into one that is valid for every client and in Python: `filter[name]` → `filter_name`.
fn argument_name(wire_name: &str) -> String {
    const MAX: usize = 56;
    let mut name = String::with_capacity(wire_name.len());
    for c in wire_name.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    if !wire_name.ends_with('_') {
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
    fn n4_clashing_and_long_names_become_unique_and_stay_within_the_limit() {
        let mut names = ToolNames::new("pack", ["taken".to_owned()].into_iter());
        assert_eq!(names.assign("getPet", "GET /a"), ("get_pet".into(), false));
        let (second, changed) = names.assign("get-pet", "GET /b");
        assert!(second.starts_with("get_pet_") && second.len() == 14 && changed, "{second}");
        assert_ne!(names.assign("taken", "GET /c").0, "taken");
        let long = "list_".repeat(30);
        let (first, _) = names.assign(&long, "GET /d");
        let (second, _) = names.assign(&long, "GET /e");
        assert!(first.len() <= 59 && second.len() <= 59 && first != second, "{first} {second}");
    }

    #[test]
    fn argument_names_are_valid_for_clients() {
        let mut names = ArgumentNames::default();
        for (wire_name, name) in [
            ("id", "id"),
            ("filter[name]", "filter_name"),
            ("ids[]", "ids"),
            ("$filter", "filter"),
            ("X-Request-Id", "X_Request_Id"),
            ("2fa", "_2fa"),
            ("ü", "value"),
        ] {
            assert_eq!(names.assign(wire_name, "query"), name);
        }
        assert_eq!(names.assign("id", "query"), "id_query");
        assert_eq!(names.assign("id", "query"), "id_query_2");
    }
}
