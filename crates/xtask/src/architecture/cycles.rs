//! Cycles in a graph of names.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Returns the groups of names that reach each other, each with one of its shortest cycles.
///
/// A cycle `a → b → a` is `[a, b]`.
pub(super) fn cycles<'a>(
    edges: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(BTreeSet<&'a str>, Vec<&'a str>)> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().insert(to);
        next.entry(to).or_default();
    }
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|name| (*name, reachable(name, &next))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (name, reached) in &reachable {
        if !reached.contains(name) || seen.contains(name) {
            continue;
        }
        let group: BTreeSet<&str> =
            reached.iter().copied().filter(|other| reachable[other].contains(name)).collect();
        seen.extend(group.iter().copied());
        let shortest = group.iter().filter_map(|start| shortest_cycle(start, &next)).min_by_key(Vec::len);
        found.extend(shortest.map(|shortest| (group, shortest)));
    }
    found
}

fn reachable<'a>(start: &str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut queue: Vec<&str> = next[start].iter().copied().collect();
    while let Some(name) = queue.pop() {
        if reached.insert(name) {
            queue.extend(&next[name]);
        }
    }
    reached
}

fn shortest_cycle<'a>(start: &'a str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(name) = queue.pop_front() {
        for to in &next[name] {
            if *to == start {
                let back = std::iter::successors(Some(name), |name| before.get(name).copied());
                let mut cycle: Vec<&str> = back.collect();
                cycle.reverse();
                return Some(cycle);
            }
            if !before.contains_key(to) {
                before.insert(to, name);
                queue.push_back(to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn str_2_finds_each_group_with_its_shortest_cycle() {
        let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "b"), ("c", "d"), ("e", "f"), ("f", "e")];
        let found = cycles(edges.into_iter());
        assert_eq!(
            found,
            [(BTreeSet::from(["a", "b", "c"]), vec!["b", "c"]), (BTreeSet::from(["e", "f"]), vec!["e", "f"])]
        );
        assert_eq!(cycles([("a", "b"), ("a", "c"), ("b", "c")].into_iter()), []);
    }
}
