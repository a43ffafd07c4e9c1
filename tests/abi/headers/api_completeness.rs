//! Completeness of the API reference for every function, including the inline ones: its arguments, return value,
//! units, errors, and ownership. Reads `docs/api.md` without other sources.

use super::{bless_if_asked, root};
use std::fs;

/// Functions that return a number and cannot fail, or report failure otherwise than by an error code.
const INFALLIBLE_FUNCTIONS: [&str; 8] = [
    "blosc1_get_blocksize",
    "blosc2_free_resources",
    "blosc2_get_nthreads",
    "blosc2_schunk_frame_len",
    "blosc2_stdio_destroy",
    "blosc2_stdio_mmap_close",
    "blosc_elapsed_nsecs",
    "blosc_elapsed_secs",
];

/// A function of the page.
struct Entry<'a> {
    name: &'a str,
    /// The text before the name.
    result: &'a str,
    /// Type and name of each parameter.
    parameters: Vec<(String, String)>,
    text: &'a str,
}

impl<'a> Entry<'a> {
    fn read(page: &'a str, name: &'a str) -> Entry<'a> {
        let section = page.split(&format!("\n### `{name}`\n")).nth(1);
        let section = section.unwrap_or_else(|| panic!("{name} is not in docs/api.md"));
        let code = section.strip_prefix("\n```c\n").unwrap_or_else(|| panic!("{name}: no prototype"));
        let (code, rest) = code.split_once("\n```\n").expect("an end of the prototype");
        let text = rest.split("\n#").next().unwrap_or_default().trim();
        let (result, parameters) =
            code.split_once(&format!("{name}(")).unwrap_or_else(|| panic!("{name}: no prototype"));
        let parameters = parameters.rsplit_once(')').expect("an end of the parameters").0;
        let parameters = parameters
            .split(',')
            .map(|parameter| parameter.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|parameter| parameter != "void")
            .map(|parameter| {
                let at = parameter.rfind([' ', '*']).expect("a type and a name") + 1;
                (parameter[..at].trim().to_string(), parameter[at..].to_string())
            })
            .collect();
        Entry { name, result: result.trim(), parameters, text }
    }

    /// Returns whether a piece of code in the text names the parameter.
    fn mentions(&self, parameter: &str) -> bool {
        let is_word = |piece: &str| {
            piece.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == parameter)
        };
        self.text.split('`').skip(1).step_by(2).any(is_word)
    }

    fn contains_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.contains(word))
    }

    fn is_void(&self) -> bool {
        self.result.ends_with("void")
    }

    /// Returns what the page does not state.
    fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        for (_, parameter) in &self.parameters {
            if !self.mentions(parameter) {
                gaps.push(format!("does not name {parameter}"));
            }
        }
        if !self.is_void() && !self.text.contains("Returns ") {
            gaps.push("does not say what it returns".into());
        }
        let lengths = ["size", "bytes", "len", "offset", "position"];
        let is_length = |name: &str| lengths.iter().any(|length| name.ends_with(length));
        if self.parameters.iter().any(|(_, name)| is_length(name))
            && !self.contains_any(&["byte", "item", "row"])
        {
            gaps.push("does not state the unit of a length".into());
        }
        let is_number = ["int", "int8_t", "int16_t", "int32_t", "int64_t"]
            .iter()
            .any(|number| self.result.split_whitespace().last() == Some(number));
        let is_pointer = self.result.ends_with('*');
        let errors = ["-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "negative", " code", "NULL", "; 0 for"];
        if is_number && !self.contains_any(&errors) && !INFALLIBLE_FUNCTIONS.contains(&self.name) {
            gaps.push("does not say how it fails".into());
        }
        let gives = self.parameters.iter().any(|(kind, name)| {
            kind.ends_with("**")
                && !kind.starts_with("const")
                && !["dests", "selection"].contains(&name.as_str())
        });
        let owners = ["free", "static", "own", "stay", "takes", "buffer at `*ptr`", "`*ptr` at", "stream"];
        let as_another = ["As `", "as `"];
        if (gives || is_pointer) && !self.contains_any(&owners) && !self.contains_any(&as_another) {
            gaps.push("does not state the ownership of its pointers".into());
        }
        gaps
    }
}

fn exported_names() -> Vec<String> {
    let symbols = fs::read_to_string(root().join("capi-tests/exported-symbols.txt")).expect("the list");
    let lines = symbols.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn api_page_documents_every_function_completely() {
    bless_if_asked();
    let page = fs::read_to_string(root().join("docs/api.md")).expect("docs/api.md");
    let exported = exported_names();
    // The list contains the inline functions, too.
    let list = page.split("\n## Functions by name\n").nth(1).expect("the list").split("\n#").next();
    let listed: Vec<_> = list.expect("a text").split('`').skip(1).step_by(2).collect();
    for name in &exported {
        assert!(listed.contains(&name.as_str()), "{name} is not in the list of functions");
    }
    let mut gaps = Vec::new();
    for name in listed {
        let entry = Entry::read(&page, name);
        assert!(entry.text.len() > 30, "{name}: {:?}", entry.text);
        gaps.extend(entry.gaps().iter().map(|gap| format!("{name} {gap}")));
    }
    assert!(gaps.is_empty(), "{}", gaps.join("\n"));
    // The error codes that the texts mention are in the table.
    let codes = page.split("\n| -").skip(1).filter_map(|line| line.split(' ').next()?.parse::<i32>().ok());
    assert_eq!(codes.collect::<Vec<_>>(), (1..=37).collect::<Vec<_>>());
}

#[test]
fn missing_statements_of_the_api_page_are_reported() {
    let page = |code: &str, text: &str| format!("\n### `f`\n\n```c\n{code}\n```\n\n{text}\n\n### `g`\n");
    let gaps = |code: &str, text: &str| Entry::read(&page(code, text), "f").gaps();
    assert_eq!(gaps("void f(void);", "Does."), Vec::<String>::new());
    assert_eq!(gaps("int f(int a);", "Takes `a`. Returns 0, or -1."), Vec::<String>::new());
    assert_eq!(
        gaps("int f(int a,\n      int b);", "Takes `x->a`, b. Returns 0, or -1."),
        ["does not name b"]
    );
    assert_eq!(gaps("int f(int a);", "Takes `a`; -1."), ["does not say what it returns"]);
    assert_eq!(gaps("int f(int a);", "Takes `a`. Returns 0."), ["does not say how it fails"]);
    assert_eq!(gaps("void f(int destsize);", "`destsize`."), ["does not state the unit of a length"]);
    assert_eq!(gaps("char *f(void);", "Returns a text."), ["does not state the ownership of its pointers"]);
    assert_eq!(gaps("void f(char **a);", "Stores `*a`."), ["does not state the ownership of its pointers"]);
}
