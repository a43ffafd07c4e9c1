//! Checks the graph of imports of each crate: the layers of the design depend downwards only, and no files import each
//! other in a cycle.
//!
//! `source` reads the definitions and imports of a file, `graph` resolves each import to a file and finds violations
//! of the rules. Tests and test-only items are excluded. Method calls do not count as imports. `references` checks
//! the references in comments.

pub mod graph;
mod source;

use graph::Graph;
use std::collections::BTreeMap;
use std::path::Path;

/// The top-level modules of `src`, the highest layer first. A module may import modules of the layers below its own.
const LAYERS: &[&[&str]] = &[
    &["lib"],
    &["capi", "internals", "rust_api"],
    &["b2nd", "blosc1"],
    &["schunk"],
    &["frame"],
    &["pipeline", "io"],
    &["panics"],
    &["registry", "codec", "pool", "malloc"],
    &["filter"],
    &["chunk"],
    &["buffers", "fallible", "held_locks", "out_buffer", "thread", "trace"],
    &["abi", "crc32c", "environment", "fork_count", "sync"],
    &["os"],
    &["error", "tuning"],
];

/// The top-level modules of `rust/src`, the Rust API.
const RUST_LAYERS: &[&[&str]] = &[
    &["lib"],
    &["grid", "ndarray"],
    &["array_builder", "array_transaction"],
    &["remote"],
    &["options", "view"],
    &["array", "reader", "writer"],
    &["super_chunk", "frame"],
    &["chunk", "content", "damage", "explanation", "metalayers", "plugins"],
    &["params", "prefetch", "ranges", "element"],
    &["tradeoff"],
    &["error"],
];

/// The top-level modules of `cli/src`, the command.
const CLI_LAYERS: &[&[&str]] = &[
    &["main"],
    &["verbs"],
    &["npy_file", "probe", "values", "walk"],
    &["npy", "pipeline", "transfer"],
    &["array_reader", "input", "results", "damage", "buffers"],
    &["args", "boxes", "kind", "pipe", "ranges", "terminal"],
    &["dtype", "output", "store"],
    &["source"],
    &["remote"],
    &["error", "msgpack", "os", "python", "size", "sparse"],
];

/// The top-level modules of `remote/src`, the library with which C programs read URLs.
const REMOTE_LAYERS: &[&[&str]] =
    &[&["lib"], &["capi"], &["opening"], &["library"], &["callbacks"], &["client"], &["failure"]];

/// The top-level modules of `blosc1/src`, the library for programs of C-Blosc 1.
const BLOSC1_LAYERS: &[&[&str]] =
    &[&["lib"], &["capi"], &["chunk"], &["environment", "streams"], &["header", "settings"]];

/// The folders of `frame`, the highest layer first.
const FRAME_LAYERS: [&str; 3] = ["frame/recovery/", "frame/store/", "frame/format/"];

/// Adds the files below `dir` to `files`, by their paths from `root`.
fn read_files(root: &Path, dir: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).expect("a readable directory") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            read_files(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("a path below the root").to_str().expect("UTF-8");
            files.insert(name.to_string(), std::fs::read_to_string(&path).expect("a readable file"));
        }
    }
}

/// Returns the graph of the crate whose source is in the folder `source` of the repository.
pub fn graph_of(source: &str) -> Graph {
    let root = crate::root().join(source);
    let mut files = BTreeMap::new();
    read_files(&root, &root, &mut files);
    Graph::new(&files)
}

