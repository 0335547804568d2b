//! `Seconds`, `AtLeast`, `NonEmpty`, `FilePath` and `HttpUrl`: which values they accept, and their schemas.

use std::path::Path;
use std::time::Duration;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{message, value};
use crate::{AtLeast, FilePath, HttpUrl, NonEmpty, Seconds, Secret};

fn schema<T: JsonSchema>() -> Value {
    T::json_schema(&mut SchemaGenerator::default()).to_value()
}

#[test]
fn seconds_are_above_0_and_at_most_a_day() {
    assert_eq!(*value::<Seconds>("v: 30").unwrap(), Duration::from_secs(30));
    assert_eq!(*value::<Seconds>("v: 0.25").unwrap(), Duration::from_millis(250));
    assert_eq!(*value::<Seconds>("v: 86400").unwrap(), Duration::from_hours(24));
    for text in ["0", "-1", "86400.1", "1e300", "0.0000000001"] {
        let error = message::<Seconds>(&format!("v: {text}"));
        assert_eq!(error, "'v': must be more than 0 and at most 86400 seconds", "{text}");
    }
    assert_eq!(message::<Seconds>("v: soon"), "'v' must be a number, not text");
    assert_eq!(message::<Seconds>("v: .inf"), "'v' must be a number, not text");
    assert_eq!(json!([Seconds::new(5), Seconds::from(Duration::from_millis(1500))]), json!([5, 1.5]));
    assert_eq!(schema::<Seconds>(), json!({"type": "number", "exclusiveMinimum": 0, "maximum": 86400}));
}

#[test]
fn at_least_rejects_smaller_numbers() {
    assert_eq!(value::<AtLeast<16>>("v: 16").unwrap().get(), 16);
    assert_eq!(value::<AtLeast<0>>("v: 18446744073709551615").unwrap().size(), usize::MAX);
    assert_eq!(message::<AtLeast<16>>("v: 15"), "'v': must be at least 16");
    assert_eq!(message::<AtLeast<1>>("v: 0"), "'v': must be at least 1");
    assert_eq!(
        message::<AtLeast<1>>("v: -5"),
        "'v' must be a whole number, 0 or more, not a negative number"
    );
    assert_eq!(AtLeast::<16>::new(3).get(), 16, "a default is never invalid");
    assert_eq!(json!(AtLeast::<1>::new(7)), json!(7));
    assert_eq!(schema::<AtLeast<16>>(), json!({"type": "integer", "minimum": 16}));
}

#[test]
fn text_that_must_not_be_empty_must_not_be_blank() {
    assert_eq!(&*value::<NonEmpty>("v: a").unwrap(), "a");
    assert_eq!(value::<NonEmpty>("v: 1.10").unwrap().into_string(), "1.10");
    for text in ["''", "'  '", "\"\\n\"", "${EMPTY}"] {
        assert_eq!(message::<NonEmpty>(&format!("v: {text}")), "'v': must not be empty", "{text}");
    }
    assert_eq!(message::<NonEmpty>("v:"), "'v' must be text, not empty");
    assert_eq!(schema::<NonEmpty>(), json!({"type": "string", "minLength": 1}));
}

#[test]
fn paths_become_absolute() {
    let path = |text: &str| value::<FilePath>(text).unwrap().into_path();
    assert_eq!(path("v: a/b"), Path::new("/etc/a/b"));
    assert_eq!(path("v: ./a/./b/"), Path::new("/etc/a/b"));
    assert_eq!(path("v: ../a"), Path::new("/etc/../a"));
    assert_eq!(path("v: /srv/a"), Path::new("/srv/a"));
    assert_eq!(path("v: ${TOKEN}"), Path::new("/etc/canary-4711"));
    assert_eq!(message::<FilePath>("v: ' '"), "'v': must not be empty");
    assert_eq!(message::<Vec<FilePath>>("v: [a, {}]"), "'v[1]' must be text, not a map");
    assert_eq!(value::<Option<FilePath>>("v:").unwrap(), None);
}

#[test]
fn urls_are_http_or_https_with_a_host() {
    assert_eq!(value::<HttpUrl>("v: https://a.example/x?y").unwrap().as_str(), "https://a.example/x?y");
    assert_eq!(value::<HttpUrl>("v: http://127.0.0.1:8080").unwrap().into_url().port(), Some(8080));
    for text in ["ftp://a.example/", "mailto:a@b.example", "file:///etc/passwd"] {
        assert_eq!(message::<HttpUrl>(&format!("v: {text}")), "'v': must begin with http:// or https://");
    }
    for text in ["a.example", "http://", "https://a b/"] {
        let error = message::<HttpUrl>(&format!("v: '{text}'"));
        assert!(error.starts_with("'v': invalid URL: "), "{error}");
    }
    assert_eq!(schema::<HttpUrl>(), json!({"type": "string", "format": "uri"}));
}

#[test]
fn l2_debug_output_shows_neither_passwords_nor_secrets() {
    let url = HttpUrl::parse("https://ada:s3cret@a.example/s3cret").unwrap();
    assert_eq!(format!("{url:?}"), "HttpUrl(a.example)");
    let secret: Secret = value("v: s3cret").unwrap();
    assert_eq!((format!("{secret:?}"), secret.expose()), ("[redacted]".into(), "s3cret"));
}
