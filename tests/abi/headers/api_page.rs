//! The API reference, `docs/api.md`: the content of the headers as a page. It is generated from the headers, so that
//! it cannot differ from them.

use std::fmt::Write;

/// A declaration with the comment before it.
struct Declaration {
    text: Vec<String>,
    code: Vec<String>,
}

impl Declaration {
    /// Returns the declaration without preprocessor lines and attributes.
    fn plain_lines(&self) -> Vec<&str> {
        let is_plain = |line: &&str| !line.starts_with('#') && !line.starts_with("B2ND_DEPRECATED");
        self.code.iter().map(String::as_str).filter(is_plain).collect()
    }

    /// Returns the function that is declared, if it is one.
    fn function(&self) -> Option<&str> {
        if self.code.first().is_some_and(|line| line.starts_with("#define")) {
            return None;
        }
        let plain = self.plain_lines();
        let is_type = ["typedef", "enum", "struct", "static const", "extern"];
        if is_type.iter().any(|word| plain.first().is_none_or(|code| code.starts_with(word))) {
            return None;
        }
        let before = plain.iter().find(|line| line.contains('('))?.split('(').next()?;
        before.split(|c: char| !c.is_alphanumeric() && c != '_').rfind(|word| !word.is_empty())
    }

    /// Returns the name of the declaration in the page.
    fn name(&self) -> String {
        if let Some(function) = self.function() {
            return function.to_string();
        }
        let words = |line: &str| -> Vec<String> {
            line.split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty())
                .map(String::from)
                .collect()
        };
        let (first, last) = match (self.code.first(), self.code.last()) {
            (Some(first), Some(last)) => (words(first), words(last)),
            _ => return String::new(),
        };
        if let Some(at) = first.iter().position(|word| word == "define") {
            return first.get(at + 1).cloned().unwrap_or_default();
        }
        if let Some(line) = self.code.iter().find(|line| line.contains("(*")) {
            // A pointer to a function.
            let name = line.split("(*").nth(1).unwrap_or_default();
            if self.code[0].starts_with("typedef") && !self.code[0].contains('{') {
                return words(name).first().cloned().unwrap_or_default();
            }
        }
        if self.code[0].starts_with("static const") {
            return first.iter().find(|word| word.starts_with("BLOSC")).cloned().unwrap_or_default();
        }
        let last = self.plain_lines().last().map_or(last, |line| words(line));
        if last.is_empty() {
            // A struct that has only a tag.
            return first.last().cloned().unwrap_or_default();
        }
        last.last().cloned().unwrap_or_default()
    }
}

/// Returns the text of a comment without its marks; `line` is its first line.
fn read_comment<'a>(line: &str, lines: &mut impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut text = Vec::new();
    let mut line = line.trim().trim_start_matches("/**").to_string();
    loop {
        let end = line.contains("*/");
        let content = line.replace("*/", "");
        let content = content.trim();
        let content = content.strip_prefix('*').unwrap_or(content).trim();
        if !(content.is_empty() && (text.is_empty() || end)) {
            text.push(content.to_string());
        }
        if end {
            return text;
        }
        match lines.next() {
            Some(next) => line = next.to_string(),
            None => return text,
        }
    }
}

