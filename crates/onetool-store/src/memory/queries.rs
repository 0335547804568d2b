//! Remembered queries in memory.

use std::collections::HashMap;

use onetool_core::clock::Timestamp;

use crate::store::{MAX_QUERIES, RememberedQuery};

/// For each tool, the queries that led to it, and when they did last.
#[derive(Default)]
pub(super) struct Queries(HashMap<String, HashMap<String, Timestamp>>);

impl Queries {
    pub(super) fn remember(&mut self, tool: &str, query: &str, at: Timestamp, max_per_tool: usize) {
        let queries = self.0.entry(tool.to_owned()).or_default();
        let latest = queries.entry(query.to_owned()).or_insert(at);
        *latest = at.max(*latest);
        while queries.len() > max_per_tool {
            let oldest = queries.iter().min_by(|(a, at_a), (b, at_b)| at_a.cmp(at_b).then_with(|| b.cmp(a)));
            let Some(oldest) = oldest.map(|(query, _)| query.clone()) else { break };
            queries.remove(&oldest);
        }
        self.limit_all();
    }

    fn limit_all(&mut self) {
        if self.0.values().map(HashMap::len).sum::<usize>() <= MAX_QUERIES {
            return;
        }
        let all = self.0.iter().flat_map(|(tool, queries)| queries.iter().map(move |it| (tool, it)));
        let oldest = all.min_by_key(|(_, (_, at))| **at);
        if let Some((tool, query)) = oldest.map(|(tool, (query, _))| (tool.clone(), query.clone()))
            && let Some(queries) = self.0.get_mut(&tool)
        {
            queries.remove(&query);
        }
        self.0.retain(|_, queries| !queries.is_empty());
    }

    /// Returns all queries, the oldest first.
    pub(super) fn all(&self) -> Vec<RememberedQuery> {
        let all = self.0.iter().flat_map(|(tool, queries)| queries.iter().map(move |it| (tool, it)));
        let mut all: Vec<_> = all.collect();
        all.sort_by(|(_, (a, at_a)), (_, (b, at_b))| at_a.cmp(at_b).then_with(|| a.cmp(b)));
        let remembered = |(tool, (query, _)): (&String, (&String, &Timestamp))| RememberedQuery {
            tool: tool.clone(),
            query: query.clone(),
        };
        all.into_iter().map(remembered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_queries_make_room_for_new_ones() {
        let mut queries = Queries::default();
        for number in 0..MAX_QUERIES {
            let at = Timestamp::from_millis(i64::try_from(number).unwrap());
            queries.0.entry("a.b".into()).or_default().insert(number.to_string(), at);
        }
        queries.remember("c.d", "new", Timestamp::from_millis(1_000_000), 10);
        let all = queries.all();
        assert_eq!((all.len(), all[0].query.as_str()), (MAX_QUERIES, "1"));
    }
}
