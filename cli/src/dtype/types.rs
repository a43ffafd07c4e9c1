//! Types of items, with and without fields.

use super::scalar::{MAX_SIZE, Scalar};
use crate::python::Literal;
use blosc2::AnyArray;
use std::fmt::{self, Display};
use std::str::FromStr;

/// A type of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    Scalar(ScalarType),
    Record(Vec<Field>),
}

/// A type without fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalarType(pub(super) Scalar);

/// A field of a record, which follows the one before it without a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name; empty for padding.
    pub(super) name: String,
    title: Option<String>,
    /// The shape of an array of items; without dimensions for one item.
    pub(super) shape: Vec<u64>,
    pub(super) dtype: Dtype,
    /// Size of all items in bytes, at least 1.
    pub(super) size: usize,
}

impl FromStr for Dtype {
    type Err = String;

    /// Reads for example `f4`, `>i2`, `float32`, `<M8[ns]` or `[('x', '<f4'), ('y', '<f4', (2,))]`.
    fn from_str(text: &str) -> Result<Dtype, String> {
        if !text.starts_with('[') {
            return text.parse().map(|scalar| Dtype::Scalar(ScalarType(scalar)));
        }
        let literal = Literal::parse(text).map_err(|error| format!("type {text:?}: {error}"))?;
        Dtype::from_literal(&literal)
    }
}

impl Display for Dtype {
    /// Writes a type without fields as NumPy's `dtype.str`, for example `<f4`, others as its `dtype.descr`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dtype::Scalar(scalar) => write!(f, "{}", scalar.0),
            Dtype::Record(_) => write!(f, "{}", self.to_literal()),
        }
    }
}

impl Dtype {
    /// Returns the type that NumPy's `dtype.descr` states: a text, or a list with a tuple for each field.
    pub(crate) fn from_literal(literal: &Literal) -> Result<Dtype, String> {
        let invalid =
            || format!("type {literal}, expected for example '<f4' or [('x', '<f4'), ('y', '|S3')]");
        match literal {
            Literal::Text(text) => text.parse().map(|scalar| Dtype::Scalar(ScalarType(scalar))),
            Literal::List(values) if !values.is_empty() => {
                let field = |value| Field::from_literal(value).ok_or_else(invalid)?;
                let dtype = Dtype::Record(values.iter().map(field).collect::<Result<_, _>>()?);
                if dtype.fields_size().is_none_or(|size| size > MAX_SIZE) {
                    Err(invalid())
                } else {
                    Ok(dtype)
                }
            }
            _ => Err(invalid()),
        }
    }

    /// Returns NumPy's `dtype.descr`; of a type without fields, its `dtype.str`.
    pub(crate) fn to_literal(&self) -> Literal {
        match self {
            Dtype::Scalar(scalar) => Literal::Text(scalar.0.to_string()),
            Dtype::Record(fields) => Literal::List(fields.iter().map(Field::to_literal).collect()),
        }
    }

    /// Returns the type of the items of an array; `None` if it is unknown.
    pub(crate) fn of_array(array: &AnyArray) -> Option<Dtype> {
        if array.dtype_format() != 0 {
            return None;
        }
        let text = array.dtype();
        // Some writers store the text with its quotes.
        let dtype: Dtype = text.trim_matches(['\'', '"']).parse().ok()?;
        (dtype.size() == array.typesize()).then_some(dtype)
    }

    /// Returns the size of an item in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Dtype::Scalar(scalar) => scalar.0.size,
            // Checked when the type was read.
            Dtype::Record(_) => self.fields_size().unwrap_or(MAX_SIZE),
        }
    }

    fn fields_size(&self) -> Option<usize> {
        let Dtype::Record(fields) = self else { return None };
        fields.iter().try_fold(0usize, |size, field| size.checked_add(field.size))
    }

    /// Returns the names of the fields, without padding; `None` for a type without fields.
    pub(crate) fn field_names(&self) -> Option<Vec<&str>> {
        let Dtype::Record(fields) = self else { return None };
        Some(fields.iter().filter(|field| !field.is_padding()).map(|field| field.name.as_str()).collect())
    }
}

