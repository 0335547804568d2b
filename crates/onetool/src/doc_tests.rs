//! The Rust blocks of the README and of the pages under docs/, compiled and run as doc tests.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/library.md")]
struct Library;

#[doc = include_str!("../../../docs/page.md")]
struct Page;
