//! The header of NumPy's file format `.npy`, versions 1.0, 2.0 and 3.0: the magic number, the version, the length of the
//! rest, and a dictionary in the notation of Python with the type, the order and the shape of the items that follow.

use crate::boxes::nbytes;
use crate::dtype::Dtype;
use std::io::{self, Read};

/// The first bytes of a file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Limit for the length of a dictionary in bytes. One with a type without fields has less than 1 KiB.
const MAX_LEN: u32 = 1 << 20;
/// Limit for the number of dimensions: that of NumPy.
const MAX_DIMENSIONS: usize = 64;
/// The items begin at a multiple of this number of bytes.
const ALIGNMENT: usize = 64;

/// The fields of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub dtype: Dtype,
    /// Whether the first dimension is the contiguous one, not the last.
    pub fortran_order: bool,
    pub shape: Vec<u64>,
}

impl Header {
    /// Reads a header, and leaves `reader` at the first item. Returns also the length of the header in bytes.
    pub(crate) fn read(reader: &mut impl Read) -> Result<(Header, u64), String> {
        let mut start = [0; 8];
        read_exact(reader, &mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(
                "no NumPy file: the magic number is missing; raw numbers need --shape and --dtype".to_owned()
            );
        }
        let [.., major, minor] = start;
        let (len, start_len) = match (major, minor) {
            (1, 0) => {
                let mut len = [0; 2];
                read_exact(reader, &mut len)?;
                (u32::from(u16::from_le_bytes(len)), 10)
            }
            (2 | 3, 0) => {
                let mut len = [0; 4];
                read_exact(reader, &mut len)?;
                (u32::from_le_bytes(len), 12)
            }
            _ => return Err(format!("version {major}.{minor} of a NumPy file, expected 1.0, 2.0 or 3.0")),
        };
        if len > MAX_LEN {
            return Err(format!("a header of {len} bytes in a NumPy file, expected at most {MAX_LEN}"));
        }
        let mut dictionary = vec![0; len as usize];
        read_exact(reader, &mut dictionary)?;
        let header = match major {
            // These versions are in Latin-1, whose bytes are the first characters of Unicode.
            1 | 2 => parse(&dictionary.iter().map(|&byte| char::from(byte)).collect::<String>()),
            _ => parse(
                std::str::from_utf8(&dictionary).map_err(|_| "a header of a NumPy file, expected UTF-8")?,
            ),
        };
        Ok((header?, start_len + u64::from(len)))
    }

    /// Returns the bytes of the header, in version 1.0.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let extents: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let shape = match extents.as_slice() {
            [extent] => format!("({extent},)"),
            extents => format!("({})", extents.join(", ")),
        };
        let order = if self.fortran_order { "True" } else { "False" };
        let mut dictionary =
            format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': {shape}, }}", self.dtype);
        let start_len = MAGIC.len() + 4;
        let len = (start_len + dictionary.len() + 1).next_multiple_of(ALIGNMENT) - start_len;
        let padding = len - 1 - dictionary.len();
        dictionary.extend(std::iter::repeat_n(' ', padding));
        dictionary.push('\n');
        let len =
            u16::try_from(len).map_err(|_| format!("{} dimensions in a NumPy file", self.shape.len()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(len.to_le_bytes());
        bytes.extend(dictionary.as_bytes());
        Ok(bytes)
    }

    /// Returns the length of the items in bytes.
    pub(crate) fn nbytes(&self) -> Result<u64, String> {
        nbytes(&self.shape, self.dtype.size())
            .ok_or_else(|| format!("shape {:?}, expected fewer than 2^64 bytes", self.shape))
    }
}

fn read_exact(reader: &mut impl Read, dest: &mut [u8]) -> Result<(), String> {
    reader.read_exact(dest).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "no NumPy file: it ends in the header".to_owned(),
        _ => error.to_string(),
    })
}

/// Reads the dictionary.
fn parse(text: &str) -> Result<Header, String> {
    let mut parser = Parser { rest: text };
    let fields = parser.dictionary()?;
    parser.skip_spaces();
    if !parser.rest.is_empty() {
        return Err(parser.unexpected("the end"));
    }
    let missing = |key| format!("a header of a NumPy file without {key:?}");
    Ok(Header {
        dtype: fields.dtype.ok_or_else(|| missing("descr"))?,
        fortran_order: fields.fortran_order.ok_or_else(|| missing("fortran_order"))?,
        shape: fields.shape.ok_or_else(|| missing("shape"))?,
    })
}

