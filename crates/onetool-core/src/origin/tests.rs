//! Valid and invalid hosts and origins.

use super::*;

#[test]
fn low_1_a_host_is_what_a_url_parser_reads() {
    let local =
        ["localhost", "LOCALHOST:1", "127.0.0.1:7411", "127.8.8.8", "[::1]", "[::1]:80", "::1", "localhost:"];
    for text in local {
        assert!(Authority::parse(text).is_some_and(|it| it.is_loopback()), "{text}");
    }
    let remote = [
        "localhost.evil.org",
        "127.0.0.1.evil.org",
        "localhost.",
        "evil.org:80",
        "10.0.0.1",
        "0.0.0.0",
        "[::]",
        "xn--lcalhost-h1a",
        "localhost,evil.org",
    ];
    for text in remote {
        assert!(Authority::parse(text).is_some_and(|it| !it.is_loopback()), "{text}");
    }
    let invalid = [
        "",
        " ",
        ":80",
        "[::1].evil.org",
        "[::1]evil.org",
        "[::1",
        "[::1%25lo]",
        "[::1%lo]",
        "localhost:80@evil.org",
        "evil.org@localhost",
        "@localhost",
        "localhost:x",
        "localhost:65536",
        "localhost:-1",
        "localhost:80:80",
        "localhost/",
        "/localhost",
        "\\localhost",
        "localhost#",
        "localhost?",
        "localhost evil.org",
        " localhost",
        "localhost\t",
        "local\thost",
        "%6cocalhost",
        "http://localhost",
        "xn--a",
    ];
    for text in invalid {
        assert_eq!(Authority::parse(text), None, "{text}");
    }
}

#[test]
fn low_1_a_host_covers_its_ports() {
    let covers = |known: &str, requested: &str| {
        Authority::parse(known).unwrap().covers(&Authority::parse(requested).unwrap())
    };
    for requested in ["tools.example.org", "Tools.Example.Org:443", "tools.example.org:8080"] {
        assert!(covers("tools.example.org", requested), "{requested}");
    }
    assert!(covers("tools.example.org:443", "tools.example.org"), "the default port is not in the header");
    assert!(covers("tools.example.org:8080", "tools.example.org:8080"));
    assert!(covers("bücher.example", "xn--bcher-kva.example"));
    for requested in
        ["tools.example.org", "tools.example.org:80", "tools.example.org:80801", "example.org:8080"]
    {
        let Some(parsed) = Authority::parse(requested) else { continue };
        assert!(!Authority::parse("tools.example.org:8080").unwrap().covers(&parsed), "{requested}");
    }
}

#[test]
fn low_1_an_origin_is_a_scheme_a_host_and_a_port() {
    for text in ["http://localhost:3000", "https://127.0.0.1", "HTTP://LOCALHOST", "http://[::1]:80"] {
        assert!(WebOrigin::parse(text).is_some_and(|it| it.is_loopback()), "{text}");
    }
    assert_eq!(WebOrigin::parse("https://a.example:443"), WebOrigin::parse("https://A.example"));
    assert_ne!(WebOrigin::parse("http://a.example:443"), WebOrigin::parse("https://a.example"));
    assert_ne!(WebOrigin::parse("http://a.example:1"), WebOrigin::parse("http://a.example:2"));
    for text in ["http://localhost.evil.org", "http://evil.org", "http://localhost."] {
        assert!(WebOrigin::parse(text).is_some_and(|it| !it.is_loopback()), "{text}");
    }
    let invalid = [
        "null",
        "",
        "localhost",
        "http:localhost",
        "http:/localhost",
        "http://",
        "http:///localhost",
        "http://localhost/",
        "http://localhost:80@evil.org",
        "http://evil.org@localhost",
        "http://[::1].evil.org",
        "http://localhost\\evil.org",
        "http://localhost#evil.org",
        "http://localhost http://evil.org",
        "ws://localhost",
        "file://",
        "file://localhost",
        "chrome-extension://localhost",
    ];
    for text in invalid {
        assert_eq!(WebOrigin::parse(text), None, "{text}");
    }
}

#[test]
fn low_1_a_page_has_the_same_origin_if_its_host_and_port_are_requested() {
    let same = |origin: &str, host: &str| {
        WebOrigin::parse(origin).unwrap().is_served_by(&Authority::parse(host).unwrap())
    };
    assert!(same("http://a.example:8080", "A.example:8080"));
    assert!(same("https://a.example", "a.example"), "TLS may end at a proxy");
    assert!(same("http://a.example", "a.example:80"));
    assert!(!same("http://a.example:8080", "a.example"));
    assert!(!same("http://a.example:8080", "b.example:8080"));
    assert!(!same("http://a.example", "a.example:8080"));
}

#[test]
fn low_1_a_header_with_two_values_is_invalid() {
    let header = |values: &[&'static str]| Authority::from_header(values.iter().map(|it| it.as_bytes()));
    assert!(header(&["localhost"]).is_some());
    assert!(header(&["localhost", "localhost"]).is_none());
    assert!(header(&[]).is_none());
    assert!(header(&["ｌocalhost"]).is_none());
}
