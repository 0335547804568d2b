//! RUN-4.1: values are data wherever they appear in the code.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn filled(body: &str, values: Value) -> String {
    fill(body, values.as_object().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

fn x(body: &str, value: impl Into<Value>) -> String {
    filled(body, json!({"x": value.into()}))
}

#[test]
fn run_4_1_a_value_is_escaped_for_the_literal_around_it() {
    let odd = "a\"b'c\\d\ne";
    assert_eq!(x(r#"f("{{ x }}")"#, odd), r#"f("a\"b'c\\d\ne")"#);
    assert_eq!(x("f('{{ x }}')", odd), r#"f('a"b\'c\\d\ne')"#);
    assert_eq!(x(r#"f("""{{ x }}""")"#, odd), r#"f("""a\"b'c\\d\ne""")"#);
    assert_eq!(x("f('''\n{{ x }}''')", "''' + evil() + '''"), "f('''\n\\'\\'\\' + evil() + \\'\\'\\'''')");
    assert_eq!(x("b'{{ x }}'", "é'\u{0}"), r"b'\xc3\xa9\'\x00'");
    assert_eq!(x("'{{ x }}'", 5), "'5'");
    assert_eq!(x("'{{ x }}'", true), "'True'");
    assert_eq!(x("'{{ x }}'", json!(null)), "''");
    assert_eq!(x("'{{ x }}'", json!([1, "a"])), r#"'[1,"a"]'"#);
}

#[test]
fn run_4_1_braces_in_a_value_are_escaped_in_an_f_string() {
    assert_eq!(x(r#"f"{{ x }} {y}""#, "{evil()}"), r#"f"{{evil()}} {y}""#);
    assert_eq!(x(r#"f"{ g({{ x }}) } {{ x }}""#, "a\"{b}"), r#"f"{ g('a"{b}') } a\"{{b}}""#);
    assert_eq!(x(r#"f"{n:{{ x }}}""#, ">10"), r#"f"{n:>10}""#);
    assert!(fill(r#"f"{n:{{ x }}}""#, json!({"x": "{evil()}"}).as_object().unwrap()).is_err());
    assert_eq!(x(r#"f"\N{DASH} {{ x }}""#, "{"), r#"f"\N{DASH} {{""#);
    assert_eq!(x(r#"f"{a["k"]} {{ x }}""#, "\"{"), r#"f"{a["k"]} \"{{""#);
}

#[test]
fn run_4_1_a_raw_literal_is_split_around_a_value_that_it_cannot_contain() {
    assert_eq!(x(r#"r"^{{ x }}$""#, r"\d+"), r#"r"^\d+$""#);
    assert_eq!(x(r#"r"^{{ x }}$""#, "a\"\n\\"), r#"r"^" "a\"\n\\" r"$""#);
    assert_eq!(x(r#"rb"{{ x }}""#, "é"), r#"rb"" b"\xc3\xa9" rb"""#);
    let error = fill(r#"r"C:\{{ x }}", "{{ x }}""#, json!({"x": ""}).as_object().unwrap()).unwrap_err();
    assert_eq!(error, "a raw string has a backslash before a parameter; use a plain string instead");
    assert_eq!(x(r#""C:\{{ x }}""#, "\"; evil()"), r#""C:\\\"; evil()""#);
}

#[test]
fn run_4_1_outside_of_a_literal_a_value_is_a_python_literal() {
    assert_eq!(x("f({{ x }})", 5), "f(5)");
    assert_eq!(x("f({{ x }})", -2.5), "f(-2.5)");
    assert_eq!(x("f({{ x }})", "5); evil("), r#"f("5); evil(")"#);
    assert_eq!(
        x("f({{ x }})", json!({"a": [true, false, null, "it's"]})),
        r#"f({"a": [True, False, None, "it's"]})"#
    );
    assert_eq!(
        x("f({{ x|tojson }}, '{{ x|tojson }}')", json!([true, "a'"])),
        r#"f([True, "a'"], '[true, "a\\u0027"]')"#
    );
    assert_eq!(x("f({{ x|safe }})", "evil()"), r#"f("evil()")"#);
    assert_eq!(x("r_{{ x }} = 1", 5), "r_5 = 1");
}

#[test]
fn run_4_1_a_value_is_separated_from_the_code_around_it() {
    assert_eq!(x("f{{ x }}", "{evil()}"), r#"f "{evil()}""#);
    assert_eq!(x(r#"""{{ x }}"""#, ""), r#""" "" """#);
    assert_eq!(x("{{ x }}{{ x }}", ""), r#""" """#);
}

#[test]
fn run_4_1_a_comment_stays_one_line() {
    assert_eq!(x("# it's {{ x }}\nf('{{ x }}')", "a\nevil()"), "# it's a evil()\nf('a\\nevil()')");
    assert_eq!(x("'# {{ x }}'", "'"), r"'# \''");
}

#[test]
fn run_4_1_template_syntax_in_a_value_stays_text() {
    assert_eq!(x("'{{ x }}'", "{{ x }}{% for %}{#"), "'{{ x }}{% for %}{#'");
}

#[test]
fn run_4_1_a_value_is_escaped_for_its_position_in_the_rendered_code() {
    let body = "{% if dq %}f(\"{% else %}f('{% endif %}{{ x }}{% if dq %}\"){% else %}'){% endif %}";
    assert_eq!(filled(body, json!({"x": "\"'", "dq": true})), r#"f("\"'")"#);
    assert_eq!(filled(body, json!({"x": "\"'", "dq": false})), r#"f('"\'')"#);
    let body = "{% for item in x %}f({{ item }}, '{{ item }}')\n{% endfor %}";
    assert_eq!(x(body, json!(["a'", 1])), "f(\"a'\", 'a\\'')\nf(1, '1')\n");
    let body = "{% macro call(v) %}g({{ v }}){% endmacro %}{% set s %}h('{{ x }}'){% endset %}{{ call(x) }}; {{ s }}";
    assert_eq!(x(body, "a'"), r#"g("a'"); h('a\'')"#);
}

#[test]
fn run_4_2_a_template_error_says_what_and_where() {
    let error = |body: &str, values: Value| fill(body, values.as_object().unwrap()).unwrap_err();
    assert_eq!(error("a\n{{ x.y.z }}", json!({"x": {}})), "undefined value (line 2)");
    assert_eq!(error("{{ x|nope }}", json!({"x": 1})), "filter nope is unknown (line 1)");
}

/// Returns the value of code that must consist of one string literal, as Python would evaluate it.
fn value_of_literal(code: &str) -> String {
    let mut chars = code.strip_prefix('"').unwrap().chars();
    let mut value = String::new();
    loop {
        match chars.next().unwrap() {
            '"' => break,
            '\\' => match chars.next().unwrap() {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                kind @ ('x' | 'u') => {
                    let digits: String = chars.by_ref().take(if kind == 'x' { 2 } else { 4 }).collect();
                    value.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
                }
                c => value.push(c),
            },
            '\n' => panic!("the literal is not closed on its line"),
            c => value.push(c),
        }
    }
    assert_eq!(chars.as_str(), "", "code after the literal");
    value
}

proptest! {
    #[test]
    fn r9_every_text_stays_in_its_literal(text in "(\\PC|[\"'\\\\{}%#\n\r\t\u{0}\u{7f}\u{85}\u{e000}\u{f8ff}]){0,20}") {
        prop_assert_eq!(value_of_literal(&x("\"{{ x }}\"", text.as_str())), text.as_str());
        prop_assert_eq!(value_of_literal(&x("{{ x }}", text.as_str())), text.as_str());
    }

    #[test]
    fn r9_no_template_panics(body in "(\\{\\{ x \\}\\}|\\{%|[a-z\"'\\\\{}#rfbt:\n ]){0,15}", text in "\\PC{0,5}") {
        let _ = fill(&body, json!({"x": text}).as_object().unwrap());
    }
}
