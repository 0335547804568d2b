//! Tests for writing a report.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

const PAGE: &str = "<!doctype html>\n<!-- onetool statistics -->\n<p>";

/// A directory to write to, inside another one that must stay untouched.
fn root() -> (TempDir, std::path::PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("root");
    fs::create_dir_all(root.join("reports")).unwrap();
    (outer, root)
}

fn write(root: &Path, path: &str) -> Result<std::path::PathBuf, String> {
    write_report(root, path, PAGE, &ProtectedFiles::default()).map_err(|error| error.to_string())
}

#[test]
fn ot_6_4_the_page_is_written_to_the_given_path() {
    let (_outer, root) = root();
    let absolute = root.join("reports/b.html");
    for path in ["stats.html", "./reports/stats.html", absolute.to_str().unwrap(), "stats.html"] {
        let written = write(&root, path).unwrap();
        assert!(written.starts_with(&root), "{}", written.display());
        assert_eq!(fs::read_to_string(&written).unwrap(), PAGE);
    }
    let left: Vec<_> = fs::read_dir(&root).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn ot_6_6_a_path_that_cannot_be_written_says_why() {
    let (_outer, root) = root();
    let error = write(&root, "missing/stats.html").unwrap_err();
    assert_eq!(error, "Error: Cannot write to 'missing/stats.html': No such file or directory (os error 2)");
    for path in ["reports", "reports/", ".", "", "a\0b", "reports/\u{0}"] {
        let error = write(&root, path).unwrap_err();
        assert!(error.starts_with(&format!("Error: Cannot write to '{path}': ")), "{error}");
    }
    let error = write_report(&root.join("gone"), "stats.html", PAGE, &ProtectedFiles::default())
        .unwrap_err()
        .to_string();
    assert_eq!(error, "Error: Cannot write to 'stats.html': No such file or directory (os error 2)");
}

#[test]
fn ot_6_6_a_file_that_is_not_a_report_is_not_replaced() {
    let (_outer, root) = root();
    fs::write(root.join("notes.md"), "mine").unwrap();
    let error = write(&root, "notes.md").unwrap_err();
    assert_eq!(error, "Error: Cannot write to 'notes.md': a file that is not a report already exists there");
    assert_eq!(fs::read_to_string(root.join("notes.md")).unwrap(), "mine");
    fs::write(root.join("empty"), "").unwrap();
    write(&root, "empty").unwrap();
}

#[test]
fn l4_the_page_is_readable_by_its_owner_alone() {
    let (_outer, root) = root();
    let written = write(&root, "stats.html").unwrap();
    assert_eq!(fs::metadata(written).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn l4_no_path_leads_out_of_the_root() {
    let (outer, root) = root();
    let outside = outer.path().join("stats.html");
    symlink(outer.path(), root.join("link")).unwrap();
    symlink(&outside, root.join("link.html")).unwrap();
    symlink("..", root.join("reports/up")).unwrap();
    let absolute = outside.to_str().unwrap();
    let sneaky = format!("{}/../stats.html", root.display());
    let paths = [
        "../stats.html",
        "reports/../../stats.html",
        absolute,
        &sneaky,
        "/etc/stats.html",
        "link/stats.html",
        "link.html",
        "reports/up/../stats.html",
        "reports/up/stats.html",
    ];
    for path in paths {
        let error = write(&root, path).unwrap_err();
        let expected = "it must be inside the working directory, with no symlink on the way";
        assert_eq!(error, format!("Error: Cannot write to '{path}': {expected}"));
    }
    assert!(!outside.exists());
    let names: Vec<_> = fs::read_dir(outer.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["root"]);
}
