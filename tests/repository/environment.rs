//! Checks that `docs/environment.md` names each environment variable that the sources read, and no other variable of this
//! project.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Variables that are no options: those of Cargo and of the system, and those that a program of this repository sets for
/// its own child processes.
const NO_OPTIONS: [&str; 6] = [
    "BLOSC1_FAILING_CALLS",
    "BLOSC2_TEST_FIRST_CALL",
    "CARGO_CFG_TARGET_OS",
    "CLIENTS_RESULTS",
    "HOME",
    "LD_LIBRARY_PATH",
];

/// The text in Rust sources before the name of a variable, without the name's quotation mark.
const RUST_READS: [&str; 3] = ["env::var(", "env::var_os(", "from_environment("];

fn is_name_char(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

/// Returns the variable at the start of `text`: at least two characters, the first one a letter.
fn name_at_start(text: &str) -> Option<&str> {
    let len = text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    let name = &text[..len];
    (len >= 2 && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// Returns the names that follow each occurrence of `before` and are followed by one of the characters `after`.
fn names_between<'a>(text: &'a str, before: &str, after: &[char]) -> Vec<&'a str> {
    text.match_indices(before)
        .filter_map(|(at, _)| {
            let rest = &text[at + before.len()..];
            let name = name_at_start(rest)?;
            rest[name.len()..].starts_with(after).then_some(name)
        })
        .collect()
}

/// Calls `then` with each file below `directory` whose name ends with one of `extensions`.
fn for_each_file(directory: &Path, extensions: &[&str], then: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(directory).expect("a readable directory") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "corpus", "artifacts", "fixtures"].contains(&name.as_str()) {
                for_each_file(&path, extensions, then);
            }
        } else if extensions.iter().any(|extension| name.ends_with(extension)) {
            then(&path, &fs::read_to_string(&path).expect("UTF-8"));
        }
    }
}

/// Returns the variables that the sources read, and the texts of the sources.
fn variables_that_are_read(root: &Path) -> (BTreeSet<String>, String) {
    let (mut found, mut sources) = (BTreeSet::new(), String::new());
    for directory in ["src", "blosc1", "cli", "rust", "tests", "benches"] {
        for_each_file(&root.join(directory), &[".rs"], &mut |path, source| {
            if path.ends_with("tests/repository/environment.rs") {
                return;
            }
            sources.push_str(source);
            let reads =
                RUST_READS.iter().flat_map(|read| names_between(source, &format!("{read}\""), &['"']));
            found.extend(reads.map(String::from));
            // C strings of this form are names of variables in the libraries.
            let in_library = path.starts_with(root.join("src")) || path.starts_with(root.join("blosc1/src"));
            if in_library {
                let names = names_between(source, "c\"", &['"']).into_iter();
                found.extend(names.filter(|name| name.starts_with("BLOSC")).map(String::from));
            }
        });
    }
    let mut shell = |source: &str| {
        sources.push_str(source);
        found.extend(names_between(source, "${", &['-', ':', '+']).into_iter().map(String::from));
    };
    for directory in ["scripts", "capi-tests"] {
        for_each_file(&root.join(directory), &[".sh"], &mut |_, source| shell(source));
    }
    shell(&fs::read_to_string(root.join(".ci/run")).expect(".ci/run"));
    (found, sources)
}

/// Returns the variables in the code spans of a document, of which a span can assign a value.
fn variables_in_document(document: &str) -> BTreeSet<String> {
    let spans = document.split('`').skip(1).step_by(2);
    spans.filter_map(name_at_start).map(String::from).collect()
}

#[test]
fn document_names_each_variable() {
    let root = crate::root();
    let document = fs::read_to_string(root.join("docs/environment.md")).expect("docs/environment.md");
    let documented = variables_in_document(&document);
    let (read, sources) = variables_that_are_read(root);
    assert!(read.len() > 80, "{} variables were found", read.len());
    let missing: Vec<_> = read
        .iter()
        .filter(|name| !documented.contains(*name) && !NO_OPTIONS.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/environment.md does not name {missing:?}");

    // Some tests make names of a prefix and a suffix.
    let prefixes: BTreeSet<&str> =
        names_between(&sources, "prefix: \"", &['"']).into_iter().filter(|name| name.len() > 8).collect();
    let is_read =
        |name: &str| sources.contains(name) || prefixes.iter().any(|prefix| name.starts_with(prefix));
    let stale: Vec<_> =
        documented.iter().filter(|name| name.starts_with("BLOSC") && !is_read(name)).collect();
    assert!(stale.is_empty(), "docs/environment.md names {stale:?}, which no source reads");
}

#[test]
fn names_are_found_in_sources() {
    let source = r#"env::var("BLOSC2_A1"); env::var(NAME); env!("CARGO_X"); from_environment("ZFP_B", 1)"#;
    assert_eq!(names_between(source, "env::var(\"", &['"']), ["BLOSC2_A1"]);
    assert_eq!(names_between(source, "from_environment(\"", &['"']), ["ZFP_B"]);
    let script = "${CC:-cc} $CC ${1:-} ${lower:-} ${PLAIN} ${MIRIFLAGS-}";
    assert_eq!(names_between(script, "${", &['-', ':', '+']), ["CC", "MIRIFLAGS"]);
    let document = "| `BLOSC_X=1` | `-l`, `BLOSC_Y` and `off` |";
    assert_eq!(variables_in_document(document), BTreeSet::from(["BLOSC_X".into(), "BLOSC_Y".into()]));
}