/// The values of the dictionary that were read so far.
#[derive(Default)]
struct Fields {
    dtype: Option<Dtype>,
    fortran_order: Option<bool>,
    shape: Option<Vec<u64>>,
}

/// A parser of the dictionary: `rest` was not read yet.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// Skips spaces and `token`, if it is next. Returns whether it was.
    fn skip(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.skip(token) { Ok(()) } else { Err(self.unexpected(token)) }
    }

    /// Returns the error that something else follows than `expected`.
    fn unexpected(&self, expected: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("{found:?} in the header of a NumPy file, expected {expected}")
    }

    fn dictionary(&mut self) -> Result<Fields, String> {
        let mut fields = Fields::default();
        self.expect("{")?;
        while !self.skip("}") {
            let key = self.string()?;
            self.expect(":")?;
            let is_repeated = match key {
                "descr" => fields.dtype.replace(self.dtype()?).is_some(),
                "fortran_order" => fields.fortran_order.replace(self.boolean()?).is_some(),
                "shape" => fields.shape.replace(self.tuple()?).is_some(),
                _ => {
                    return Err(format!(
                        "{key:?} in the header of a NumPy file, expected descr, fortran_order and shape"
                    ));
                }
            };
            if is_repeated {
                return Err(format!("{key:?} twice in the header of a NumPy file"));
            }
            if !self.skip(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(fields)
    }

    /// Reads a string without escapes.
    fn string(&mut self) -> Result<&'a str, String> {
        self.skip_spaces();
        let quote = self.rest.chars().next().filter(|first| matches!(first, '\'' | '"'));
        let quote = quote.ok_or_else(|| self.unexpected("a string"))?;
        let inner = &self.rest[1..];
        let end = inner.find(quote).ok_or_else(|| self.unexpected("a string with its end"))?;
        self.rest = &inner[end + 1..];
        Ok(&inner[..end])
    }

    fn dtype(&mut self) -> Result<Dtype, String> {
        self.skip_spaces();
        if self.rest.starts_with(['[', '(']) {
            return Err("a structured type, expected a type without fields".to_owned());
        }
        self.string()?.parse()
    }

    fn boolean(&mut self) -> Result<bool, String> {
        if self.skip("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false).map_err(|_| self.unexpected("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        let mut extents = Vec::new();
        self.expect("(")?;
        while !self.skip(")") {
            extents.push(self.extent()?);
            if extents.len() > MAX_DIMENSIONS {
                return Err(format!("a shape in a NumPy file, expected at most {MAX_DIMENSIONS} dimensions"));
            }
            if self.skip(",") {
                continue;
            }
            self.expect(")")?;
            break;
        }
        Ok(extents)
    }

    fn extent(&mut self) -> Result<u64, String> {
        self.skip_spaces();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let extent = self.rest[..end].parse().map_err(|_| self.unexpected("an extent"))?;
        self.rest = &self.rest[end..];
        // Python 2 wrote long integers with this letter.
        self.rest = self.rest.strip_prefix('L').unwrap_or(self.rest);
        Ok(extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a file with that dictionary.
    fn file(major: u8, dictionary: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([major, 0]);
        match major {
            1 => bytes.extend(u16::try_from(dictionary.len()).unwrap().to_le_bytes()),
            _ => bytes.extend(u32::try_from(dictionary.len()).unwrap().to_le_bytes()),
        }
        bytes.extend(dictionary);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(Header, u64), String> {
        Header::read(&mut &bytes[..])
    }

    #[test]
    fn the_header_is_that_of_numpy() {
        let header = Header { dtype: "<f4".parse().unwrap(), fortran_order: false, shape: vec![3, 4] };
        let mut expected = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        expected.extend(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
        expected.resize(127, b' ');
        expected.push(b'\n');
        assert_eq!(header.to_bytes().unwrap(), expected);
        assert_eq!(header.nbytes(), Ok(48));
    }

    #[test]
    fn all_versions_and_notations_are_read() {
        let cases: [(&str, bool, &[u64]); 5] = [
            ("{'descr': '>i2', 'fortran_order': False, 'shape': (), }\n", false, &[]),
            ("{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\">i2\"}", true, &[3]),
            (" { 'shape' : ( 3 , 0 ) ,'fortran_order':True, 'descr': '>i2',}   ", true, &[3, 0]),
            ("{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2, 3)}", false, &[1, 2, 3]),
            (
                "{'descr': '>i2', 'fortran_order': False, 'shape': (18446744073709551615,)}",
                false,
                &[u64::MAX],
            ),
        ];
        for (text, fortran_order, shape) in cases {
            for major in 1..=3 {
                let bytes = file(major, text.as_bytes());
                let (header, len) = read(&bytes).unwrap();
                assert_eq!(header.dtype.to_string(), ">i2");
                assert_eq!((header.fortran_order, header.shape.as_slice()), (fortran_order, shape), "{text}");
                assert_eq!(len, bytes.len() as u64);
            }
        }
    }

    #[test]
    fn other_headers_are_errors_that_say_what_was_expected() {
        let rest = "'fortran_order': False, 'shape': (2,)}";
        let cases = [
            (format!("{{'descr': [('a', '<f4')], {rest}"), "structured type"),
            (format!("{{'descr': '|O', {rest}"), "type \"|O\""),
            (format!("{{'descr': 4, {rest}"), "expected a string"),
            (format!("{{'descr': '<f4', 'x': 1, {rest}"), "expected descr, fortran_order and shape"),
            (format!("{{'descr': '<f4', 'descr': '<f4', {rest}"), "\"descr\" twice"),
            (format!("{{{rest}"), "without \"descr\""),
            (format!("{{'descr': '<f4', {rest} {{"), "expected the end"),
            ("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}".to_owned(), "True or False"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (-1,)}".to_owned(), "expected an extent"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': 3}".to_owned(), "expected ("),
            (format!("{{'shape': ({})}}", "1,".repeat(65)), "at most 64 dimensions"),
            ("{'descr': '<f4".to_owned(), "a string with its end"),
            (String::new(), "expected {"),
        ];
        for (text, expected) in cases {
            let error = read(&file(1, text.as_bytes())).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (bytes, expected) in [
            (&b"\x93NUMPX\x01\x00"[..], "magic number"),
            (b"\x93NUM", "ends in the header"),
            (b"\x93NUMPY\x01\x00\x05\x00{", "ends in the header"),
            (b"\x93NUMPY\x04\x00\x00\x00", "version 4.0"),
            (b"\x93NUMPY\x02\x00\x01\x00\x10\x00", "a header of 1048577 bytes"),
            (b"\x93NUMPY\x03\x00\x01\x00\x00\x00\xff", "expected UTF-8"),
        ] {
            let error = read(bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn shapes_of_too_many_bytes_are_errors() {
        let header = |shape| Header { dtype: "<f8".parse().unwrap(), fortran_order: false, shape };
        assert!(header(vec![1 << 40, 1 << 40]).nbytes().is_err());
        assert_eq!(header(vec![1 << 40, 1 << 40, 0]).nbytes(), Ok(0));
    }

    proptest! {
        #[test]
        fn a_header_that_is_written_is_read(
            dtype in "[<>][iu][1248]|[<>]f[248]|[|]S[1-9][0-9]{0,4}|[<>]U[1-9]|<M8\\[ns\\]",
            fortran_order: bool,
            shape in prop::collection::vec(any::<u64>(), 0..=16),
        ) {
            let header = Header { dtype: dtype.parse().unwrap(), fortran_order, shape };
            let bytes = header.to_bytes().unwrap();
            prop_assert_eq!(bytes.len() % ALIGNMENT, 0);
            let mut reader = &bytes[..];
            prop_assert_eq!(Header::read(&mut reader), Ok((header, bytes.len() as u64)));
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn any_bytes_are_a_header_or_an_error(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }

        #[test]
        fn of_a_stream_without_end_a_bounded_part_is_read(major in 1u8..=3, len: u32, byte in prop::sample::select(b" (1,{".as_slice())) {
            let mut start = MAGIC.to_vec();
            start.extend([major, 0]);
            start.extend(len.to_le_bytes());
            let mut stream = start.as_slice().chain(io::repeat(byte)).take(u64::MAX);
            prop_assert!(Header::read(&mut stream).is_err());
            prop_assert!(u64::MAX - stream.limit() <= 12 + u64::from(MAX_LEN));
        }

        #[test]
        fn any_dictionary_is_a_header_or_an_error(major in 1u8..=3, text in "[{}()\\[\\]',:0-9a-zTFé <|]{0,60}") {
            let _ = read(&file(major, text.as_bytes()));
        }

        #[test]
        fn a_changed_header_is_a_header_or_an_error(at in 0usize..128, byte: u8, shape: Vec<u64>) {
            let header = Header { dtype: "<f4".parse().unwrap(), fortran_order: true, shape };
            if let Ok(mut bytes) = header.to_bytes() {
                bytes[at] = byte;
                let _ = read(&bytes);
            }
        }
    }
}
