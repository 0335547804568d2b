//! Searches the index, for `cargo xtask bench find`: rankings for a set of queries, or times at scale.
//!
//! ```sh
//! cargo run --release --ignore-rust-version -p onetool-bench --example search_index -- run DIR > RUN.jsonl
//! ```
//!
//! DIR contains `tools.jsonl` (`{name, description, inputSchema?, server?}`) and `queries.jsonl` (`{query, gold}`).

#![expect(clippy::print_stdout, reason = "the benchmark reads the rankings")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes and fractions in a benchmark"
)]

use std::error::Error;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::time::Instant;

use onetool::search::{Document, Index};
use serde_json::{Map, Value, json};

/// The length of a ranking; the measures look at the first ten.
const RANKED: usize = 100;
/// The number of timed queries at each size.
const QUERIES: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["run", directory] => rank(Path::new(directory)),
        ["scale"] => scale(),
        _ => Err("usage: search_index run DIR | search_index scale".into()),
    }
}

fn rank(directory: &Path) -> Result<(), Box<dyn Error>> {
    let mut index = Index::new();
    for tool in lines(&directory.join("tools.jsonl"))? {
        let text = |key: &str| tool[key].as_str().unwrap_or_default();
        index.insert(&Document {
            name: text("name"),
            description: text("description"),
            pack: text("server"),
            input_schema: tool["inputSchema"].as_object(),
            ..Document::default()
        });
    }
    let mut out = BufWriter::new(stdout().lock());
    for query in lines(&directory.join("queries.jsonl"))? {
        let query = query["query"].as_str().ok_or("a query is not a string")?;
        let hits = index.search(query, RANKED);
        let ranked: Vec<&str> = hits.iter().map(|hit| &*hit.name).collect();
        writeln!(out, "{}", json!({"query": query, "ranked": ranked}))?;
    }
    out.flush()?;
    Ok(())
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Builds an index of many generated tools and searches it, at three sizes.
///
/// Percentiles are wall-clock times, which include other work of the machine. CPU times do not.
fn scale() -> Result<(), Box<dyn Error>> {
    println!(
        "   tools  build ms  on cpu ms  memory MB  bytes/tool   p50 ms   p95 ms   p99 ms  mean on cpu ms  replace ms"
    );
    for size in [1_000_u32, 10_000, 100_000] {
        let mut random = Random(u64::from(size));
        // Real collections of 500 to 4,000 tools have about 110 words times the square root of the number of tools.
        let lexicon = Lexicon::new(&mut random, 110 * size.isqrt());
        let tools: Vec<Generated> = (0..size).map(|number| lexicon.tool(&mut random, number)).collect();
        let queries: Vec<String> = (0..QUERIES).map(|_| lexicon.query(&mut random, &tools)).collect();

        let before = resident_bytes()?;
        let mut index = Index::new();
        let build = Times::measure([()], |()| tools.iter().for_each(|tool| index.insert(&tool.document())))?;
        // The first search builds structures that count as memory.
        index.search(&queries[0], 5);
        let memory = resident_bytes()?.saturating_sub(before);

        let mut found = 0;
        let searches =
            Times::measure(&queries, |query| found += usize::from(!index.search(query, 5).is_empty()))?;
        if found < queries.len() {
            return Err(
                format!("{} of {} queries found nothing", queries.len() - found, queries.len()).into()
            );
        }
        let changes =
            Times::measure(tools.iter().step_by(tools.len() / 100), |tool| index.insert(&tool.document()))?;
        println!(
            "{size:>8}  {:>8.1}  {:>9.1}  {:>9.1}  {:>10}  {:>7.3}  {:>7.3}  {:>7.3}  {:>14.3}  {:>10.3}",
            build.percentile(50),
            build.mean_on_processor,
            memory as f64 / 1e6,
            memory / u64::from(size),
            searches.percentile(50),
            searches.percentile(95),
            searches.percentile(99),
            searches.mean_on_processor,
            changes.percentile(50),
        );
    }
    Ok(())
}

/// The times of repetitions in milliseconds.
struct Times {
    sorted: Vec<f64>,
    /// Only a mean, because some systems count this time in steps of several milliseconds.
    mean_on_processor: f64,
}

impl Times {
    fn measure<T>(
        items: impl IntoIterator<Item = T>,
        mut work: impl FnMut(T),
    ) -> Result<Self, Box<dyn Error>> {
        let mut sorted = Vec::new();
        let before = processor_nanos()?;
        for item in items {
            let start = Instant::now();
            work(item);
            sorted.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let mean_on_processor = (processor_nanos()? - before) as f64 / 1e6 / sorted.len() as f64;
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted, mean_on_processor })
    }

    fn percentile(&self, percent: usize) -> f64 {
        self.sorted[(self.sorted.len() - 1) * percent / 100]
    }
}

