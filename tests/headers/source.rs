//! What the headers say about Rust items: constants read line by line, types and prototypes made by cbindgen.

use std::collections::BTreeMap;
use std::path::Path;

use crate::comment;

/// One Rust item, ready for a header.
pub struct Item {
    /// Doc comment as a C comment, with a line break; or empty.
    pub doc: String,
    /// The value of a constant, or the C text of a type or prototype.
    pub text: String,
    placed: bool,
}

/// The items by name. A header takes them; whatever no header took is an error.
pub struct Items {
    /// The layout that they are read for.
    pub abi: Abi,
    constants: BTreeMap<String, Item>,
    /// Names of the constants in the order of the source, which is what a pattern expands to.
    constant_order: Vec<String>,
    types: BTreeMap<String, Item>,
    functions: BTreeMap<String, Item>,
}

impl Items {
    pub fn constant(&mut self, name: &str) -> &Item {
        take(&mut self.constants, name, "constant")
    }

    /// The names that a word of a directive stands for: itself, or a prefix and `*`.
    pub fn constants_like(&self, word: &str) -> Vec<String> {
        let Some(prefix) = word.strip_suffix('*') else { return vec![word.to_string()] };
        let names: Vec<_> =
            self.constant_order.iter().filter(|name| name.starts_with(prefix)).cloned().collect();
        assert!(!names.is_empty(), "no constant is called {word}");
        names
    }

    pub fn type_(&mut self, name: &str) -> &Item {
        take(&mut self.types, name, "type")
    }

    /// The prototype, if the function exists already.
    pub fn function(&mut self, name: &str) -> Option<&Item> {
        self.functions.contains_key(name).then(|| take(&mut self.functions, name, "function"))
    }

    pub fn not_placed(&self) -> Vec<&str> {
        [&self.constants, &self.types, &self.functions]
            .into_iter()
            .flatten()
            .filter(|(_, item)| !item.placed)
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

fn take<'a>(map: &'a mut BTreeMap<String, Item>, name: &str, kind: &str) -> &'a Item {
    let item = map.get_mut(name).unwrap_or_else(|| panic!("there is no {kind} {name}"));
    assert!(!item.placed, "the {kind} {name} is placed twice");
    item.placed = true;
    item
}

/// Rust types whose C form is written by hand, or that C never sees.
const BY_HAND: [&str; 11] = [
    "CBool",
    "HANDLE",
    "ContextHead",
    "MutexRoom",
    "CondvarRoom",
    "b2nd_context_s",
    "b2nd_context_t",
    "blosc2_context",
    "blosc2_frame",
    "blosc_timestamp_t",
    "DIMS",
];

/// Which layout a header describes (`abi.md` 12).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// The present one.
    Nine,
    /// That of the feature `abi7`.
    Seven,
}

/// The macro that stands for the feature `abi7` in what cbindgen writes; it never reaches a header.
const ABI7: &str = "BLOSC2_FEATURE_ABI7";

pub fn read(root: &Path, abi: Abi) -> Items {
    let mut items = Items {
        abi,
        constants: BTreeMap::new(),
        constant_order: Vec::new(),
        types: BTreeMap::new(),
        functions: BTreeMap::new(),
    };
    for file in crate::files_below(&root.join("src/abi/constants")) {
        read_constants(&file, &mut items);
    }
    read_types_and_functions(root, abi, &mut items);
    items
}

fn read_constants(file: &Path, items: &mut Items) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut doc = Vec::new();
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("///") {
            doc.push(words.to_string());
        } else if let Some(rest) = line.strip_prefix("pub const ") {
            let parsed = rest.strip_suffix(';').and_then(|rest| rest.split_once(": "));
            let (name, typed) = parsed.unwrap_or_else(|| panic!("a constant has to fit on a line: {line}"));
            let value = typed.strip_prefix("i32 = ").or_else(|| typed.strip_prefix("&str = "));
            let value = value.unwrap_or_else(|| panic!("{name} has to be an i32 or a &str"));
            let item = Item { doc: comment::to_c(&doc, ""), text: value.to_string(), placed: false };
            assert!(items.constants.insert(name.to_string(), item).is_none(), "{name} is there twice");
            items.constant_order.push(name.to_string());
            doc.clear();
        } else {
            let known = line.is_empty()
                || ["//!", "mod ", "pub use ", "use "].iter().any(|start| line.starts_with(start));
            assert!(known, "{}: only constants belong here: {line}", file.display());
            doc.clear();
        }
    }
}

fn read_types_and_functions(root: &Path, abi: Abi, items: &mut Items) {
    let text = run_cbindgen(root);
    for block in text.split("\n\n") {
        let block = block.trim_matches('\n');
        if block.is_empty() {
            continue;
        }
        let (doc, code) = split_doc(block);
        let name = declared_name(code);
        if BY_HAND.contains(&name) {
            continue;
        }
        let item = Item { doc: comment::to_c(&doc, ""), text: of_abi(&tidy(code), abi), placed: false };
        let map = if code.starts_with("typedef ") { &mut items.types } else { &mut items.functions };
        assert!(map.insert(name.to_string(), item).is_none(), "{name} is there twice");
    }
}

