//! Checks the graph of imports of `src`: the layers of the design depend downwards only, and files import each other in
//! a cycle at most as a pair inside one folder, and never in `src/frame`.
//!
//! `source` reads the definitions and imports of a file, `graph` resolves each import to a file and finds violations
//! of the rules. Tests and test-only items are excluded. Method calls do not count as imports. `references` checks
//! the references in comments.

mod graph;
mod source;

use graph::Graph;
use std::collections::BTreeMap;
use std::path::Path;

/// The top-level modules, the highest layer first. A module may import modules of the layers below its own.
const LAYERS: &[&[&str]] = &[
    &["lib"],
    &["capi", "internals", "blosc1", "rust_api"],
    &["b2nd"],
    &["schunk"],
    &["frame"],
    &["pipeline", "io", "panics"],
    &["registry", "codec", "pool", "malloc"],
    &["filter"],
    &["chunk"],
    &["buffers", "fallible", "held_locks", "out_buffer", "thread", "trace"],
    &["abi", "environment", "fork_count", "sync"],
    &["error", "tuning"],
];

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

#[test]
fn layers_depend_downwards_and_cycles_are_pairs_in_one_folder() {
    let root = crate::root().join("src");
    let mut files = BTreeMap::new();
    read_files(&root, &root, &mut files);
    let graph = Graph::new(&files);
    assert!(graph.edges().count() > 1000, "expected more than 1000 imports");
    let mut found = graph.violations(LAYERS);
    let layer = |file: &str| FRAME_LAYERS.iter().position(|folder| file.starts_with(folder));
    for (from, to, example) in graph.edges() {
        if layer(to).is_some() && layer(from) > layer(to) {
            found.push(format!("not downwards: {from} -> {to} ({example})"));
        }
    }
    for cycle in graph.cycles().iter().filter(|cycle| cycle.iter().all(|file| file.starts_with("frame/"))) {
        found.push(format!("files of src/frame that import each other: {cycle:?}"));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
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
fn a_downward_import_and_a_pair_in_one_folder_are_allowed() {
    let none = violations_in_crate(&[
        ("high/mod.rs", "mod a; mod b; use crate::low::Low;"),
        ("high/a.rs", "use super::b::B; pub struct A;"),
        ("high/b.rs", "use super::a::A; pub struct B;"),
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
fn a_cycle_of_three_files_or_of_two_folders_is_found() {
    let three = violations_in_crate(&[
        ("high/mod.rs", "mod a; mod b; mod c;"),
        ("high/a.rs", "use super::b::B; pub struct A;"),
        ("high/b.rs", "use super::c::C; pub struct B;"),
        ("high/c.rs", "fn f(_: super::a::A) {} pub struct C;"),
    ]);
    assert!(matches!(&three[..], [one] if one.contains("3 files")), "{three:?}");
    let folders = violations_in_crate(&[
        ("high/mod.rs", "mod a; mod deep;"),
        ("high/a.rs", "use super::deep::B; pub struct A;"),
        ("high/deep/mod.rs", "use crate::high::a::A; pub struct B;"),
    ]);
    assert!(matches!(&folders[..], [one] if one.contains("2 files")), "{folders:?}");
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
