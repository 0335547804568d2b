//! A small TF-IDF over names, parameters and descriptions, with its reasons.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use onetool_core::Tool;
use onetool_web::{SearchAnswer, SearchHit, TermMatch};

const NEAR: f64 = 0.6;

/// Where a term stands, and what that counts.
const FIELDS: [(&str, f64); 4] = [("name", 3.0), ("pack", 1.5), ("parameters", 1.0), ("description", 1.0)];

/// The terms of every tool, by field.
pub(crate) struct Index {
    tools: Vec<(String, [Vec<String>; 4])>,
    frequency: HashMap<String, usize>,
}

impl Index {
    pub(crate) fn new(tools: &[Arc<dyn Tool>]) -> Self {
        let tools: Vec<_> = tools
            .iter()
            .map(|tool| {
                let spec = tool.spec();
                let parameters = spec.input_schema.get("properties").and_then(|it| it.as_object());
                let parameters: Vec<String> =
                    parameters.into_iter().flat_map(|it| it.keys().flat_map(|key| terms(key))).collect();
                let pack = spec.name.pack().map(terms).unwrap_or_default();
                (spec.name.to_string(), [terms(spec.name.tool()), pack, parameters, terms(&spec.description)])
            })
            .collect();
        let mut frequency = HashMap::new();
        for (_, fields) in &tools {
            let mut seen: Vec<&String> = fields.iter().flatten().collect();
            seen.sort_unstable();
            seen.dedup();
            for term in seen {
                *frequency.entry(term.clone()).or_default() += 1;
            }
        }
        Self { tools, frequency }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
    pub(crate) fn search(&self, query: &str, limit: usize) -> SearchAnswer {
        let begun = Instant::now();
        let wanted = terms(query);
        let mut hits: Vec<SearchHit> = Vec::new();
        for (name, fields) in &self.tools {
            let mut score = 0.0;
            let mut matched = Vec::new();
            for term in &wanted {
                let count = self.frequency.get(term).copied().unwrap_or(1);
                let idf = (1.0 + self.tools.len() as f64 / count as f64).ln();
                let mut here = Vec::new();
                for ((field, weight), held) in FIELDS.iter().zip(fields) {
                    let exact = held.contains(term);
                    if exact || held.iter().any(|it| it.starts_with(term)) {
                        score += idf * weight * if exact { 1.0 } else { 0.5 };
                        here.push((*field).to_owned());
                    }
                }
                if !here.is_empty() {
                    matched.push(TermMatch { term: term.clone(), fields: here });
                }
            }
            if score > 0.0 {
                hits.push(SearchHit { name: name.clone(), score: (score * 100.0).round() / 100.0, matched });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
        let total = hits.len();
        hits.truncate(limit);
        let suggestions = if total == 0 { self.near(query) } else { Vec::new() };
        let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        SearchAnswer { hits, total, suggestions, took_us }
    }

    fn near(&self, query: &str) -> Vec<String> {
        let mut near: Vec<(f64, &String)> = self
            .tools
            .iter()
            .map(|(name, _)| {
                let tool = name.split_once('.').map_or(name.as_str(), |(_, tool)| tool);
                (strsim::jaro_winkler(query, name).max(strsim::jaro_winkler(query, tool)), name)
            })
            .filter(|(likeness, _)| *likeness > NEAR)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(3).map(|(_, name)| name.clone()).collect()
    }
}

fn terms(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).map(str::to_lowercase).collect()
}