fn run_cbindgen(root: &Path) -> String {
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        style: cbindgen::Style::Type,
        usize_is_size_t: true,
        no_includes: true,
        documentation_style: cbindgen::DocumentationStyle::Doxy,
        documentation_length: cbindgen::DocumentationLength::Full,
        line_length: 100,
        tab_width: 2,
        ..Default::default()
    };
    config.function.prefix = Some("BLOSC_EXPORT".into());
    config.function.deprecated_with_note = Some("B2ND_DEPRECATED({})".into());
    config.export.rename.insert("CBool".into(), "bool".into());
    config.export.item_types = vec![
        cbindgen::ItemType::Structs,
        cbindgen::ItemType::Typedefs,
        cbindgen::ItemType::OpaqueItems,
        cbindgen::ItemType::Functions,
    ];
    config.export.exclude = BY_HAND.map(String::from).to_vec();
    config.defines.insert("windows".into(), "_WIN32".into());
    config.defines.insert("feature = abi7".into(), ABI7.into());
    // Only what a function needs is printed, unless it is asked for by name.
    for path in crate::files_below(&root.join("src/abi")) {
        let text = std::fs::read_to_string(path).expect("a readable source file");
        let names = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub type "))?;
            Some(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?.to_string())
        });
        config.export.include.extend(names.filter(|name| !BY_HAND.contains(&name.as_str())));
    }
    // The files of their submodules are found by cbindgen.
    let builder = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/abi/mod.rs"))
        .with_src(root.join("src/capi/mod.rs"));
    let mut out = Vec::new();
    builder.generate().expect("cbindgen understands src/abi and src/capi").write(&mut out);
    String::from_utf8(out).expect("cbindgen writes UTF-8")
}

/// The lines of a leading `/** */` comment, and what follows it.
fn split_doc(block: &str) -> (Vec<String>, &str) {
    let Some(rest) = block.strip_prefix("/**\n") else { return (Vec::new(), block) };
    let (doc, code) = rest.split_once("*/\n").expect("a closed comment");
    let lines = doc.lines().map(|line| line.trim_start().trim_start_matches('*').to_string()).collect();
    (lines, code)
}

/// The name that a typedef or prototype declares.
fn declared_name(code: &str) -> &str {
    // An attribute in front has parentheses of its own.
    let code = code
        .split_once("DEPRECATED(\"")
        .and_then(|(_, rest)| rest.split_once("\")"))
        .map_or(code, |(_, c)| c);
    let end = match (code.starts_with("typedef "), code.contains('{'), code.find("(*")) {
        (true, false, Some(pointer)) => pointer + code[pointer..].find(')').expect("a function pointer"),
        (true, ..) => code.trim_end().trim_end_matches(';').len(),
        (false, ..) => code.find('(').unwrap_or_else(|| panic!("what is this? {code}")),
    };
    let head = code[..end].trim_end();
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
    &head[start..]
}

/// The code with its inner doc comments rewritten.
fn tidy(code: &str) -> String {
    let mut out = String::new();
    let mut doc: Option<Vec<String>> = None;
    for line in code.lines() {
        let trimmed = line.trim_start();
        let indent = &line[..line.len() - trimmed.len()];
        match &mut doc {
            None if trimmed == "/**" => doc = Some(Vec::new()),
            None => {
                out.push_str(line);
                out.push('\n');
            }
            Some(lines) if trimmed == "*/" => {
                out.push_str(&comment::to_c(lines, &indent[..indent.len() - 1]));
                doc = None;
            }
            Some(lines) => lines.push(trimmed.trim_start_matches('*').to_string()),
        }
    }
    // After a field of some platforms only, cbindgen puts the semicolon outside the condition.
    out.replace("\n#endif\n  ;\n", ";\n#endif\n")
}

/// The code for one layout: a field that exists without the feature `abi7` only is public in the present layout, one
/// that exists with it only is private memory of the library.
fn of_abi(code: &str, abi: Abi) -> String {
    let public = format!("#if !defined({ABI7})");
    let private = format!("#if defined({ABI7})");
    let mut out = String::new();
    let mut keep = None;
    for line in code.lines() {
        match keep {
            None if line == public => keep = Some(abi == Abi::Nine),
            None if line == private => keep = Some(false),
            None => out.extend([line, "\n"]),
            Some(_) if line == "#endif" => keep = None,
            Some(true) => out.extend([line, "\n"]),
            Some(false) => {}
        }
    }
    assert!(keep.is_none() && !out.contains(ABI7), "a condition that is not understood:\n{code}");
    out
}
