//! Metalayers: names, sizes and contents.

use blosc2::{Metalayers, Result};
use serde::Serialize;

/// A metalayer. In JSON: `name`, `list` (fixed or variable), `nbytes` and `error` (one of them is null), and with
/// `--meta` the whole content as `text` if it is printable UTF-8, otherwise as `hex`.
#[derive(Serialize)]
pub(super) struct Metalayer {
    pub name: String,
    pub list: &'static str,
    pub nbytes: Option<usize>,
    pub error: Option<String>,
    #[serde(flatten)]
    pub content: Option<Content>,
}

/// The content of a metalayer.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Content {
    Text(String),
    Hex(String),
}

impl Content {
    fn new(bytes: Vec<u8>) -> Content {
        let is_printable = |text: &str| text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t');
        match String::from_utf8(bytes) {
            Ok(text) if is_printable(&text) => Content::Text(text),
            Ok(text) => Content::Hex(hex(text.as_bytes())),
            Err(error) => Content::Hex(hex(error.as_bytes())),
        }
    }

    /// Returns up to `limit` lines of up to `width` characters, and `...` if there is more.
    pub(super) fn lines(&self, limit: usize, width: usize) -> Vec<String> {
        let text = match self {
            Content::Text(text) | Content::Hex(text) => text,
        };
        let mut lines = text.lines().flat_map(|line| pieces(line, width));
        let mut first: Vec<String> = lines.by_ref().take(limit).collect();
        if lines.next().is_some() {
            first.push("...".to_owned());
        }
        first
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a line in pieces of up to `width` characters: one piece if it is empty.
fn pieces(line: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    if chars.is_empty() {
        return vec![String::new()];
    }
    chars.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// Returns all metalayers, with their contents if `with_content` is set.
pub(super) fn read_all(metalayers: Metalayers<'_>, with_content: bool) -> Vec<Metalayer> {
    let fixed = metalayers.fixed_names().into_iter().map(|name| {
        let content = metalayers.fixed(&name);
        Metalayer::new(name, "fixed", content, with_content)
    });
    let variable = metalayers.variable_names().into_iter().map(|name| {
        let content = metalayers.variable(&name);
        Metalayer::new(name, "variable", content, with_content)
    });
    fixed.chain(variable).collect()
}

impl Metalayer {
    fn new(
        name: String,
        list: &'static str,
        content: Result<Option<Vec<u8>>>,
        with_content: bool,
    ) -> Metalayer {
        match content {
            Ok(Some(bytes)) => Metalayer {
                name,
                list,
                nbytes: Some(bytes.len()),
                error: None,
                content: with_content.then(|| Content::new(bytes)),
            },
            Ok(None) => Metalayer {
                name,
                list,
                nbytes: None,
                error: Some("the name is not UTF-8".to_owned()),
                content: None,
            },
            Err(error) => {
                Metalayer { name, list, nbytes: None, error: Some(error.to_string()), content: None }
            }
        }
    }
}
