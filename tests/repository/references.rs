//! Checks that each reference of a comment to a section of a document (`chunk.md 2.3`, `design decision 7`) names a
//! heading that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The documents in `docs/format/`, without their extension.
const DOCUMENTS: [&str; 8] = ["abi", "b2nd", "blosc1", "chunk", "codecs", "filters", "frame", "schunk"];

/// Returns the number at the start of `text` (`2.3`, `D7`) and the rest.
fn parse_number(text: &str) -> Option<(&str, &str)> {
    let letters = usize::from(text.starts_with(|c: char| c.is_ascii_uppercase()));
    let digits =
        text[letters..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len() - letters);
    // A full stop at the end belongs to the sentence.
    let number = text[..letters + digits].trim_end_matches('.');
    let is_number = number[letters..].starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| (number, &text[number.len()..]))
}

/// Returns the numbers in a list such as `1.1 to 1.3, 4.4 and 5`, at the start of `text`.
fn parse_numbers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((section, behind)) = parse_number(rest) {
        found.push(section);
        let separators = [", ", " to ", " and ", " or "];
        let Some(next) = separators.iter().find_map(|separator| behind.strip_prefix(separator)) else {
            break;
        };
        rest = next;
    }
    found
}

/// Returns the references in `text`: documents (`chunk`, or `design`) and the numbers of sections, or decisions.
fn find_references(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(".md") {
        let start =
            text[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |before| before + 1);
        let document = &text[start..at];
        let behind = &text[at + ".md".len()..];
        let behind = behind.strip_prefix('`').unwrap_or(behind);
        if DOCUMENTS.contains(&document)
            && let Some(behind) = behind.strip_prefix(' ')
        {
            found.extend(parse_numbers(behind).into_iter().map(|section| (document, section)));
        }
    }
    for (at, phrase) in text.match_indices("design decision ") {
        found.extend(
            parse_numbers(&text[at + phrase.len()..]).into_iter().map(|decision| ("design", decision)),
        );
    }
    found
}

/// Joins the lines of comments: a reference may begin at the end of a line.
fn join_comment_lines(source: &str) -> String {
    source
        .lines()
        .map(|line| line.trim_start().trim_start_matches(['/', '!', '#', '*']).trim())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the numbers of the headings of a document: the first word of a heading, or the second one for decisions.
fn heading_numbers(document: &str) -> BTreeSet<String> {
    let titles =
        document.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    titles
        .filter_map(|title| {
            Some(parse_number(title.strip_prefix("Decision ").unwrap_or(title))?.0.to_string())
        })
        .collect()
}

/// Calls `then` with each source file below `dir`.
pub(crate) fn for_each_source(dir: &Path, then: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(dir).expect("a readable directory") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "corpus", "artifacts", "fixtures"].contains(&name.as_str()) {
                for_each_source(&path, then);
            }
        } else if [".rs", ".c", ".h", ".sh", ".py", ".cpp"].iter().any(|extension| name.ends_with(extension))
        {
            then(&path, &fs::read_to_string(&path).expect("UTF-8"));
        }
    }
}

#[test]
fn references_of_comments_name_headings_that_exist() {
    let root = crate::root();
    let mut known = BTreeMap::new();
    for document in DOCUMENTS {
        let path = root.join(format!("docs/format/{document}.md"));
        known.insert(document, heading_numbers(&fs::read_to_string(path).expect("the document")));
    }
    known.insert(
        "design",
        heading_numbers(&fs::read_to_string(root.join("docs/design.md")).expect("the document")),
    );
    let (mut count, mut missing) = (0, Vec::new());
    for dir in ["src", "tests", "benches", "blosc1", "capi-tests", "fuzz", "scripts"] {
        for_each_source(&root.join(dir), &mut |path, source| {
            if path.ends_with("tests/repository/references.rs") {
                return;
            }
            for (document, section) in find_references(&join_comment_lines(source)) {
                count += 1;
                if !known[document].contains(section) {
                    missing.push(format!("{}: {document}.md {section}", path.display()));
                }
            }
        });
    }
    assert!(count > 500, "{count} references were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn references_are_found_in_text() {
    let text = join_comment_lines(
        "/// Parsed (`frame.md` 1.1 to 1.3, 4.4), see\n    /// chunk.md\n/// 2. Not xchunk.md 3 or chunk.md itself; b2nd.md D7. By design decision 7.",
    );
    let expected = [
        ("frame", "1.1"),
        ("frame", "1.3"),
        ("frame", "4.4"),
        ("chunk", "2"),
        ("b2nd", "D7"),
        ("design", "7"),
    ];
    assert_eq!(find_references(&text), expected);
}

#[test]
fn headings_begin_with_their_number() {
    let found = heading_numbers(
        "# Title\n## 3 Name\ntext 9\n#### 3.2.1 Other\n### D7 Defect\n### Decision 11 Plans\n",
    );
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["11", "3", "3.2.1", "D7"]);
}
