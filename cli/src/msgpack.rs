//! The contents of metalayers as text: python-blosc2 and the library write MessagePack.

use rmpv::Value;
use serde_json::Value as Json;

/// Returns the value in a content that is one value of MessagePack, and no printable text of several bytes.
pub(crate) fn decode(content: &[u8]) -> Option<Json> {
    if content.len() > 1 && printable(content).is_some() {
        return None;
    }
    let mut rest = content;
    let value = rmpv::decode::read_value(&mut rest).ok()?;
    rest.is_empty().then(|| to_json(&value))
}

/// Returns a content that is printable text.
pub(crate) fn printable(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content).ok()?;
    text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t').then_some(text)
}

/// Returns the content with a value.
pub(crate) fn encode(value: &Json) -> Result<Vec<u8>, String> {
    let value = rmpv::ext::to_value(value).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    rmpv::encode::write_value(&mut content, &value).map_err(|error| error.to_string())?;
    Ok(content)
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the value in JSON: bytes as hexadecimal digits, and keys that are no text as text.
fn to_json(value: &Value) -> Json {
    let text = |text: &rmpv::Utf8String| match text.as_str() {
        Some(text) => text.to_owned(),
        None => hex(text.as_bytes()),
    };
    match value {
        Value::Nil => Json::Null,
        Value::Boolean(value) => (*value).into(),
        Value::Integer(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into(),
            (None, number) => number.into(),
        },
        // JSON has neither NaN nor infinity.
        Value::F32(number) if !number.is_finite() => number.to_string().into(),
        Value::F64(number) if !number.is_finite() => number.to_string().into(),
        Value::F32(number) => (*number).into(),
        Value::F64(number) => (*number).into(),
        Value::String(value) => text(value).into(),
        Value::Binary(bytes) => hex(bytes).into(),
        Value::Array(values) => values.iter().map(to_json).collect(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let key = match key {
                    Value::String(key) => text(key),
                    key => key.to_string(),
                };
                (key, to_json(value))
            });
            Json::Object(entries.collect())
        }
        Value::Ext(kind, bytes) => serde_json::json!({"type": kind, "bytes": hex(bytes)}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_return_from_their_contents() {
        for text in [
            "null",
            "true",
            "65",
            "-7",
            "18446744073709551615",
            "1.5",
            "\"text\"",
            "[1,[2],{\"a\":{}}]",
            "{}",
        ] {
            let value: Json = serde_json::from_str(text).unwrap();
            assert_eq!(decode(&encode(&value).unwrap()), Some(value), "{text}");
        }
    }

    #[test]
    fn texts_and_other_bytes_are_no_values() {
        for content in [&b"a text\nof two lines"[..], b"", b"\x01\x00\xff", b"\x93\x01", b"12"] {
            assert_eq!(decode(content), None, "{content:?}");
        }
        assert_eq!(
            decode(b"\x82\x01\xc4\x01\xff\xa1k\xcb\x7f\xf0\0\0\0\0\0\0"),
            Some(serde_json::json!({"1": "ff", "k": "inf"}))
        );
        assert_eq!(decode(b"\xd4\x05\x0a"), Some(serde_json::json!({"type": 5, "bytes": "0a"})));
    }
}
