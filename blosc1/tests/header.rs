//! The C header: it has the functions of the library, with their types, and the macros of C-Blosc 1.21.6.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("a file of the crate")
}

/// Returns the names that follow `mark` in a text, up to a parenthesis.
fn names<'a>(text: &'a str, mark: &str) -> BTreeSet<&'a str> {
    let parts = text.split(mark).skip(1);
    parts.filter_map(|part| part.split('(').next()?.split([' ', '*']).next_back()).collect()
}

#[test]
fn header_declares_the_exported_functions() {
    let (header, source) = (read("include/blosc.h"), read("src/capi.rs"));
    let declared = names(&header, "\nBLOSC_EXPORT ");
    assert_eq!(declared.len(), 25);
    assert_eq!(declared, names(&source, "extern \"C\" fn "));
}

#[test]
fn header_has_the_types_and_values_of_the_reference() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    for language in ["-std=c11", "-std=c17"] {
        let output = Command::new(&compiler)
            .args([language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
            .arg("-I")
            .arg(root().join("include"))
            .arg(root().join("tests/header.c"))
            .output()
            .expect("a C compiler (set CC, or install cc)");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
