//! Extracts the definitions and imports of a source file from its tokens.

use std::collections::BTreeSet;

/// A path in a file, as written.
pub struct Use {
    /// The segments of the path; the last one is `*` for a glob.
    pub path: Vec<String>,
    /// The name that the import gives the item; `None` for a path in the code.
    pub name: Option<String>,
    /// The modules inside the file that contain the path.
    pub within: Vec<String>,
}

/// The definitions and imports of a file, without test-only items.
#[derive(Default)]
pub struct Source {
    /// The names of items.
    pub definitions: BTreeSet<String>,
    /// The names of types and traits outside functions and implementations.
    pub types: BTreeSet<String>,
    /// The modules in separate files, each with the modules inside this file that contain it.
    pub children: Vec<Vec<String>>,
    /// The modules inside this file.
    pub inline_modules: Vec<Vec<String>>,
    pub uses: Vec<Use>,
}

impl Source {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Source {
        let tokens = remove_test_items(&tokenize(text));
        let mut source = Source::default();
        let (mut within, mut depths, mut depth) = (Vec::new(), Vec::new(), 0);
        let mut at = 0;
        while at < tokens.len() {
            let token = |offset: usize| tokens.get(at + offset).map_or("", String::as_str);
            let before = at.checked_sub(1).map_or("", |before| tokens[before].as_str());
            match token(0) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if depths.last() == Some(&depth) {
                        depths.pop();
                        within.pop();
                    }
                }
                "mod" if is_word(token(1)) && matches!(token(2), ";" | "{") => {
                    let mut path = within.clone();
                    path.push(token(1).to_string());
                    if token(2) == ";" {
                        source.children.push(path);
                    } else {
                        within.push(token(1).to_string());
                        depths.push(depth);
                        source.inline_modules.push(path);
                    }
                    at += 1;
                }
                "use" if token(1) != "<" => {
                    let end = at + tokens[at..].iter().position(|token| token == ";").unwrap_or(0);
                    let mut tree = &tokens[at + 1..end];
                    read_tree(&mut tree, &[], &mut |path, name| {
                        source.uses.push(Use { path, name: Some(name), within: within.clone() });
                    });
                    at = end;
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
                    if is_word(token(1)) && !matches!(before, "*" | "raw" | "'") =>
                {
                    let name = if token(1) == "mut" { token(2) } else { token(1) };
                    source.definitions.insert(name.to_string());
                    let is_type = matches!(token(0), "struct" | "enum" | "union" | "trait" | "type");
                    if is_type && depth == within.len() {
                        source.types.insert(name.to_string());
                    }
                }
                "macro_rules" => {
                    source.definitions.insert(token(2).to_string());
                }
                word if is_word(word) && token(1) == "::" && !matches!(before, "::" | "." | "$" | "in") => {
                    let mut path = vec![word.to_string()];
                    while token(1 + 2 * (path.len() - 1)) == "::" && is_word(token(2 * path.len())) {
                        path.push(token(2 * path.len()).to_string());
                    }
                    source.uses.push(Use { path, name: None, within: within.clone() });
                }
                _ => {}
            }
            at += 1;
        }
        source
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits a text into words, `::` and single characters. A string literal becomes `""`; comments and the names of
/// lifetimes are omitted.
fn tokenize(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c));
    let mut tokens: Vec<String> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if starts(at, "//") {
            at += chars[at..].iter().take_while(|&&c| c != '\n').count();
        } else if starts(at, "/*") {
            let mut depth = 0;
            while at < chars.len() {
                if starts(at, "/*") {
                    depth += 1;
                    at += 2;
                } else if starts(at, "*/") {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        break;
                    }
                } else {
                    at += 1;
                }
            }
        } else if c == '"' {
            at = end_of_quoted(&chars, at, '"');
            tokens.push("\"\"".to_string());
        } else if c == '\'' {
            // A character literal, or a lifetime, which has no closing quote.
            if chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'') {
                at = end_of_quoted(&chars, at, '\'');
                tokens.push("\"\"".to_string());
            } else {
                at += 1;
                at += word_len(&chars[at..]);
            }
        } else if c.is_alphanumeric() || c == '_' {
            let len = word_len(&chars[at..]);
            let word: String = chars[at..at + len].iter().collect();
            at += len;
            let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
            if matches!(word.as_str(), "r" | "br" | "cr") && chars.get(at + hashes) == Some(&'"') {
                let end = format!("\"{}", "#".repeat(hashes));
                at += hashes + 1;
                while at < chars.len() && !starts(at, &end) {
                    at += 1;
                }
                at += end.len();
                tokens.push("\"\"".to_string());
            } else {
                tokens.push(word);
            }
        } else if starts(at, "::") {
            tokens.push("::".to_string());
            at += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            at += 1;
        }
    }
    tokens
}

fn word_len(chars: &[char]) -> usize {
    chars.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count()
}

/// Returns the position after the literal that begins at `at`.
fn end_of_quoted(chars: &[char], mut at: usize, quote: char) -> usize {
    at += 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Removes the items with an attribute `cfg` that requires `test`.
fn remove_test_items(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !is_attribute(tokens, at) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut behind = at;
        let mut for_tests = false;
        while is_attribute(tokens, behind) {
            let end = end_of_group(tokens, behind + 1);
            for_tests |= is_test_cfg(&tokens[behind + 2..end - 1]);
            behind = end;
        }
        if for_tests {
            behind = end_of_item(tokens, behind);
        } else {
            kept.extend_from_slice(&tokens[at..behind]);
        }
        at = behind;
    }
    kept
}

fn is_attribute(tokens: &[String], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token == "#") && tokens.get(at + 1).is_some_and(|token| token == "[")
}

/// Returns whether an attribute is `cfg(test)` or `cfg(all(.., test, ..))`.
fn is_test_cfg(attribute: &[String]) -> bool {
    attribute.first().is_some_and(|token| token == "cfg")
        && !attribute.iter().any(|token| token == "any" || token == "not")
        && attribute.iter().any(|token| token == "test")
}

/// Returns the position after the bracket that closes the one at `at`.
fn end_of_group(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the position after the item that begins at `at`.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    let is_use = tokens[at..].iter().take_while(|token| *token != ";").any(|token| token == "use")
        && !tokens[at..].iter().take_while(|token| *token != "use").any(|token| token == "{");
    while at < tokens.len() {
        match tokens[at].as_str() {
            ";" | "," => return at + 1,
            "{" if !is_use => return end_of_group(tokens, at),
            "(" | "[" | "{" => at = end_of_group(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Reads a tree of imports up to its end or a comma, and calls `visit` with each path and its imported name.
fn read_tree(tree: &mut &[String], prefix: &[String], visit: &mut impl FnMut(Vec<String>, String)) {
    let mut path = prefix.to_vec();
    let mut name = None;
    while let Some((token, rest)) = tree.split_first() {
        match token.as_str() {
            "," | "}" => break,
            "{" => {
                *tree = rest;
                while let Some(token) = tree.first() {
                    match token.as_str() {
                        "}" => {
                            *tree = &tree[1..];
                            return;
                        }
                        "," => *tree = &tree[1..],
                        _ => read_tree(tree, &path, visit),
                    }
                }
                return;
            }
            "as" => {
                name = rest.first().cloned();
                *tree = &rest[1..];
                continue;
            }
            "::" => {}
            segment => path.push(segment.to_string()),
        }
        *tree = rest;
    }
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last().cloned() {
        visit(path, name.unwrap_or(last));
    }
}