#[test]
fn layers_depend_downwards_without_cycles() {
    let graph = graph_of("src");
    assert!(graph.edges().count() > 1000, "expected more than 1000 imports");
    let mut found = graph.violations(LAYERS);
    let layer = |file: &str| FRAME_LAYERS.iter().position(|folder| file.starts_with(folder));
    for (from, to, example) in graph.edges() {
        if layer(to).is_some() && layer(from) > layer(to) {
            found.push(format!("not downwards: {from} -> {to} ({example})"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn layers_of_the_other_crates_depend_downwards_without_cycles() {
    for (source, layers, imports) in [
        ("rust/src", RUST_LAYERS, 50),
        ("cli/src", CLI_LAYERS, 100),
        ("blosc1/src", BLOSC1_LAYERS, 10),
        ("remote/src", REMOTE_LAYERS, 10),
    ] {
        let graph = graph_of(source);
        assert!(graph.edges().count() >= imports, "{source}: expected {imports} imports or more");
        let found = graph.violations(layers);
        assert!(found.is_empty(), "{source}: {}", found.join("\n"));
    }
}

/// Returns the violations in a crate of these files and three layers, `high`, `low` and `base`.
fn violations_in_crate(files: &[(&str, &str)]) -> Vec<String> {
    let mut all = BTreeMap::from([("lib.rs".to_string(), "mod high; mod low; mod base;".to_string())]);
    for module in ["high", "low", "base"] {
        all.insert(format!("{module}/mod.rs"), String::new());
    }
    all.extend(files.iter().map(|&(name, text)| (name.to_string(), text.to_string())));
    Graph::new(&all).violations(&[&["lib"], &["high"], &["low"], &["base"]])
}

#[test]
fn a_downward_import_is_allowed() {
    let none = violations_in_crate(&[
        ("high/mod.rs", "mod a; mod b; use crate::low::Low;"),
        ("high/a.rs", "use super::b::B; pub struct A;"),
        ("high/b.rs", "pub struct B;"),
        ("low/mod.rs", "pub struct Low;"),
    ]);
    assert_eq!(none, Vec::<String>::new());
}

#[test]
fn an_upward_import_is_found() {
    for import in
        ["use crate::high::High;", "fn f() { crate::high::High; }", "use super::high::{self, High as H};"]
    {
        let found = violations_in_crate(&[("low/mod.rs", import), ("high/mod.rs", "pub struct High;")]);
        assert!(
            matches!(&found[..], [one] if one.contains("low/mod.rs -> high/mod.rs")),
            "{import}: {found:?}"
        );
    }
    // A re-export does not hide the import: it counts as an import of the file that defines the item.
    let found = violations_in_crate(&[
        ("base/mod.rs", "use crate::low::Item;"),
        ("low/mod.rs", "pub use crate::high::*;"),
        ("high/mod.rs", "pub const Item: i32 = 0;"),
    ]);
    assert!(found.iter().any(|one| one.contains("base/mod.rs -> high/mod.rs")), "{found:?}");
}

#[test]
fn a_cycle_is_found() {
    let three = violations_in_crate(&[
        ("high/mod.rs", "mod a; mod b; mod c;"),
        ("high/a.rs", "use super::b::B; pub struct A;"),
        ("high/b.rs", "use super::c::C; pub struct B;"),
        ("high/c.rs", "fn f(_: super::a::A) {} pub struct C;"),
    ]);
    assert!(matches!(&three[..], [one] if one.contains("3 files")), "{three:?}");
    let two = violations_in_crate(&[
        ("high/mod.rs", "mod a; mod b;"),
        ("high/a.rs", "use super::b::B; pub struct A;"),
        ("high/b.rs", "use super::a::A; pub struct B;"),
    ]);
    assert!(matches!(&two[..], [one] if one.contains("2 files")), "{two:?}");
}

#[test]
fn comments_strings_and_tests_do_not_count() {
    let none = violations_in_crate(&[(
        "low/mod.rs",
        r##"
        // use crate::high::High;
        /* crate::high::High /* */ crate::high::High */
        const A: &str = "crate::high::High \" crate::high::High";
        const B: &str = r#"" crate::high::High"#;
        const C: char = '"'; const D: char = '\''; fn f<'a>(_: &'a u8) {}
        #[cfg(test)]
        mod tests { use crate::high::High; }
        #[cfg(all(test, unix))]
        use crate::high::High;
        "##,
    )]);
    assert_eq!(none, Vec::<String>::new());
    let some = violations_in_crate(&[
        ("low/mod.rs", "#[cfg(not(test))] use crate::high::High;"),
        ("high/mod.rs", ""),
    ]);
    assert_eq!(some.len(), 1);
}

#[test]
fn a_module_without_a_layer_is_found() {
    let found = violations_in_crate(&[("lib.rs", "mod high; mod new;"), ("new.rs", "use crate::high;")]);
    assert!(found.iter().any(|one| one.contains("new")), "{found:?}");
}
