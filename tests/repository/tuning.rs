//! Checks that each constant that is declared with `tunable!` has a row in the table of `src/tuning/table.rs` and in
//! `docs/tuning.md`, and that no other constant has one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Adds the paths of the constants in the `tunable!` blocks of the files below `dir` to `found`.
fn add_declared(root: &Path, dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).expect("a readable directory") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            add_declared(root, &path, found);
            continue;
        }
        let relative = path.strip_prefix(root).expect("a path below the root").with_extension("");
        let module = relative.to_str().expect("UTF-8").trim_end_matches("/mod").replace('/', "::");
        let source = fs::read_to_string(&path).expect("UTF-8");
        for block in source.split("\ntunable! {\n").skip(1) {
            let block = block.split_once("\n}\n").expect("the end of the block").0;
            let constants = block.lines().filter_map(|line| line.split_once("const ")?.1.split_once(':'));
            found.extend(constants.map(|(name, _)| format!("{module}::{name}")));
        }
    }
}

/// Returns the texts between `open` and `close` that begin a line, without white space, of `text`.
fn row_names(text: &str, open: &str, close: &str) -> BTreeSet<String> {
    let rest = text.lines().filter_map(|line| line.trim_start().strip_prefix(open));
    rest.filter_map(|rest| Some(rest.split_once(close)?.0.to_string())).collect()
}

#[test]
fn tunable_constants_have_rows() {
    let root = crate::root();
    let mut declared = BTreeSet::new();
    add_declared(&root.join("src"), &root.join("src"), &mut declared);
    assert!(declared.len() > 20, "{declared:?}");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("the file");
    assert_eq!(row_names(&read("src/tuning/table.rs"), "row(\"", "\""), declared, "src/tuning/table.rs");
    assert_eq!(row_names(&read("docs/tuning.md"), "| `", "`"), declared, "docs/tuning.md");
}
