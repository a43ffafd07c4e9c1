//! What `blosc2 generate` writes.

mod program;

use program::blosc2_command;
use std::collections::BTreeSet;

fn generate(what: &str) -> BTreeSet<String> {
    let directory = tempfile::tempdir().unwrap();
    let output =
        blosc2_command().args(["generate", what]).arg(directory.path().join("new")).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let names = std::fs::read_dir(directory.path().join("new")).unwrap();
    names
        .map(|entry| {
            let entry = entry.unwrap();
            assert!(entry.metadata().unwrap().len() > 100);
            entry.file_name().into_string().unwrap()
        })
        .collect()
}

#[test]
fn man_pages_are_written_for_every_verb() {
    let pages = generate("man");
    for verb in ["bench", "cat", "compress", "decompress", "diff", "export", "import", "info", "recompress"] {
        assert!(pages.contains(&format!("blosc2-{verb}.1")), "{verb}: {pages:?}");
    }
    assert!(pages.contains("blosc2.1"));
}

#[test]
fn completions_are_written_for_five_shells() {
    let names = generate("completions");
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.contains("blosc2.bash") && names.contains("_blosc2") && names.contains("blosc2.fish"));
}