impl Field {
    /// Returns the field of a tuple: name or title and name, type, and perhaps a shape. `None` for another value.
    fn from_literal(literal: &Literal) -> Option<Result<Field, String>> {
        let Literal::Tuple(parts) = literal else { return None };
        let (name, dtype, shape) = match parts.as_slice() {
            [name, dtype] => (name, dtype, Vec::new()),
            [name, dtype, Literal::Number(extent)] => (name, dtype, vec![*extent]),
            [name, dtype, Literal::Tuple(extents)] => {
                let extents = extents.iter().map(|extent| match extent {
                    Literal::Number(extent) => Some(*extent),
                    _ => None,
                });
                (name, dtype, extents.collect::<Option<_>>()?)
            }
            _ => return None,
        };
        let (title, name) = match name {
            Literal::Text(name) => (None, name.clone()),
            Literal::Tuple(names) => match names.as_slice() {
                [Literal::Text(title), Literal::Text(name)] => (Some(title.clone()), name.clone()),
                _ => return None,
            },
            _ => return None,
        };
        let dtype = match Dtype::from_literal(dtype) {
            Ok(dtype) => dtype,
            Err(error) => return Some(Err(error)),
        };
        let size = shape
            .iter()
            .try_fold(dtype.size(), |size, &extent| size.checked_mul(usize::try_from(extent).ok()?));
        // NumPy has arrays without items; a file of Blosc2 does not gain from them.
        let size = size.filter(|&size| size > 0 && size <= MAX_SIZE)?;
        Some(Ok(Field { name, title, shape, dtype, size }))
    }

    fn to_literal(&self) -> Literal {
        let name = match &self.title {
            Some(title) => {
                Literal::Tuple(vec![Literal::Text(title.clone()), Literal::Text(self.name.clone())])
            }
            None => Literal::Text(self.name.clone()),
        };
        let mut parts = vec![name, self.dtype.to_literal()];
        if !self.shape.is_empty() {
            parts.push(Literal::Tuple(self.shape.iter().copied().map(Literal::Number).collect()));
        }
        Literal::Tuple(parts)
    }

    /// Returns whether the field is a gap between others.
    pub(super) fn is_padding(&self) -> bool {
        self.name.is_empty()
    }
}

/// Calls `f` for the bytes of each field of a record that is no padding.
pub(super) fn for_each_field<'a>(
    fields: &'a [Field],
    mut item: &'a [u8],
    mut f: impl FnMut(&'a Field, &'a [u8]),
) {
    for field in fields {
        let (bytes, rest) = item.split_at(field.size.min(item.len()));
        item = rest;
        if !field.is_padding() {
            f(field, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_fields_are_read_and_written() {
        for (text, size, names) in [
            ("[('a', '<i4'), ('b', '>f8')]", 12, &["a", "b"][..]),
            ("[('a', '|i1'), ('', '|V7'), ('b', '<f8')]", 16, &["a", "b"]),
            ("[('x', [('y', '<f4'), ('z', '|S3')]), ('w', '<u2', (2, 3))]", 19, &["x", "w"]),
            ("[(('title', 'n'), '<i2', (2,))]", 4, &["n"]),
        ] {
            let dtype: Dtype = text.parse().unwrap();
            assert_eq!((dtype.to_string().as_str(), dtype.size()), (text, size));
            assert_eq!(dtype.field_names().unwrap(), names);
        }
        assert_eq!("[('a', 'i1', 3)]".parse::<Dtype>().unwrap().to_string(), "[('a', '|i1', (3,))]");
        assert_eq!("f4".parse::<Dtype>().unwrap().field_names(), None);
    }

    #[test]
    fn other_lists_are_errors() {
        for text in [
            "[]",
            "['<f4']",
            "[('a',)]",
            "[('a', '|O')]",
            "[('a', '<f4', (0,))]",
            "[('a', '<f4', (4294967296, 4294967296))]",
            "[('a', '|S2147483647'), ('b', '<f4')]",
            "[(1, '<f4')]",
            "[('a', '<f4'",
        ] {
            let error = text.parse::<Dtype>().unwrap_err();
            assert!(error.starts_with("type "), "{error}");
        }
    }
}