/// Returns the declaration that begins with the next line, up to its end, without bodies of inline functions.
fn read_declaration<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut code: Vec<String> = Vec::new();
    let (mut depth, mut conditions) = (0i32, 0i32);
    for line in lines.by_ref() {
        if code.is_empty() && line.trim() == "BLOSC_EXPORT" {
            continue;
        }
        let line = line.strip_prefix("BLOSC_EXPORT ").unwrap_or(line);
        let is_inline = code.first().map_or(line, String::as_str).starts_with("static inline")
            || code.first().map_or(line, String::as_str).starts_with("BLOSC_ATTRIBUTE_UNUSED static");
        if is_inline && line.ends_with(" {") {
            code.push(format!("{};", line.trim_end_matches(" {")));
            return code;
        }
        code.push(line.trim_end().to_string());
        let start = line.trim_start();
        if start.starts_with("#if") {
            conditions += 1;
        } else if start.starts_with("#endif") {
            conditions -= 1;
        }
        let bare = match line.split_once("/*") {
            Some((before, _)) => before,
            None => line,
        };
        if !start.starts_with('*') && !start.starts_with("/*") {
            depth += bare.matches('{').count() as i32 - bare.matches('}').count() as i32;
        }
        let is_whole = if code[0].starts_with("#define") {
            !line.ends_with('\\')
        } else {
            bare.trim_end().ends_with(';') || (start.starts_with("#endif") && code[0].starts_with("#if"))
        };
        if is_whole && depth == 0 && conditions == 0 {
            return code;
        }
    }
    code
}

/// Returns a table of the error codes.
fn error_table(header: &str) -> String {
    let mut table = String::from("| code | name | |\n|---|---|---|\n");
    let lines: Vec<_> = header.lines().map(str::trim).collect();
    for pair in lines.windows(2) {
        let code = pair[1].strip_prefix("BLOSC2_ERROR_").and_then(|rest| rest.split_once(" = "));
        if let Some((name, code)) = code {
            let meaning = pair[0].trim_start_matches("/**").trim_end_matches("*/").trim();
            let code = code.trim_end_matches(',');
            writeln!(table, "| {code} | `BLOSC2_ERROR_{name}` | {meaning} |").expect("a string");
        }
    }
    table
}

/// Returns the page for these headers, each given by name and text.
pub fn generate_page<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut table = String::new();
    let mut body = String::new();
    let mut functions = Vec::new();
    for (name, text) in headers {
        if name == "blosc2.h" {
            table = error_table(text);
        }
        let mut heading = Some(format!("\n# `{name}`\n"));
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(section) =
                line.strip_prefix("/* ---- ").and_then(|rest| rest.strip_suffix(" ---- */"))
            {
                body.extend(heading.take());
                writeln!(body, "\n## {section}").expect("a string");
            } else if line.starts_with("/**") {
                let text = read_comment(line, &mut lines);
                let declaration = Declaration { text, code: read_declaration(&mut lines) };
                body.extend(heading.take());
                let name = declaration.name();
                writeln!(
                    body,
                    "\n### `{name}`\n\n```c\n{}\n```\n\n{}",
                    declaration.code.join("\n"),
                    declaration.text.join("\n")
                )
                .expect("a string");
                if declaration.function().is_some() && name != "B2ND_DEPRECATED" {
                    functions.push(name);
                }
            } else if line == "enum {" {
                let code = std::iter::once(line).chain(lines.by_ref().take_while(|line| *line != "};"));
                body.extend(heading.take());
                writeln!(body, "\n```c\n{}\n}};\n```", code.collect::<Vec<_>>().join("\n"))
                    .expect("a string");
            }
        }
    }
    functions.sort();
    let list: Vec<_> = functions.iter().map(|name| format!("[`{name}`](#{name})")).collect();
    format!(
        "<!-- Made from the headers by `BLESS=1 cargo test --test abi headers`. -->\n\n\
         # The interface\n\n\
         Every function, type and constant of the headers. Functions return 0 or a quantity on success and a negative code\n\
         (`BLOSC2_ERROR_*`) on failure, unless their text says otherwise. Sizes are in bytes unless the text says items. The\n\
         caller frees with `free()` what a function returns to be freed.\n\n\
         A pointer with a length must point to that much memory during the whole call, and may be NULL only if the length is\n\
         0. Memory that a function writes must not overlap other arguments. A context is used by one thread at a time.\n\n\
         ## Error codes\n\n`blosc2_error_string` returns the text for a code.\n\n{table}\n## Functions by name\n\n{}\n{body}",
        list.join(",\n")
    )
}
