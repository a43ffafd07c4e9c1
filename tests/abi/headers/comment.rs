//! Converts Rust doc comments to C comments: removes references to the specification and Rust links, and wraps
//! paragraphs.

const LINE_WIDTH: usize = 98;

/// Returns the C comment for doc `lines` (without their markers), every line indented by `indent`. Empty without
/// docs.
pub fn to_c(lines: &[String], indent: &str) -> String {
    let mut out = Vec::new();
    for paragraph in paragraphs(lines) {
        if !out.is_empty() {
            out.push(String::new());
        }
        out.extend(wrap(&paragraph, LINE_WIDTH - indent.len() - 3));
    }
    match out.as_slice() {
        [] => String::new(),
        [one] if indent.len() + one.len() + 7 <= LINE_WIDTH + 2 => format!("{indent}/** {one} */\n"),
        many => {
            let body: String = many
                .iter()
                .map(|line| format!("{indent} * {line}"))
                .map(|line| format!("{}\n", line.trim_end()))
                .collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}

fn paragraphs(lines: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let line = line.trim();
        let starts_item = ["- ", "* ", "| "].iter().any(|mark| line.starts_with(mark));
        if line.is_empty() {
            open = false;
        } else if let Some(heading) = line.strip_prefix("# ") {
            out.push(format!("{heading}:"));
            open = true;
        } else if open && !starts_item {
            let last = out.last_mut().expect("an open paragraph");
            last.push(' ');
            last.push_str(line);
        } else {
            out.push(line.to_string());
            open = true;
        }
    }
    out.iter()
        .filter_map(|paragraph| rewrite_safety_section(paragraph))
        .map(|paragraph| without_links(&without_references(&paragraph)))
        .collect()
}

/// Converts a Rust `# Safety` section to C terms, without the rules that the introduction of `blosc2.h` states for
/// all functions.
fn rewrite_safety_section(paragraph: &str) -> Option<String> {
    let Some(rules) = paragraph.strip_prefix("Safety: ") else { return Some(paragraph.to_string()) };
    // The rules for the streams of a back-end are at its `open`; a function that accesses nothing has no rules.
    if rules.starts_with("The rules of this module") || rules.starts_with("None:") {
        return None;
    }
    let own = rules.strip_prefix("The rules of the module `capi`").unwrap_or(rules);
    let own = own.trim_start_matches([';', '.', ',']);
    let own = own.trim_start();
    (!own.is_empty()).then(|| format!("Note: {own}"))
}

/// Removes parentheses that only refer to a page of the specification.
fn without_references(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('(') {
        let Some(len) = rest[start..].find(')') else { break };
        let inside = &rest[start..start + len];
        if inside.contains(".md`") {
            out.push_str(rest[..start].trim_end());
        } else {
            out.push_str(&rest[..start + len + 1]);
        }
        rest = &rest[start + len + 1..];
    }
    out.push_str(rest);
    out
}

fn without_links(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`").replace("*/", "* /")
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

#[test]
fn references_links_and_headings_are_rewritten() {
    let lines: Vec<String> = [
        "One of [`Two`] (`abi.md` 3.1), and (this) stays.",
        "",
        "# Safety",
        "The rules of the module `capi`; `x` has",
        "two items.",
        "# Errors",
        "- None.",
    ]
    .map(String::from)
    .to_vec();
    assert_eq!(
        to_c(&lines, "  "),
        "  /**\n   * One of `Two`, and (this) stays.\n   *\n   * Note: `x` has two items.\n   *\n   \
         * Errors:\n   *\n   * - None.\n   */\n"
    );
    assert_eq!(to_c(&lines[..1], ""), "/** One of `Two`, and (this) stays. */\n");
    for rules in ["The rules of the module `capi`.", "The rules of this module.", "None: `x` is not used."] {
        assert_eq!(to_c(&["# Safety", rules].map(String::from), ""), "");
    }
    assert_eq!(to_c(&[], ""), "");
}
