//! Notations of items.

use std::fmt::Write;

/// The notation of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// For fields between spaces: no text has a space.
    Fields,
    /// For cells of a table, which quotes the text.
    Plain,
    /// Values of JSON.
    Json,
}

/// Appends bytes as hexadecimal digits.
pub(crate) fn push_hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
}

/// Calls `push` between two quotes, if `has_quotes`.
pub(super) fn quoted(has_quotes: bool, text: &mut String, push: impl FnOnce(&mut String)) {
    let quotes = if has_quotes { "\"" } else { "" };
    text.push_str(quotes);
    push(text);
    text.push_str(quotes);
}

/// Appends a text of JSON.
pub(super) fn push_json_text(content: &str, text: &mut String) {
    text.push_str(&serde_json::Value::from(content).to_string());
}
