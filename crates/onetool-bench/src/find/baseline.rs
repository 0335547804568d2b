//! Rankings to compare with, over name and description: plain TF-IDF as in FIND-5, and BM25.

use std::collections::{BTreeMap, HashMap};

use super::Tool;

#[derive(Clone, Copy)]
pub(super) enum Formula {
    TfIdf,
    Bm25,
}

/// How often each word occurs in each tool.
pub(super) struct Baseline<'a> {
    names: Vec<&'a str>,
    lengths: Vec<f64>,
    mean_length: f64,
    counts: HashMap<String, BTreeMap<usize, f64>>,
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and tools are small")]
impl<'a> Baseline<'a> {
    pub(super) fn new(tools: &'a [Tool]) -> Self {
        let mut counts: HashMap<String, BTreeMap<usize, f64>> = HashMap::new();
        let mut lengths = vec![0.0; tools.len()];
        for (at, Tool { name, description }) in tools.iter().enumerate() {
            for word in words(name).chain(words(description)) {
                *counts.entry(word).or_default().entry(at).or_default() += 1.0;
                lengths[at] += 1.0;
            }
        }
        let mean_length = lengths.iter().sum::<f64>() / tools.len().max(1) as f64;
        Self { names: tools.iter().map(|tool| tool.name.as_str()).collect(), lengths, mean_length, counts }
    }

    /// Returns the names of all tools that score above zero, best first.
    pub(super) fn rank(&self, formula: Formula, query: &str) -> Vec<String> {
        let mut scores = vec![0.0; self.names.len()];
        for word in words(query) {
            let Some(having) = self.counts.get(&word) else { continue };
            for (at, count) in having {
                scores[*at] += self.weight(formula, *count, self.lengths[*at], having.len() as f64);
            }
        }
        let scored = scores.into_iter().zip(&self.names).filter(|(score, _)| *score > 0.0);
        let mut scored: Vec<(f64, &&str)> = scored.collect();
        scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        scored.into_iter().map(|(_, name)| (*name).to_owned()).collect()
    }

    fn weight(&self, formula: Formula, count: f64, length: f64, having: f64) -> f64 {
        let all = self.names.len() as f64;
        match formula {
            Formula::TfIdf => count / length * (all / having).ln(),
            Formula::Bm25 => {
                let idf = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
                let norm = 1.2 * (0.25 + 0.75 * length / self.mean_length);
                idf * count * 2.2 / (count + norm)
            }
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rank_rare_words_in_short_texts_first() {
        let tools = [
            ("list_files", "List the files of a folder"),
            ("read_file", "Read the text of one file, or a part of the text"),
            ("send_mail", "Send a mail"),
        ]
        .map(|(name, description)| Tool { name: name.into(), description: description.into() });
        let baseline = Baseline::new(&tools);
        for formula in [Formula::TfIdf, Formula::Bm25] {
            assert_eq!(baseline.rank(formula, "Mail!"), ["send_mail"]);
            assert_eq!(baseline.rank(formula, "text of files")[0], "list_files");
            assert!(baseline.rank(formula, "weather").is_empty());
        }
    }
}
