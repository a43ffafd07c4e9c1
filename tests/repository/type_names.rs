//! Checks that a name stands for one type in `src`. Tests and test-only items are excluded.

use super::layers::graph::Graph;
use super::layers::read_files;
use std::collections::BTreeMap;

/// The names that `src` still defines more than once.
const KNOWN: &[&str] =
    &["ChunkSizes", "Damage", "FrameBytes", "FrameParts", "OldChunkFile", "OwnedMetalayer", "StoredChunk"];

/// Returns the names of types that a crate of these files defines in more than one file, with the files.
fn repeated(files: &BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
    let mut places = BTreeMap::<_, Vec<_>>::new();
    for (file, name) in Graph::new(files).types() {
        places.entry(name.to_string()).or_default().push(file.to_string());
    }
    places.retain(|_, files| files.len() > 1);
    places
}

#[test]
fn type_names_are_unique() {
    let root = crate::root().join("src");
    let mut files = BTreeMap::new();
    read_files(&root, &root, &mut files);
    let found = repeated(&files);
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, KNOWN, "{found:#?}");
}

#[test]
fn a_repeated_name_is_found() {
    let crate_of = |a: &str, b: &str| {
        let root = "mod a; mod b;".to_string();
        repeated(
            &[("lib.rs", root), ("a.rs", a.to_string()), ("b.rs", b.to_string())]
                .map(|(name, text)| (name.to_string(), text))
                .into(),
        )
    };
    for (a, b) in [
        ("struct Name;", "pub(crate) enum Name { A }"),
        ("mod inside { trait Name {} }", "impl u8 {} type Name = u8;"),
    ] {
        let found = crate_of(a, b);
        assert_eq!(
            found,
            BTreeMap::from([("Name".to_string(), vec!["a.rs".to_string(), "b.rs".to_string()])])
        );
    }
    for (a, b) in [
        ("struct Name;", "fn f() { struct Name; }"),
        ("struct Name;", "impl Iterator for X { type Name = u8; }"),
        ("struct Name;", "#[cfg(test)] mod tests { struct Name; }"),
        ("struct Name;", "use super::a::Name; fn Name() {}"),
    ] {
        assert_eq!(crate_of(a, b), BTreeMap::new());
    }
}