/// Returns the CPU time of this thread.
fn processor_nanos() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(status.split(' ').next().ok_or("/proc/thread-self/schedstat is empty")?.parse()?)
}

/// A generated tool of realistic size.
struct Generated {
    name: String,
    description: String,
    pack: String,
    schema: Map<String, Value>,
}

impl Generated {
    fn document(&self) -> Document<'_> {
        Document {
            name: &self.name,
            description: &self.description,
            pack: &self.pack,
            input_schema: Some(&self.schema),
            ..Document::default()
        }
    }
}

/// Made-up words. As in a language, a few are common and many are rare.
struct Lexicon(Vec<String>);

impl Lexicon {
    fn new(random: &mut Random, size: u32) -> Self {
        const SYLLABLES: [&str; 24] = [
            "ba", "con", "de", "fi", "ga", "ho", "in", "jo", "ka", "lo", "mer", "no", "or", "pa", "qui",
            "re", "sen", "ti", "ul", "ver", "wa", "xi", "yo", "ze",
        ];
        let word = |random: &mut Random| -> String {
            (0..2 + random.below(3)).map(|_| SYLLABLES[random.below(24) as usize]).collect()
        };
        Self((0..size).map(|_| word(random)).collect())
    }

    /// Picks a word; the n-th is picked about 1/n as often as the first.
    fn word(&self, random: &mut Random) -> &str {
        let size = self.0.len() as f64;
        &self.0[(size.powf(random.fraction()) as usize - 1).min(self.0.len() - 1)]
    }

    fn words(&self, random: &mut Random, count: u64) -> String {
        (0..count).map(|_| self.word(random)).collect::<Vec<_>>().join(" ")
    }

    fn tool(&self, random: &mut Random, number: u32) -> Generated {
        const VERBS: [&str; 8] = ["get", "list", "create", "delete", "update", "search", "send", "run"];
        // A server has about twenty tools.
        let pack = format!("{}{}", self.0[number as usize / 20 % self.0.len()], number / 20);
        let verb = VERBS[random.below(8) as usize];
        let name = format!("{pack}.{verb}_{}_{}_{number}", self.word(random), self.word(random));
        let count = 6 + random.below(24);
        let description = format!("{verb} the {} for {}.", self.words(random, count), self.words(random, 3));
        let parameters = 1 + random.below(6);
        let properties: Map<String, Value> = (0..parameters)
            .map(|_| {
                let text = self.words(random, 8);
                (self.words(random, 2).replace(' ', "_"), json!({"type": "string", "description": text}))
            })
            .collect();
        let schema = Map::from_iter([("properties".to_owned(), Value::Object(properties))]);
        Generated { name, description, pack, schema }
    }

    /// Returns a query for a tool: some of its words, some others, sometimes a typo or a second sentence.
    fn query(&self, random: &mut Random, tools: &[Generated]) -> String {
        let tool = &tools[random.below(tools.len() as u64) as usize];
        let mut words: Vec<&str> = tool.description.split(' ').filter(|_| random.below(3) == 0).collect();
        words.extend(["please", "get", self.word(random), self.word(random)]);
        let mut query = words.join(" ");
        if random.below(4) == 0 {
            query.push('x');
        }
        if random.below(4) == 0 {
            query.push_str(". Then list ");
            query.push_str(&self.words(random, 6));
        }
        query
    }
}

/// xorshift64*: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 32) % bound
    }

    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns the resident memory of this process.
fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS in /proc/self/status")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}
