//! RUN-1: every form in which agents send code.

use proptest::prelude::*;

use super::*;

#[test]
fn run_1_1_a_trigger_word_is_stripped_once() {
    for trigger in TRIGGERS {
        assert_eq!(code_of(&format!("{trigger} demo.x()")).trim(), "demo.x()", "{trigger}");
        assert_eq!(code_of(&format!("{trigger}\ndemo.x()")), "demo.x()", "{trigger}");
    }
    assert_eq!(code_of("__ot __ot demo.x()").trim(), "__ot demo.x()");
    for code in ["__other()", "__otx", "__ot = 1", "__ot.tools()", "x = '__ot'"] {
        assert_eq!(code_of(code), code, "no trigger at a word boundary");
    }
}

#[test]
fn run_1_2_fences_and_backticks_go_and_fences_inside_the_code_stay() {
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
        assert_eq!(code_of(command), "demo.x()", "{command}");
    }
    let inside = "text = \"\"\"\n```\ncode\n```\n\"\"\"\ntext";
    assert_eq!(code_of(inside), inside);
    assert_eq!(code_of(&format!("```python\n{inside}\n```")), inside);
    assert_eq!(code_of("```\nx = 1"), "```\nx = 1", "a fence that is never closed is no fence");
}

#[test]
fn run_1_3_shared_indentation_goes_and_literals_stay() {
    assert_eq!(code_of("    a = 1\n\n    if a:\n        b()\n"), "a = 1\n\nif a:\n    b()");
    assert_eq!(code_of("\ta = 1\n\tb = 2"), "a = 1\nb = 2");
    let literal = "    text = '''\n  two\n      six\n'''\n    text";
    assert_eq!(code_of(literal), "text = '''\n  two\n      six\n'''\ntext");
    assert_eq!(code_of("  a = 'x\\\n  y'\n  a"), "a = 'x\\\n  y'\na");
    assert_eq!(code_of("a = 1\n  b"), "a = 1\n  b", "what is not uniform is left alone");
    assert_eq!(code_of("    a = 1 # it's\n    b"), "a = 1 # it's\nb", "a quote in a comment opens nothing");
}

#[test]
fn run_1_4_a_call_of_the_tool_itself_is_its_command() {
    assert_eq!(code_of("mcp__onetool__run(command='demo.x(a=1)')"), "demo.x(a=1)");
    assert_eq!(code_of("mcp__onetool__run(command=\"\"\"\na = 'x'\na\n\"\"\")"), "a = 'x'\na");
    assert_eq!(code_of("mcp__onetool__run(command='a = \"x\\\\n\"\\na')"), "a = \"x\\n\"\na");
}

proptest! {
    #[test]
    fn r9_no_command_form_panics(command in "(`|~|'|\"|\\\\|\n| |\t|#|__ot|mcp__onetool__run|command=|\\(|\\)|[a-zé]){0,60}") {
        code_of(&command);
    }

    #[test]
    fn r9_code_without_wrapping_stays_what_it_is(code in "[a-z][a-z0-9_ =+().]{0,40}") {
        prop_assert_eq!(code_of(&code), code.trim_end());
    }
}
