//! Checks that a name stands for one type in `src`. Tests and test-only items are excluded.

use super::layers::graph::Graph;
use super::layers::graph_of;
use std::collections::BTreeMap;

/// Folders with the types of `os/unix` for other systems.
const OTHER_SYSTEMS: [&str; 2] = ["os/wasi/", "os/windows/"];

/// Returns the names of types that a crate defines in more than one file, with the files.
fn repeated(graph: &Graph) -> BTreeMap<String, Vec<String>> {
    let mut places = BTreeMap::<_, Vec<_>>::new();
    for (file, name) in
        graph.types().filter(|(file, _)| !OTHER_SYSTEMS.iter().any(|folder| file.starts_with(folder)))
    {
        places.entry(name.to_string()).or_default().push(file.to_string());
    }
    places.retain(|_, files| files.len() > 1);
    places
}

#[test]
fn type_names_are_unique() {
    let found = repeated(&graph_of("src"));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_repeated_name_is_found() {
    let crate_of = |a: &str, b: &str| {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", b)];
        let files = files.map(|(name, text)| (name.to_string(), text.to_string()));
        repeated(&Graph::new(&files.into()))
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
