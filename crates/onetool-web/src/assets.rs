//! The files of the page, embedded as they are written, but for their comments.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The library that the page is built with; it says itself whose it is.
const VENDORED: &str = "preact-htm.js";

/// One file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) etag: String,
    gzip: OnceLock<Vec<u8>>,
}

/// Returns the file of that name.
pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../assets/", $name)) as &[u8])),*]
    };
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files = embed![
        "theme.js",
        "look.css",
        "app.css",
        "icon.svg",
        "preact-htm.js",
        "data.js",
        "form.js",
        "main.js",
        "shared.js",
        "tools.js",
        "views.js",
    ];
    files.into_iter().map(|(name, bytes)| Asset::new(name, bytes)).collect()
});

impl Asset {
    fn new(name: &'static str, bytes: &'static [u8]) -> Self {
        let bytes = if name == VENDORED { bytes.to_vec() } else { without_comments(bytes) };
        let content_type = match name.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "application/octet-stream",
        };
        let etag = format!("\"{:016x}\"", fnv1a(&bytes));
        Self { name, content_type, bytes, etag, gzip: OnceLock::new() }
    }

    /// Returns the file compressed, which is done when it is first asked for.
    pub(crate) fn gzip(&self) -> &[u8] {
        self.gzip.get_or_init(|| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            // Writing to memory cannot fail.
            let _ = encoder.write_all(&self.bytes);
            encoder.finish().unwrap_or_default()
        })
    }
}

/// Leaves out lines that are nothing but a comment: they are for whoever reads the source, and a tenth of the weight.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let is_comment = |line: &&[u8]| {
        let line = line.trim_ascii();
        line.starts_with(b"//") || (line.starts_with(b"/*") && line.ends_with(b"*/"))
    };
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_comment(line)).collect::<Vec<_>>().concat()
}

/// 64-bit FNV-1a. It only has to tell one release of a file from the next.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW_BUDGET: usize = 160_000;
    const GZIP_BUDGET: usize = 50_000;

    /// The files that we wrote; the vendored library is somebody else's.
    fn ours() -> impl Iterator<Item = (&'static str, &'static str)> {
        let texts = ASSETS.iter().filter(|asset| asset.name != VENDORED);
        let texts = texts.map(|asset| (asset.name, std::str::from_utf8(&asset.bytes).unwrap()));
        texts.chain([("index.html", include_str!("../assets/index.html"))])
    }

    #[test]
    fn the_page_stays_small() {
        let page = include_bytes!("../assets/index.html").len();
        let raw: usize = page + ASSETS.iter().map(|asset| asset.bytes.len()).sum::<usize>();
        let gzip: usize = page + ASSETS.iter().map(|asset| asset.gzip().len()).sum::<usize>();
        println!("assets: {raw} bytes, {gzip} compressed");
        assert!(raw < RAW_BUDGET, "{raw} bytes");
        assert!(gzip < GZIP_BUDGET, "{gzip} bytes compressed");
    }

    #[test]
    fn o7_no_asset_makes_code_of_strings_or_looks_elsewhere() {
        let banned =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write"];
        for (name, text) in ours() {
            for word in banned {
                assert!(!text.contains(word), "{name} has {word}");
            }
            assert!(!text.contains("style="), "{name} has an inline style, which the policy forbids");
            let urls = text.replace("http://www.w3.org/2000/svg", "");
            let foreign = urls.split("http").skip(1).filter(|rest| {
                let rest = rest.trim_start_matches('s');
                rest.strip_prefix("://")
                    .is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric()))
            });
            assert_eq!(foreign.count(), 0, "{name} names another host");
        }
    }

    #[test]
    fn comments_stay_at_home() {
        let source = b"// head\nlet a = 1; // kept\n  /** about b */\nlet b = `\n  text`;\n";
        assert_eq!(without_comments(source), b"let a = 1; // kept\nlet b = `\n  text`;\n");
        assert!(ours().all(|(_, text)| !text.contains("\n// ")));
    }

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_page = name == "index.html";
            assert!(is_page || find(&name).is_some(), "add {name} to assets.rs");
        }
    }
}
