//! Parsing of `smaps`, and memory advice.

use super::{release_program_pages, unchanged_mappings, use_huge_pages_for_heap};

#[test]
fn only_unchanged_read_only_mappings_of_the_file_are_found() {
    let mapping = |head: &str, anonymous: &str| {
        format!("{head}\nSize:  8 kB\nRss:  8 kB\nAnonymous:  {anonymous} kB\nVmFlags: rd mr mw me\n")
    };
    let text: String = [
        mapping("1000-3000 r--p 00000000 fe:00 77      /usr/bin/a program", "0"),
        mapping("3000-5000 r-xp 00002000 fe:00 77      /usr/bin/a program", "0"),
        mapping("5000-7000 r--p 00004000 fe:00 77      /usr/bin/a program", "4"),
        mapping("7000-9000 rw-p 00006000 fe:00 77      /usr/bin/a program", "0"),
        mapping("9000-b000 r--p 00000000 00:00 0 ", "0"),
        mapping("b000-d000 r-xp 00000000 00:00 0       [vdso]", "0"),
        mapping("d000-f000 r--p 00000000 fe:00 78      /usr/lib/another", "0"),
    ]
    .concat();
    assert_eq!(unchanged_mappings(&text, "/usr/bin/a program"), [(0x1000, 0x2000), (0x3000, 0x2000)]);
}

#[test]
fn memory_advice_does_not_change_memory() {
    let before = "constants and code".repeat(3);
    use_huge_pages_for_heap();
    release_program_pages();
    assert_eq!(before, "constants and code".repeat(3));
}
