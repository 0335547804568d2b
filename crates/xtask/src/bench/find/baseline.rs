//! What others rank by, over name and description: plain TF-IDF as FIND-5 words it, and BM25.

use std::collections::{BTreeMap, HashMap};

use super::Tool;

#[derive(Clone, Copy)]
pub(super) enum Formula {
    TfIdf,
    Bm25,
}

/// The words of every tool, counted.
pub(super) struct Baseline<'a> {
    tools: Vec<(&'a str, HashMap<String, f64>, f64)>,
    having: HashMap<String, f64>,
    mean_length: f64,
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and tools are small")]
impl<'a> Baseline<'a> {
    pub(super) fn new(tools: &'a [Tool]) -> Self {
        let mut counted = Vec::new();
        let mut having: HashMap<String, f64> = HashMap::new();
        for Tool { name, description } in tools {
            let mut counts: HashMap<String, f64> = HashMap::new();
            words(name).chain(words(description)).for_each(|word| *counts.entry(word).or_default() += 1.0);
            for word in counts.keys() {
                *having.entry(word.clone()).or_default() += 1.0;
            }
            let length = counts.values().sum();
            counted.push((name.as_str(), counts, length));
        }
        let mean_length =
            counted.iter().map(|(_, _, length)| length).sum::<f64>() / tools.len().max(1) as f64;
        Self { tools: counted, having, mean_length }
    }

    /// Returns the names of all tools that score above zero, best first.
    pub(super) fn rank(&self, formula: Formula, query: &str) -> Vec<String> {
        let mut query_counts: BTreeMap<String, f64> = BTreeMap::new();
        words(query).for_each(|word| *query_counts.entry(word).or_default() += 1.0);
        let score = |counts: &HashMap<String, f64>, length: f64| -> f64 {
            let of_word = |(word, times): (&String, &f64)| {
                let count = counts.get(word)?;
                Some(times * self.weight(formula, *count, length, self.having[word]))
            };
            query_counts.iter().filter_map(of_word).sum()
        };
        let scored = self.tools.iter().map(|(name, counts, length)| (score(counts, *length), *name));
        let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score > 0.0).collect();
        scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        scored.into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    fn weight(&self, formula: Formula, count: f64, length: f64, having: f64) -> f64 {
        let all = self.tools.len() as f64;
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
