//! Checks the links of the documents: each relative link names a file of the repository, and a heading that the file has;
//! each path in a code span of `docs/README.md` and CONTRIBUTING.md exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the documents of the repository.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in ["", "docs", "docs/format", "tests", "fuzz"] {
        for entry in fs::read_dir(root.join(directory)).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the lines of a document outside of code blocks.
fn prose_lines(document: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    document.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Returns the anchor of a heading, as the web pages of repositories form it.
fn anchor_of(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|&c| c.is_alphanumeric() || " -_".contains(c))
        .collect::<String>();
    kept.replace(' ', "-")
}

/// Returns the anchors of a document. A heading that occurs again gets a number.
fn anchors(document: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in prose_lines(document).filter(|line| line.starts_with('#')) {
        // The link text of a heading is a part of its anchor, the target is not.
        let title = line.trim_start_matches('#').trim();
        let anchor = anchor_of(title);
        let number = (0..).find(|n| !found.contains(&numbered(&anchor, *n))).expect("a number");
        found.insert(numbered(&anchor, number));
    }
    found
}

fn numbered(anchor: &str, number: usize) -> String {
    if number == 0 { anchor.to_string() } else { format!("{anchor}-{number}") }
}

/// Returns the targets of the links in a line. Code such as `f[0](a, b)` has no target: targets have no blanks.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|target| !target.contains(' '))
}

#[test]
fn links_name_files_and_headings() {
    let root = crate::root();
    let (mut count, mut broken) = (0, Vec::new());
    for path in documents(root) {
        let document = fs::read_to_string(&path).expect("UTF-8");
        for target in prose_lines(&document).flat_map(link_targets) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file =
                if file.is_empty() { path.clone() } else { path.parent().expect("a directory").join(file) };
            let has_anchor = || fs::read_to_string(&file).is_ok_and(|text| anchors(&text).contains(anchor));
            if !file.exists() || !anchor.is_empty() && !has_anchor() {
                broken.push(format!("{}: {target}", path.strip_prefix(root).expect("inside").display()));
            }
        }
    }
    assert!(count > 300, "{count} links were found");
    assert!(broken.is_empty(), "links without a target:\n{}", broken.join("\n"));
}

#[test]
fn paths_in_the_guides_exist() {
    let root = crate::root();
    let mut missing = Vec::new();
    for guide in ["docs/README.md", "CONTRIBUTING.md", "docs/environment.md", "docs/install.md"] {
        let document = fs::read_to_string(root.join(guide)).expect("the guide");
        let lines: Vec<&str> = prose_lines(&document).collect();
        for span in lines.join("\n").split('`').skip(1).step_by(2) {
            let path = span.split([' ', ':']).next().unwrap_or_default();
            let is_path = [
                "src/",
                "tests/",
                "scripts/",
                "blosc1/",
                "rust/",
                "cli/",
                "remote/",
                "capi-tests/",
                "examples/",
            ]
            .iter()
            .any(|directory| path.starts_with(directory));
            if is_path && !path.contains(['*', '{']) && !root.join(path).exists() {
                missing.push(format!("{guide}: {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "files that do not exist:\n{}", missing.join("\n"));
}

#[test]
fn anchors_are_formed_from_headings() {
    let document = "# A `b.c` of 2.1\n## Files after `kill -9`\n```sh\n# comment\n```\n## Same\n## Same\n";
    let expected = ["a-bc-of-21", "files-after-kill--9", "same", "same-1"];
    assert_eq!(anchors(document).into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(link_targets("[a](b.md#c), [d](e)").collect::<Vec<_>>(), ["b.md#c", "e"]);
}
