//! Generates the C headers in `include/`, the header `blosc-export.h` of libblosc, and the page `docs/api.md`, and checks
//! that all are up to date.
//!
//! The committed headers are `include-src/` (hand-written: guards, inline functions, function-like macros, default
//! objects, platform cases) with the declarations that mirror Rust filled in: constants from `src/abi/constants`,
//! types and prototypes by cbindgen from `src/abi` and `src/capi`. A function is declared if `src/capi` defines it.
//!
//! `BLESS=1 cargo test --test abi headers` rewrites `include/`. Without it the test fails when a committed header
//! is stale, when a Rust item has no place in a template, or when a header does not compile cleanly alone and
//! with the others in every C and C++ standard and source-compatibility mode (`abi.md` 7).

mod api_completeness;
mod api_page;
mod comment;
mod compile;
mod inlines;
mod source;
mod template;

use crate::support::root;
use source::Abi;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The public headers, relative to `include/` and to `include-src/`.
const HEADERS: [&str; 9] = [
    "blosc2.h",
    "b2nd.h",
    "blosc2/blosc2-common.h",
    "blosc2/blosc2-export.h",
    "blosc2/blosc2-stdio.h",
    "blosc2/blosc2x.h",
    "blosc2/codecs-registry.h",
    "blosc2/filters-registry.h",
    "blosc2/tuners-registry.h",
];

/// Returns all files below `dir`, sorted, so that the output does not depend on the file system.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("cannot list {}: {e}", dir.display()))
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Returns the header of libblosc that has the same macros as one of libblosc2, with its path.
fn generate_blosc1_header(nine: &[(&str, String)]) -> (PathBuf, String) {
    let (_, text) = nine.iter().find(|(name, _)| *name == "blosc2/blosc2-export.h").expect("the header");
    let path = PathBuf::from("blosc1/include/blosc-export.h");
    (path, text.replace("BLOSC_BLOSC2_BLOSC2_EXPORT_H", "BLOSC_EXPORT_H"))
}

/// Returns every committed header as generated, with its path.
fn generate_files() -> Vec<(PathBuf, String)> {
    let nine = generate_headers(Abi::Nine);
    let blosc1 = generate_blosc1_header(&nine);
    let page = api_page::generate_page(nine.iter().map(|(name, text)| (*name, text.as_str())));
    let nine = nine.into_iter().map(|(name, text)| (Path::new("include").join(name), text));
    nine.chain([(PathBuf::from("docs/api.md"), page), blosc1]).collect()
}

fn generate_headers(abi: Abi) -> Vec<(&'static str, String)> {
    let mut items = source::read_items(root(), abi);
    let made = HEADERS
        .map(|name| {
            let source = root().join("include-src").join(name);
            let text = fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
            (name, template::expand(name, &text, &mut items))
        })
        .to_vec();
    let left = items.unplaced_names();
    assert!(left.is_empty(), "no header in include-src/ contains these Rust items: {left:?}");
    made
}

/// Rewrites `include/` once per run if `BLESS` is set; every test calls it before it reads the headers.
fn bless_if_asked() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        if std::env::var_os("BLESS").is_some() {
            for (name, text) in generate_files() {
                let path = root().join(name);
                fs::create_dir_all(path.parent().expect("a parent")).expect("the directory can be made");
                fs::write(&path, text).expect("a header can be written");
            }
        }
    });
}

#[test]
fn committed_headers_are_current() {
    bless_if_asked();
    for (name, text) in generate_files() {
        let committed = fs::read_to_string(root().join(&name)).unwrap_or_default();
        assert!(text == committed, "{} is stale: run BLESS=1 cargo test --test abi headers", name.display());
    }
}

#[test]
fn include_contains_only_the_generated_headers() {
    bless_if_asked();
    assert_eq!(names_below(&root().join("include")), sorted(&HEADERS));
}

/// Returns the paths of the files below `dir`, relative to it and sorted.
fn names_below(dir: &Path) -> Vec<String> {
    let name =
        |path: &PathBuf| path.strip_prefix(dir).expect("below the directory").to_string_lossy().into_owned();
    let mut names: Vec<_> = files_below(dir).iter().map(name).collect();
    names.sort();
    names
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut sorted: Vec<_> = names.iter().map(|name| name.to_string()).collect();
    sorted.sort();
    sorted
}

/// The script derives the headers from those of the present layout; here they are generated from the structs.
#[test]
fn the_headers_of_abi7_are_those_of_its_structs() {
    bless_if_asked();
    let dir = crate::abi7_headers();
    assert_eq!(names_below(&dir), ["b2nd.h", "blosc2.h"]);
    let max_dim = "/** Upper limit for dimensions in programs of SOVERSION 7. */\n#define BLOSC2_MAX_DIM 8\n";
    for (name, text) in generate_headers(Abi::Seven) {
        let place = if dir.join(name).exists() { dir.clone() } else { root().join("include") };
        let written = fs::read_to_string(place.join(name)).expect("a header");
        assert!(written.replacen(max_dim, "", 1) == text, "{name} of scripts/abi7-headers.sh");
        assert_eq!(written.contains(max_dim), name == "blosc2.h", "{name}");
    }
}

#[test]
fn version_lines_have_the_form_that_build_scripts_parse() {
    bless_if_asked();
    let text = fs::read_to_string(root().join("include/blosc2.h")).expect("include/blosc2.h");
    let line = |name: &str| -> &str {
        let mut hits =
            text.lines().filter(|l| l.starts_with("#define ") && l.split_whitespace().nth(1) == Some(name));
        let hit = hits.next().unwrap_or_else(|| panic!("no one-line #define of {name}"));
        assert_eq!(hits.next(), None, "{name} is defined twice");
        hit
    };
    for (name, value, word) in [
        ("BLOSC2_VERSION_MAJOR", "3", "major"),
        ("BLOSC2_VERSION_MINOR", "3", "minor"),
        ("BLOSC2_VERSION_RELEASE", "5", "tweaks"),
    ] {
        let tokens: Vec<_> = line(name).split_whitespace().collect();
        assert_eq!(tokens[2], value);
        assert!(tokens[3..].contains(&word), "{name}: the comment has to hold the word {word}");
    }
    let version = line("BLOSC2_VERSION_STRING").split('"').nth(1).expect("a literal");
    assert!(version.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)));
    let date = line("BLOSC2_VERSION_DATE").split('"').nth(1).expect("a literal");
    assert_eq!(date.split_whitespace().nth(1), Some("2026-09-24"));
}
