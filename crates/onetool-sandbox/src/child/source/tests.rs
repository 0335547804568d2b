//! Source edits and free names.

use super::prepare;
use crate::wire::Done;

fn text(source: &str) -> String {
    prepare(source).map_or_else(|done| format!("{done:?}"), |prepared| prepared.text)
}

fn names(source: &str) -> Vec<String> {
    prepare(source).map_or_else(|done| vec![format!("{done:?}")], |prepared| prepared.free_names)
}

#[test]
fn the_last_expression_is_stored() {
    assert_eq!(text("x = 1; x + 1"), "x = 1; __ot_result__ = x + 1");
    assert_eq!(text("x = 1"), "x = 1");
}

#[test]
fn top_level_returns_become_calls() {
    assert_eq!(
        text("if a:\n    return 1, 2\nreturn"),
        "if a:\n    __ot_return__(( 1, 2))\n__ot_return__(None)"
    );
    assert_eq!(text("def f():\n    return 1\n"), "def f():\n    return 1\n");
}

#[test]
fn awaited_calls_are_deferred() {
    assert_eq!(text("await a.x(1)"), "__ot_result__ = await __ot_await__(__ot_later__(a.x)(1))");
    assert_eq!(
        text("r = await asyncio.gather(a.x(), *[b.y(i) for i in c.z()])"),
        "r = await __ot_await__(asyncio.gather(__ot_later__(a.x)(), *[__ot_later__(b.y)(i) for i in c.z()]))"
    );
}

#[test]
fn calls_whose_names_are_only_awaited_are_deferred() {
    assert_eq!(text("t = a.x()\nr = await t\n"), "t = __ot_later__(a.x)()\nr = await __ot_await__(t)\n");
    assert_eq!(
        text("ts = [a.x(i) for i in n]\nr = await gather(*ts)\n"),
        "ts = [__ot_later__(a.x)(i) for i in n]\nr = await __ot_await__(gather(*ts))\n"
    );
    assert_eq!(
        text("ts = []\nfor i in n:\n    ts.append(a.x(i))\nfor t in ts:\n    await t\n"),
        "ts = []\nfor i in n:\n    ts.append(__ot_later__(a.x)(i))\nfor t in ts:\n    await __ot_await__(t)\n"
    );
}

#[test]
fn calls_whose_names_are_used_otherwise_block() {
    assert_eq!(
        text("t = a.x()\nprint(t)\nr = await t\n"),
        "t = a.x()\nprint(t)\nr = await __ot_await__(t)\n"
    );
}

#[test]
fn calls_passed_to_awaited_parameters_are_deferred() {
    let source = "async def one(c):\n    return await c\nawait gather(*[one(a.x(i)) for i in n])\n";
    assert_eq!(
        text(source),
        "async def one(c):\n    return await __ot_await__(c)\n__ot_result__ = await \
         __ot_await__(gather(*[__ot_later__(one)(__ot_later__(a.x)(i)) for i in n]))\n"
    );
}

#[test]
fn free_names_are_those_the_module_has_not_bound_yet() {
    assert_eq!(names("x = 1; x + brave.search(x)"), ["brave"]);
    assert_eq!(names("web = web.fetch(u)"), ["u", "web"]);
    assert_eq!(names("def f(brave):\n    return brave.x\nbrave.y()"), ["brave"]);
    assert_eq!(names("[x for x in pack.all() if x.ok]"), ["pack"]);
    assert_eq!(names("import json\ntry:\n    json.x\nexcept E as e:\n    print(e)"), ["E", "print"]);
    assert_eq!(names("class A:\n    file = 1\nfile.read()"), ["file"]);
}

#[test]
fn syntax_errors_name_line_and_column() {
    let Err(Done::Syntax { line, column, text, .. }) = prepare("x = 1\ny = = 2\n") else {
        panic!("no syntax error")
    };
    assert_eq!((line, column, text.as_str()), (2, 5, "y = = 2"));
}

#[test]
fn deep_brackets_are_a_limit() {
    assert!(matches!(prepare(&"(".repeat(10_000_000)), Err(Done::Limit(_))));
    assert!(prepare(&format!("'{}'", "(".repeat(1000))).is_ok());
}
