//! What `blosc2 generate` writes.

mod program;

use program::blosc2_command;
use std::collections::BTreeMap;

/// Returns the names of the files, and their contents.
fn generate(what: &str) -> BTreeMap<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let output =
        blosc2_command().args(["generate", what]).arg(directory.path().join("new")).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let names = std::fs::read_dir(directory.path().join("new")).unwrap();
    names
        .map(|entry| {
            let entry = entry.unwrap();
            assert!(entry.metadata().unwrap().len() > 100);
            let content = std::fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), content)
        })
        .collect()
}

#[test]
fn man_pages_are_written_for_every_verb() {
    let pages = generate("man");
    for verb in ["bench", "cat", "compress", "decompress", "diff", "export", "import", "info", "recompress"] {
        let page = &pages[&format!("blosc2-{verb}.1")];
        assert!(page.contains("Examples:") && page.contains("Exit codes: 0, "), "{verb}: {page}");
    }
    assert!(pages.contains_key("blosc2.1"));
}

#[test]
fn completions_are_written_for_five_shells() {
    let names = generate("completions");
    assert_eq!(names.len(), 5, "{:?}", names.keys());
    for name in ["blosc2.bash", "_blosc2", "blosc2.fish"] {
        // The values of an option are offered.
        assert!(
            names[name].contains("lz4hc") && names[name].contains("bytedelta"),
            "{name}: {}",
            names[name]
        );
    }
}
