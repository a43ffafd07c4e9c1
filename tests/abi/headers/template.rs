//! Fills the directives of a hand-written header with Rust items.
//!
//! A directive is a line that begins with `@`, followed by names up to the end of the line, or, if the line ends with
//! `:`, on the lines up to `@end`:
//!
//! | directive | becomes |
//! |---|---|
//! | `@warning` | the note that the file is generated |
//! | `@enum NAME…` | an anonymous enum of these constants; `PREFIX*` means all with that prefix |
//! | `@define NAME…` | a macro for each constant |
//! | `@define-line NAME words…` | a macro and a comment on one line, for build scripts that parse it |
//! | `@type NAME…` | structs without a tag, and callback types |
//! | `@tagged NAME…` | structs whose tag is the same as their typedef |
//! | `@tag-only NAME…` | structs with a tag and no typedef |
//! | `@functions Heading:` | a heading and the prototypes of those of these functions that exist |

use super::source::HeaderItems;

const WARNING: &str =
    "/* Generated from include-src/, src/abi and src/capi by `BLESS=1 cargo test --test abi headers`:
   change those, not this file. */
";

pub fn expand(header: &str, text: &str, items: &mut HeaderItems) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(directive) = line.strip_prefix('@') else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let (kind, rest) = directive.split_once(' ').unwrap_or((directive, ""));
        let mut words: Vec<&str> = Vec::new();
        let mut heading = "";
        if let Some(before) = rest.strip_suffix(':') {
            heading = before;
            loop {
                let line = lines.next().unwrap_or_else(|| panic!("{header}: @{kind} {rest} has no @end"));
                if line == "@end" {
                    break;
                }
                words.extend(line.split_whitespace());
            }
        } else {
            words.extend(rest.split_whitespace());
        }
        let made = match kind {
            "warning" => WARNING.to_string(),
            "enum" => enumeration(&words, items),
            "define" => defines(&words, items),
            "define-line" => define_line(&words, items),
            "type" => types(&words, items, |_, text| text.to_string()),
            "tagged" => types(&words, items, |name, text| {
                text.replacen("typedef struct {", &format!("typedef struct {name} {{"), 1)
            }),
            "tag-only" => types(&words, items, |name, text| {
                text.replacen("typedef struct {", &format!("struct {name} {{"), 1).replacen(
                    &format!("}} {name};"),
                    "};",
                    1,
                )
            }),
            "functions" => functions(heading, &words, items),
            _ => panic!("{header}: unknown directive {line}"),
        };
        if made.is_empty() && lines.clone().next() == Some("") {
            lines.next(); // a section without functions is followed by no blank line
        }
        out.push_str(&made);
    }
    out
}

fn all_constants(words: &[&str], items: &HeaderItems) -> Vec<String> {
    words.iter().flat_map(|word| items.constants_like(word)).collect()
}

fn enumeration(words: &[&str], items: &mut HeaderItems) -> String {
    let mut out = String::from("enum {\n");
    let names = all_constants(words, items);
    for (i, name) in names.iter().enumerate() {
        let item = items.constant(name);
        assert!(!item.text.starts_with('"'), "{name} is a text and cannot be an enumerator");
        for line in item.doc.lines() {
            out.push_str(&format!("  {line}\n"));
        }
        let comma = if i + 1 < names.len() { "," } else { "" };
        out.push_str(&format!("  {name} = {}{comma}\n", item.text));
    }
    out.push_str("};\n");
    out
}

fn defines(words: &[&str], items: &mut HeaderItems) -> String {
    let mut out = String::new();
    for name in all_constants(words, items) {
        let item = items.constant(&name);
        let value = if item.text.contains(' ') && !item.text.starts_with('"') {
            format!("({})", item.text)
        } else {
            item.text.clone()
        };
        out.push_str(&format!("{}#define {name} {value}\n", item.doc));
    }
    out
}

fn define_line(words: &[&str], items: &mut HeaderItems) -> String {
    let [name, comment @ ..] = words else { panic!("@define-line needs a name") };
    let value = &items.constant(name).text;
    format!("#define {name} {value}  /* {} */\n", comment.join(" "))
}

fn types(words: &[&str], items: &mut HeaderItems, rewrite: impl Fn(&str, &str) -> String) -> String {
    let made: Vec<_> = words
        .iter()
        .map(|name| {
            let item = items.type_(name);
            // A struct without a typedef is referred to by its tag.
            let text = item.text.replace(" chunk_cache_s chunk_cache;", " struct chunk_cache_s chunk_cache;");
            format!("{}{}", item.doc, rewrite(name, &text))
        })
        .collect();
    made.join("\n")
}

fn functions(heading: &str, words: &[&str], items: &mut HeaderItems) -> String {
    let mut out = String::new();
    for name in words {
        let Some(item) = items.function(name) else { continue };
        if out.is_empty() {
            out.push_str(&format!("/* ---- {heading} ---- */\n"));
        }
        out.push_str(&format!("\n{}{}", item.doc, item.text));
    }
    out
}
