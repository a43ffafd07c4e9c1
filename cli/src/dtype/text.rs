//! Items as text.

use super::style::{Style, push_hex, push_json_text, quoted};
use super::types::{Dtype, Field, ScalarType, for_each_field};

/// The text of the items of an array: of their type, or as hexadecimal digits.
pub(crate) struct ItemText {
    dtype: Option<Dtype>,
    style: Style,
}

impl ItemText {
    /// Returns the text form of items of a type, or of bytes.
    pub(crate) fn new(dtype: Option<Dtype>, style: Style) -> ItemText {
        ItemText { dtype, style }
    }

    /// Appends an item to `text`.
    pub(crate) fn push(&self, item: &[u8], text: &mut String) {
        match &self.dtype {
            Some(dtype) => dtype.push(item, self.style, text),
            None => quoted(self.style == Style::Json, text, |text| push_hex(item, text)),
        }
    }

    /// Returns whether numbers are to the right of their column.
    pub(crate) fn is_number(&self) -> bool {
        matches!(&self.dtype, Some(Dtype::Scalar(ScalarType(scalar))) if scalar.is_number())
    }

    /// Returns the names of the fields; `None` for a type without fields.
    pub(crate) fn field_names(&self) -> Option<Vec<&str>> {
        self.dtype.as_ref()?.field_names()
    }

    /// Calls `f` with the text of each field of an item; with that of the item, if it has no fields.
    pub(crate) fn for_each_cell(&self, item: &[u8], mut f: impl FnMut(&str)) {
        let mut text = String::new();
        match &self.dtype {
            Some(Dtype::Record(fields)) => for_each_field(fields, item, |field, bytes| {
                text.clear();
                field.push(bytes, self.style, &mut text);
                f(&text);
            }),
            _ => {
                self.push(item, &mut text);
                f(&text);
            }
        }
    }
}

impl Dtype {
    /// Appends an item as text.
    fn push(&self, item: &[u8], style: Style, text: &mut String) {
        let fields = match self {
            Dtype::Scalar(scalar) => return scalar.0.push(item, style, text),
            Dtype::Record(fields) => fields,
        };
        let is_json = style == Style::Json;
        text.push(if is_json { '{' } else { '(' });
        let mut is_first = true;
        for_each_field(fields, item, |field, bytes| {
            if !std::mem::take(&mut is_first) {
                text.push(',');
            }
            if is_json {
                push_json_text(&field.name, text);
                text.push(':');
            }
            field.push(bytes, style, text);
        });
        text.push(if is_json { '}' } else { ')' });
    }
}

impl Field {
    /// Appends the item, or the items as nested lists.
    fn push(&self, items: &[u8], style: Style, text: &mut String) {
        self.push_dimension(&self.shape, items, style, text);
    }

    fn push_dimension(&self, shape: &[u64], items: &[u8], style: Style, text: &mut String) {
        let Some((&extent, inner)) = shape.split_first() else { return self.dtype.push(items, style, text) };
        text.push('[');
        for (n, part) in items.chunks_exact(items.len() / extent.max(1) as usize).enumerate() {
            if n > 0 {
                text.push(',');
            }
            self.push_dimension(inner, part, style, text);
        }
        text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(dtype: &str, style: Style, item: &[u8]) -> String {
        let mut text = String::new();
        ItemText::new(Some(dtype.parse().unwrap()), style).push(item, &mut text);
        text
    }

    #[test]
    fn records_and_arrays_in_them_are_nested() {
        let dtype = "[('a', '|u1'), ('', '|V1'), ('b', [('c', '|S3'), ('d', '|i1', (2, 2))])]";
        let item = b"\x05\0a b\x01\x02\x03\xff";
        assert_eq!(text(dtype, Style::Fields, item), "(5,(a\\x20b,[[1,2],[3,-1]]))");
        assert_eq!(text(dtype, Style::Json, item), r#"{"a":5,"b":{"c":"a b","d":[[1,2],[3,-1]]}}"#);
        let mut cells = Vec::new();
        let plain = ItemText::new(Some(dtype.parse().unwrap()), Style::Plain);
        plain.for_each_cell(item, |cell| cells.push(cell.to_owned()));
        assert_eq!(cells, ["5", "(a b,[[1,2],[3,-1]])"]);
    }

    #[test]
    fn json_has_values_of_its_types() {
        for (dtype, item, expected) in [
            ("?", &[1][..], "true"),
            ("<f4", &f32::NAN.to_le_bytes(), "\"nan\""),
            ("<f4", &0.5f32.to_le_bytes(), "0.5"),
            ("<f8", &(-1e-9f64).to_le_bytes(), "-1e-9"),
            ("<c8", &[0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xff], "[1,\"-inf\"]"),
            ("S3", b"a\"\0", "\"a\\\"\""),
            ("S2", b"\xff ", "\"\\\\xff \""),
            ("<U1", &[0xe9, 0, 0, 0], "\"é\""),
            ("V2", &[1, 255], "\"01ff\""),
            ("<M8[D]", &1i64.to_le_bytes(), "\"1970-01-02\""),
            ("<M8[D]", &i64::MIN.to_le_bytes(), "null"),
            ("<m8[D]", &7i64.to_le_bytes(), "7"),
            ("<f16", &[0; 16], "\"00000000000000000000000000000000\""),
        ] {
            let found = text(dtype, Style::Json, item);
            assert_eq!(found, expected, "{dtype}");
            assert!(serde_json::from_str::<serde_json::Value>(&found).is_ok());
        }
    }
}
