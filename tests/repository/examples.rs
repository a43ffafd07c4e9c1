//! Checks that each public item of the Rust crate has an example that asserts a result: its documentation contains
//! `assert`. The methods of a trait share the examples of the trait.

use crate::references::for_each_source;

/// The words after `pub` that begin an item. The items of the core are documented where the crate exports them.
const ITEMS: [&str; 9] =
    ["fn ", "unsafe ", "const ", "static ", "struct ", "enum ", "trait ", "type ", "use blosc2_core::"];

/// Returns the first lines of the public items in `source`, each with whether its documentation has an example.
fn public_items(source: &str) -> Vec<(&str, bool)> {
    let (mut found, mut documentation) = (Vec::new(), String::new());
    for line in source.lines().map(str::trim_start) {
        if let Some(text) = line.strip_prefix("///") {
            documentation.push_str(text);
        } else if !line.starts_with("#[") {
            let is_public =
                line.strip_prefix("pub ").is_some_and(|rest| ITEMS.iter().any(|item| rest.starts_with(item)));
            if is_public {
                found.push((line, documentation.contains("```") && documentation.contains("assert")));
            }
            documentation.clear();
        }
    }
    found
}

#[test]
fn each_public_item_of_the_crate_has_an_example() {
    let (mut count, mut missing) = (0, Vec::new());
    for_each_source(&crate::root().join("rust/src"), &mut |path, source| {
        let items = public_items(source);
        count += items.len();
        let without = items.iter().filter(|(_, has_example)| !has_example);
        missing.extend(without.map(|(line, _)| format!("{}: {line}", path.display())));
    });
    assert!(count > 250, "{count} items were found");
    assert!(missing.is_empty(), "{} without an example:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn examples_are_found() {
    let example = "    /// ```\n    /// assert!(true);\n    /// ```\n    #[must_use]\n";
    let source = format!(
        "/// Text.\npub struct A;\n{example}pub fn b() {{}}\npub fn c() {{}}\n{example}fn d() {{}}\n\
         pub(crate) fn e() {{}}\n/// assert\npub use blosc2_core::F;\npub use error::G;\n"
    );
    let found = public_items(&source);
    let expected = [
        ("pub struct A;", false),
        ("pub fn b() {}", true),
        ("pub fn c() {}", false),
        ("pub use blosc2_core::F;", false),
    ];
    assert_eq!(found, expected);
}
