//! The built-in packs, from the command line.

use std::fs;

use crate::Sandbox;

#[test]
fn files_are_read_searched_and_changed() {
    let sandbox = Sandbox::with_config("packs: {file: {roots: [..]}}\n");
    fs::write(sandbox.path().join("notes.md"), "one\ntwo\nthree\n").unwrap();
    let run = |arguments: &[&str]| {
        let (stdout, stderr, code) = sandbox.run(arguments);
        assert_eq!(code, 0, "{stderr}");
        stdout
    };
    assert_eq!(run(&["call", "file.read", "path=notes.md"]), "one\ntwo\nthree\n");
    let part = run(&["call", "file.read", "path=notes.md", "offset=2", "limit=1"]);
    assert_eq!(part, "two\n\n(there is more; continue with offset=3)\n");
    assert_eq!(run(&["call", "ripgrep.search", "pattern=t\\w+e", "path=notes.md"]), "notes.md:3:three\n");
    run(&["call", "file.edit", "path=notes.md", "old=two", "new=2"]);
    assert_eq!(fs::read_to_string(sandbox.path().join("notes.md")).unwrap(), "one\n2\nthree\n");
    assert_eq!(run(&["run", "len(file.search(pattern='*.md')['paths'])"]), "1\n");
    let (_, stderr, code) = sandbox.run(&["call", "file.read", "path=../etc/passwd"]);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("is outside the directories that this pack can access ([directory])"),
        "{stderr}"
    );
}

#[test]
fn a_fresh_install_has_the_packs_that_need_no_configuration() {
    let sandbox = Sandbox::empty();
    let tools = sandbox.run(&["tools", "--info", "list"]).0;
    for name in ["web.fetch", "brave.web_search", "package.crates", "llm.transform"] {
        assert!(tools.contains(name), "{name} in {tools}");
    }
    for name in ["file.read", "ripgrep.search", "db.query"] {
        assert!(!tools.contains(name), "{name} in {tools}");
    }
    let (_, stderr, code) = sandbox.run(&["call", "brave.search", "query=x"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("the Brave Search API requires a key; set packs.brave.api_key"), "{stderr}");
    let (_, stderr, _) = sandbox.run(&["call", "llm.transform", "input=x", "prompt=y"]);
    assert!(stderr.contains("no model is available"), "{stderr}");
}
