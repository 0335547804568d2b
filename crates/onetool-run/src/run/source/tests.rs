//! RUN-1: all forms in which agents send code.

use proptest::prelude::*;

use super::*;

#[test]
fn run_1_1_a_trigger_word_is_stripped_once() {
    for trigger in TRIGGERS {
        assert_eq!(extract_code(&format!("{trigger} demo.x()")).trim(), "demo.x()", "{trigger}");
        assert_eq!(extract_code(&format!("{trigger}\ndemo.x()")), "demo.x()", "{trigger}");
    }
    assert_eq!(extract_code("__ot __ot demo.x()").trim(), "__ot demo.x()");
    for code in ["__other()", "__otx", "__ot = 1", "__ot.tools()", "x = '__ot'"] {
        assert_eq!(extract_code(code), code, "not a trigger at a word boundary");
    }
}

#[test]
fn run_1_2_fences_and_backticks_are_removed_and_fences_inside_the_code_kept() {
    for command in [
        "```\ndemo.x()\n```",
        "```python\ndemo.x()\n```",
        "~~~py\ndemo.x()\n~~~",
        "````\ndemo.x()\n````\n",
        "`demo.x()`",
        "```demo.x()```",
        "__onetool__run\n```python\ndemo.x()\n```",
        "```python\n__ot__run\ndemo.x()\n```",
        "\n\n  ```python\n  demo.x()\n  ```\n",
    ] {
        assert_eq!(extract_code(command), "demo.x()", "{command}");
    }
    let inside = "text = \"\"\"\n```\ncode\n```\n\"\"\"\ntext";
    assert_eq!(extract_code(inside), inside);
    assert_eq!(extract_code(&format!("```python\n{inside}\n```")), inside);
    assert_eq!(extract_code("```\nx = 1"), "```\nx = 1", "a fence without an end is kept");
}

#[test]
fn run_1_3_shared_indentation_is_removed_and_literals_are_kept() {
    assert_eq!(extract_code("    a = 1\n\n    if a:\n        b()\n"), "a = 1\n\nif a:\n    b()");
    assert_eq!(extract_code("\ta = 1\n\tb = 2"), "a = 1\nb = 2");
    let literal = "    text = '''\n  two\n      six\n'''\n    text";
    assert_eq!(extract_code(literal), "text = '''\n  two\n      six\n'''\ntext");
    assert_eq!(extract_code("  a = 'x\\\n  y'\n  a"), "a = 'x\\\n  y'\na");
    assert_eq!(extract_code("a = 1\n  b"), "a = 1\n  b", "indentation that is not uniform is kept");
    assert_eq!(
        extract_code("    a = 1 # it's\n    b"),
        "a = 1 # it's\nb",
        "a quote in a comment does not open a literal"
    );
}

#[test]
fn run_1_4_a_call_of_the_run_tool_is_replaced_by_its_command() {
    assert_eq!(extract_code("mcp__onetool__run(command='demo.x(a=1)')"), "demo.x(a=1)");
    assert_eq!(extract_code("mcp__onetool__run(command=\"\"\"\na = 'x'\na\n\"\"\")"), "a = 'x'\na");
    assert_eq!(extract_code("mcp__onetool__run(command='a = \"x\\\\n\"\\na')"), "a = \"x\\n\"\na");
}

proptest! {
    #[test]
    fn r9_no_command_form_panics(command in "(`|~|'|\"|\\\\|\n| |\t|#|__ot|mcp__onetool__run|command=|\\(|\\)|[a-zé]){0,60}") {
        extract_code(&command);
    }

    #[test]
    fn r9_code_without_wrapping_is_unchanged(code in "[a-z][a-z0-9_ =+().]{0,40}") {
        prop_assert_eq!(extract_code(&code), code.trim_end());
    }
}
