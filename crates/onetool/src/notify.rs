//! Notes that agents leave: appended to the file of the first topic that matches, one YAML document each.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use onetool_core::matches_wildcard;

use crate::config::TopicConfig;
use onetool_core::clock::Timestamp;
use onetool_packs::ProtectedFiles;
use onetool_run::yaml::block_entry;

/// Maximum length of a topic, in characters. Matching takes longer for longer topics and cannot be interrupted.
const MAX_TOPIC: usize = 1000;

/// Why a note cannot be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotifyError {
    /// The topic is too long.
    #[error("the topic is longer than {MAX_TOPIC} characters; put the text into 'message'")]
    LongTopic,
    /// The file cannot be written.
    #[error("cannot append to {}", path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
}

/// The outcome of appending a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notified {
    /// The note was written to this file.
    Written(PathBuf),
    /// No topic matches.
    Skipped,
}

/// Appends a note to the file of the first topic that matches. This blocks.
///
/// Concurrent notes do not interleave: each is a single write at the end of the file.
pub(crate) fn append(
    topics: &[TopicConfig],
    topic: &str,
    message: &str,
    now: Timestamp,
    protected: &ProtectedFiles,
) -> Result<Notified, NotifyError> {
    if topic.chars().nth(MAX_TOPIC).is_some() {
        return Err(NotifyError::LongTopic);
    }
    let Some(found) = topics.iter().find(|it| matches_wildcard(&it.pattern, topic, Some(':'))) else {
        return Ok(Notified::Skipped);
    };
    let failed = |source| NotifyError::Append { path: found.file.to_path_buf(), source };
    append_whole(&found.file, &document(topic, message, now), protected).map_err(failed)?;
    Ok(Notified::Written(found.file.to_path_buf()))
}

fn document(topic: &str, message: &str, now: Timestamp) -> String {
    let (ts, topic, message) =
        (block_entry("ts", &now.to_rfc3339()), block_entry("topic", topic), block_entry("message", message));
    format!("---\n{ts}{topic}{message}")
}

fn append_whole(path: &Path, text: &str, protected: &ProtectedFiles) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    protected.check_named(&file).map_err(io::Error::other)?;
    let written = file.write(text.as_bytes())?;
    if written < text.len() {
        return Err(io::Error::new(io::ErrorKind::WriteZero, "the note was only partly written"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tempfile::TempDir;

    use super::*;

    fn topics(folder: &TempDir) -> Vec<TopicConfig> {
        let topic = |pattern: &str, file: &str| TopicConfig {
            pattern: pattern.into(),
            file: folder.path().join(file).into(),
        };
        vec![topic("notes", "notes.yaml"), topic("status:*", "status.yaml"), topic("**", "deep/rest.yaml")]
    }

    fn append_note(
        topics: &[TopicConfig],
        topic: &str,
        message: &str,
        now: Timestamp,
    ) -> Result<Notified, NotifyError> {
        append(topics, topic, message, now, &ProtectedFiles::default())
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn ot_4_1_a_note_is_appended_as_one_document() {
        let folder = TempDir::new().unwrap();
        let topics = topics(&folder);
        for message in ["built: yes", "two\nlines\n", "  odd\nstart", "12", "bell\u{7}\n"] {
            append_note(&topics, "notes", message, at(1_700_000_000)).unwrap();
        }
        let text = fs::read_to_string(folder.path().join("notes.yaml")).unwrap();
        assert_snapshot!(text, @r#"
        ---
        ts: "2023-11-14T22:13:20.000Z"
        topic: notes
        message: "built: yes"
        ---
        ts: "2023-11-14T22:13:20.000Z"
        topic: notes
        message: |
          two
          lines
        ---
        ts: "2023-11-14T22:13:20.000Z"
        topic: notes
        message: "  odd\nstart"
        ---
        ts: "2023-11-14T22:13:20.000Z"
        topic: notes
        message: "12"
        ---
        ts: "2023-11-14T22:13:20.000Z"
        topic: notes
        message: "bell\u0007\n"
        "#);
        let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&text).unwrap();
        let messages: Vec<&str> = documents.iter().map(|it| it["message"].as_str().unwrap()).collect();
        assert_eq!(messages, ["built: yes", "two\nlines\n", "  odd\nstart", "12", "bell\u{7}\n"]);
    }

    #[test]
    fn ot_4_1_the_first_matching_pattern_wins() {
        let folder = TempDir::new().unwrap();
        let topics = topics(&folder);
        let file = |topic: &str| match append_note(&topics, topic, "x", at(0)).unwrap() {
            Notified::Written(path) => path.strip_prefix(folder.path()).unwrap().display().to_string(),
            Notified::Skipped => "skipped".into(),
        };
        assert_eq!(file("notes"), "notes.yaml");
        assert_eq!(file("status:build"), "status.yaml");
        assert_eq!(file("status:build:linux"), "deep/rest.yaml");
    }

    #[test]
    fn ot_4_2_without_a_match_nothing_is_written() {
        let folder = TempDir::new().unwrap();
        assert_eq!(append_note(&topics(&folder)[..2], "other", "x", at(0)).unwrap(), Notified::Skipped);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn ot_4_1_the_file_belongs_to_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempDir::new().unwrap();
        append_note(&topics(&folder), "notes", "x", at(0)).unwrap();
        let mode = fs::metadata(folder.path().join("notes.yaml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn ot_4_1_a_file_that_cannot_be_written_is_named() {
        let folder = TempDir::new().unwrap();
        let topics = [TopicConfig { pattern: "*".into(), file: folder.path().to_owned().into() }];
        let error = append_note(&topics, "notes", "x", at(0)).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot append to {}", folder.path().display()));
    }

    #[test]
    fn ot_4_1_concurrent_writers_do_not_interleave() {
        let folder = TempDir::new().unwrap();
        let topics = topics(&folder);
        let message = "line\n".repeat(200);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    (0..25).for_each(|_| drop(append_note(&topics, "notes", &message, at(0)).unwrap()));
                });
            }
        });
        let text = fs::read_to_string(folder.path().join("notes.yaml")).unwrap();
        let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&text).unwrap();
        assert_eq!(documents.len(), 200);
        assert!(documents.iter().all(|it| it["message"] == *message));
    }

    #[test]
    fn h12_a_topic_that_is_too_long_is_refused_before_it_is_matched() {
        let folder = TempDir::new().unwrap();
        let error = append_note(&topics(&folder), &"a:".repeat(2_000_000), "x", at(0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the topic is longer than 1000 characters; put the text into 'message'"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        append_note(&topics(&folder), &"ü".repeat(1000), "x", at(0)).unwrap();
    }
}
