//! Tests of the generated tables, on a small schema.

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::*;

fn schema() -> Value {
    json!({
        "properties": {
            "version": {"type": ["integer", "null"], "description": "Version of\nthe format. Default: 1.", "default": null},
            "http": {"anyOf": [{"$ref": "#/$defs/Http"}, {"type": "null"}], "description": "The server."},
            "tools": {"type": ["array", "null"], "items": {"$ref": "#/$defs/Tool"}, "description": "Tools."},
            "servers": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Server"}, "description": "Servers."},
            "include": {"$ref": "#/$defs/Filter", "description": "What to include."},
            "exclude": {"$ref": "#/$defs/Filter", "description": "What to skip."},
        },
        "$defs": {
            "Http": {"type": "object", "properties": {
                "listen": {"type": "string", "description": "Address.", "default": "127.0.0.1:80"},
                "max_body": {"type": "integer", "minimum": 1, "description": "Size.", "default": 4_194_304},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Limit.", "default": 5},
                "hosts": {"type": "array", "items": {"type": "string"}, "description": "Hosts.", "default": []},
                "mode": {"$ref": "#/$defs/Mode", "description": "Either a|b. Default: depends on x. See y.", "default": "a"},
            }},
            "Mode": {"oneOf": [{"const": "a", "description": "A."}, {"const": "b"}]},
            "Tool": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "description": "Name."},
                "params": {"type": "object", "additionalProperties": {"type": "object"}, "description": "Parameters."},
                "env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Environment."},
                "json": {"description": "Body."},
            }},
            "Server": {"type": "object", "properties": {"enabled": {"type": "boolean", "description": "Whether.", "default": true}}},
            "Filter": {"type": "object", "description": "A filter.", "properties": {"tags": {"enum": ["x"], "description": "Tags."}}},
        },
    })
}

fn table(path: &str) -> String {
    format!("{BEGIN}{path}{BEGIN_END}\nold\n{END}\n")
}

/// Generates `docs/configuration.md` from this text, with a table of `servers.NAME` on another page.
fn generate(schema: &Value, configuration: &str) -> Result<String> {
    let servers = format!("# Servers\n\n{}", table("servers.NAME"));
    let pages = pages(&schema.to_string(), |page| match page {
        "docs/configuration.md" => Ok(configuration.to_owned()),
        "docs/servers.md" => Ok(servers.clone()),
        _ => Ok(String::new()),
    })?;
    assert!(pages[2].1.contains("| `servers.NAME.enabled` | boolean | true | Whether. |"), "{}", pages[2].1);
    pages.into_iter().next().map(|(_, text)| text).ok_or_else(|| anyhow!("no pages"))
}

#[test]
fn str_9_every_key_is_in_one_table() {
    let page = format!(
        "# Keys\n\n{}\n## The `http` key\n\n{}\nMore text.\n\n### Tools\n\n{}",
        table("the file"),
        table("http"),
        table("tools[]")
    );
    let expected = "\
# Keys

<!-- generated: keys of the file; `cargo xtask codegen` writes this table -->

| key | type | default | description |
|---|---|---|---|
| `version` | integer | 1 | Version of the format. |
| [`http`](#the-http-key) | map |  | The server. |
| [`tools`](#tools) | list of maps | none | Tools. |
| [`servers`](servers.md) | map of maps | none | Servers. |
| `include` | map |  | What to include. |
| `include.tags` | `x` | none | Tags. |
| `exclude` | map |  | What to skip. |

<!-- end of generated -->

## The `http` key

<!-- generated: keys of http; `cargo xtask codegen` writes this table -->

| key | type | default | description |
|---|---|---|---|
| `http.listen` | string | `127.0.0.1:80` | Address. |
| `http.max_body` | integer | 4194304 (4 MiB) | Size. |
| `http.limit` | integer from 1 to 100 | 5 | Limit. |
| `http.hosts` | list of strings | none | Hosts. |
| `http.mode` | `a` or `b` | depends on x | Either a\\|b. See y. |

<!-- end of generated -->

More text.

### Tools

<!-- generated: keys of tools[]; `cargo xtask codegen` writes this table -->

| key | type | default | description |
|---|---|---|---|
| `tools[].name` | string | required | Name. |
| `tools[].params` | map of maps | none | Parameters. |
| `tools[].env` | map of strings | none | Environment. |
| `tools[].json` | any | none | Body. |

<!-- end of generated -->
";
    assert_eq!(generate(&schema(), &page).unwrap(), expected);
    assert_eq!(generate(&schema(), expected).unwrap(), expected, "a second run changes nothing");
}

#[test]
fn keys_of_maps_without_a_table_are_in_the_table_above_them() {
    let page = generate(&schema(), &table("the file")).unwrap();
    for row in
        ["| `http.listen` | string |", "| `tools` | list of maps |", "| `tools[].env` | map of strings |"]
    {
        assert!(page.contains(row), "{page}");
    }
}

#[test]
fn mistakes_in_pages_and_schemas_are_errors() {
    let error = |schema: &Value, page: &str| generate(schema, page).unwrap_err().to_string();
    assert_eq!(error(&schema(), ""), "no page has a table of the keys of the file");
    let page = table("the file") + &table("htp");
    assert_eq!(error(&schema(), &page), "docs/configuration.md: the schema has no map at htp");
    let page = table("the file") + &table("servers.NAME");
    assert_eq!(
        error(&schema(), &page),
        "docs/servers.md and docs/configuration.md both have a table of the keys of servers.NAME"
    );
    let page = table("the file") + BEGIN + "http" + BEGIN_END;
    assert_eq!(
        error(&schema(), &page),
        format!("docs/configuration.md: the table of the keys of http has no `{END}`")
    );
    let page = table("the file") + BEGIN + "http -->\n" + END;
    assert!(error(&schema(), &page).starts_with("docs/configuration.md:4: write `"));
    let mut undescribed = schema();
    undescribed["$defs"]["Http"]["properties"]["listen"] = json!({"type": "string"});
    assert_eq!(error(&undescribed, &table("the file")), "http.listen has no description");
}

#[test]
fn comments_and_headings_in_code_do_not_count() {
    let text = "# Title\n\n```sh\n## not a heading\n```\n\n".to_owned() + &table("http");
    let expected = Place { page: "docs/packs.md", path: "http".into(), anchor: None };
    assert_eq!(places("docs/packs.md", &text).unwrap(), [expected]);
    assert_eq!(slug(" `servers`, `openapi`, `startup_wait`"), "servers-openapi-startup_wait");
}
