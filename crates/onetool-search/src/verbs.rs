//! Verbs with similar meanings.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::tokenize::tokens;

/// Groups of verbs that users and authors of tools use interchangeably.
const VERBS: &[&str] = &[
    "get fetch read show retrieve obtain load view display access",
    "search find query lookup look discover locate seek explore",
    "create add new make generate insert build register",
    "delete remove drop erase clear destroy purge",
    "update edit set modify change patch alter adjust",
    "list enumerate browse index",
    "send post submit publish deliver share",
    "run execute invoke call start launch trigger",
    "stop cancel end terminate kill abort halt",
    "calculate compute evaluate determine estimate",
    "convert transform translate change",
    "check verify validate test confirm inspect",
    "analyze analyse assess evaluate examine",
    "write save store put",
    "download export pull",
    "upload import push",
    "book reserve schedule order",
    "buy purchase order",
    "summarize summarise summary digest",
    "recommend suggest propose",
    "compare diff",
    "join merge combine",
    "copy duplicate clone",
    "move rename transfer",
    "track monitor watch follow",
    "plan organize organise arrange",
];

/// For each verb's stem, the other verbs in its groups.
static GROUPS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut groups: HashMap<String, Vec<String>> = HashMap::new();
    for verbs in VERBS {
        let stems: Vec<String> = tokens(verbs).into_iter().map(|token| token.text).collect();
        for stem in &stems {
            let others = stems.iter().filter(|other| *other != stem).cloned();
            groups.entry(stem.clone()).or_default().extend(others);
        }
    }
    groups
});

/// Returns the stems of verbs whose meaning is similar to the one with this stem.
pub(crate) fn same_verbs(stem: &str) -> &'static [String] {
    GROUPS.get(stem).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_has_the_other_verbs_of_all_its_groups() {
        assert!(["purchas", "book"].iter().all(|verb| same_verbs("order").iter().any(|other| other == verb)));
        assert!(!same_verbs("order").iter().any(|other| other == "order"));
        assert!(same_verbs("weather").is_empty());
        assert!(VERBS.iter().all(|verbs| tokens(verbs).iter().all(|token| !token.is_stop_word)));
    }
}
