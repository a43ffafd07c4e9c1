//! Metalayers: names, sizes and contents.

use crate::msgpack::{decode, hex, printable};
use blosc2::{Metalayers, Result};
use serde::Serialize;

/// A metalayer. In JSON: `name`, `list` (fixed or variable), `nbytes` and `error` (one of them is null), and with
/// `--meta` the whole content: as `value` if it is MessagePack, as `text` if it is printable UTF-8, otherwise, and with
/// `--hex`, as `hex`.
#[derive(Serialize)]
pub(super) struct Metalayer {
    pub name: String,
    pub list: &'static str,
    pub nbytes: Option<usize>,
    pub error: Option<String>,
    #[serde(flatten)]
    pub content: Option<Content>,
}

/// The form in which contents are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentForm {
    /// Not at all.
    Absent,
    Text,
    Hex,
}

/// The content of a metalayer.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Content {
    Value(serde_json::Value),
    Text(String),
    Hex(String),
}

impl Content {
    fn new(bytes: &[u8], form: ContentForm) -> Content {
        if form == ContentForm::Hex {
            return Content::Hex(hex(bytes));
        }
        match (decode(bytes), printable(bytes)) {
            (Some(value), _) => Content::Value(value),
            (None, Some(text)) => Content::Text(text.to_owned()),
            (None, None) => Content::Hex(hex(bytes)),
        }
    }

    /// Returns up to `limit` lines of up to `width` characters, and `...` if there is more.
    pub(super) fn lines(&self, limit: usize, width: usize) -> Vec<String> {
        let text = match self {
            Content::Text(text) | Content::Hex(text) => text,
            Content::Value(value) => &value.to_string(),
        };
        let mut lines = text.lines().flat_map(|line| pieces(line, width));
        let mut first: Vec<String> = lines.by_ref().take(limit).collect();
        if lines.next().is_some() {
            first.push("...".to_owned());
        }
        first
    }
}

/// Returns a line in pieces of up to `width` characters: one piece if it is empty.
fn pieces(line: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    if chars.is_empty() {
        return vec![String::new()];
    }
    chars.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// Returns all metalayers, with their contents in the form `form`.
pub(super) fn read_all(metalayers: Metalayers<'_>, form: ContentForm) -> Vec<Metalayer> {
    let fixed = metalayers.fixed_names().into_iter().map(|name| {
        let content = metalayers.fixed(&name);
        Metalayer::new(name, "fixed", content, form)
    });
    let variable = metalayers.variable_names().into_iter().map(|name| {
        let content = metalayers.variable(&name);
        Metalayer::new(name, "variable", content, form)
    });
    fixed.chain(variable).collect()
}

impl Metalayer {
    fn new(
        name: String,
        list: &'static str,
        content: Result<Option<Vec<u8>>>,
        form: ContentForm,
    ) -> Metalayer {
        match content {
            Ok(Some(bytes)) => Metalayer {
                name,
                list,
                nbytes: Some(bytes.len()),
                error: None,
                content: (form != ContentForm::Absent).then(|| Content::new(&bytes, form)),
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
