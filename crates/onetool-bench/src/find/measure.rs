//! The usual measures of a ranking's quality.

use std::collections::HashSet;
use std::fmt;

/// The measures of one ranking, or their means over many.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Measures {
    recall_1: f64,
    recall_5: f64,
    ndcg_10: f64,
    reciprocal_rank: f64,
    count: f64,
}

impl Measures {
    pub(super) const HEAD: &str = "Recall@1  Recall@5   nDCG@10       MRR";

    /// Compares a ranking, best first, with the correct names, which are equally good.
    pub(super) fn new(ranked: &[String], gold: &HashSet<String>) -> Self {
        let right: Vec<usize> =
            (1..).zip(ranked).filter(|(_, it)| gold.contains(*it)).map(|(at, _)| at).collect();
        let recall =
            |depth| float(right.iter().filter(|place| **place <= depth).count()) / float(gold.len().max(1));
        let gain = |place: usize| 1.0 / float(place + 1).log2();
        let best: f64 = (1..=gold.len().clamp(1, 10)).map(gain).sum();
        Self {
            recall_1: recall(1),
            recall_5: recall(5),
            ndcg_10: right.iter().copied().filter(|place| *place <= 10).map(gain).sum::<f64>() / best,
            reciprocal_rank: right.first().map_or(0.0, |place| 1.0 / float(*place)),
            count: 1.0,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "places in a list")]
fn float(number: usize) -> f64 {
    number as f64
}

impl FromIterator<Self> for Measures {
    fn from_iter<T: IntoIterator<Item = Self>>(rankings: T) -> Self {
        let mut sum = Self::default();
        for it in rankings {
            sum.recall_1 += it.recall_1;
            sum.recall_5 += it.recall_5;
            sum.ndcg_10 += it.ndcg_10;
            sum.reciprocal_rank += it.reciprocal_rank;
            sum.count += it.count;
        }
        let mean = |value: f64| value / sum.count.max(1.0);
        Self {
            recall_1: mean(sum.recall_1),
            recall_5: mean(sum.recall_5),
            ndcg_10: mean(sum.ndcg_10),
            reciprocal_rank: mean(sum.reciprocal_rank),
            count: sum.count,
        }
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { recall_1, recall_5, ndcg_10, reciprocal_rank, .. } = self;
        write!(f, "{recall_1:>8.4}  {recall_5:>8.4}  {ndcg_10:>8.4}  {reciprocal_rank:>8.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_one_ranking_and_two() {
        let gold = HashSet::from(["b".to_owned(), "d".to_owned()]);
        let ranked = ["a", "b", "c"].map(str::to_owned);
        let one = Measures::new(&ranked, &gold);
        assert_eq!(one.to_string(), "  0.0000    0.5000    0.3869    0.5000");
        let empty = Measures::new(&[], &gold);
        let both: Measures = [one, empty].into_iter().collect();
        assert_eq!(both.to_string(), "  0.0000    0.2500    0.1934    0.2500");
    }
}
