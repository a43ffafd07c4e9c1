//! The header of NumPy's file format `.npy`, versions 1.0, 2.0 and 3.0: the magic number, the version, the length of the
//! rest, and a dictionary in the notation of Python with the type, the order and the shape of the items that follow.

use crate::boxes::nbytes;
use crate::dtype::Dtype;
use crate::python::Literal;
use std::io::{self, Read, Seek};

/// The first bytes of a file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Limit for the length of a dictionary in bytes. One with a type without fields has less than 1 KiB, one with a thousand
/// fields less than 100 KiB.
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

/// Returns whether a file begins as a NumPy file. It is read from its begin again then.
pub(crate) fn is_npy(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start == MAGIC)
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

    /// Returns the bytes of the header: in version 1.0, unless it is too long (2.0) or not in ASCII (3.0).
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let extents: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let shape = match extents.as_slice() {
            [extent] => format!("({extent},)"),
            extents => format!("({})", extents.join(", ")),
        };
        let order = if self.fortran_order { "True" } else { "False" };
        let descr = self.dtype.to_literal();
        let mut dictionary = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let (major, len_size) = if !dictionary.is_ascii() {
            (3, 4)
        } else if dictionary.len() + ALIGNMENT > usize::from(u16::MAX) {
            (2, 4)
        } else {
            (1, 2)
        };
        let start_len = MAGIC.len() + 2 + len_size;
        let len = (start_len + dictionary.len() + 1).next_multiple_of(ALIGNMENT) - start_len;
        dictionary.extend(std::iter::repeat_n(' ', len - 1 - dictionary.len()));
        dictionary.push('\n');
        let len = u32::try_from(len).ok().filter(|&len| len <= MAX_LEN);
        let len =
            len.ok_or_else(|| format!("a type for which a NumPy file has a header above {MAX_LEN} bytes"))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([major, 0]);
        bytes.extend(&len.to_le_bytes()[..len_size]);
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
    let place = |error: String| format!("{error} in the header of a NumPy file");
    let Literal::Dictionary(entries) = Literal::parse(text).map_err(place)? else {
        return Err(place("no dictionary".to_owned()));
    };
    let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
    for (key, value) in entries {
        match (key.as_str(), value) {
            ("descr", value) => dtype = Some(Dtype::from_literal(&value)?),
            ("fortran_order", Literal::Bool(value)) => fortran_order = Some(value),
            ("shape", Literal::Tuple(extents)) => shape = Some(extents_of(&extents)?),
            ("fortran_order", value) => return Err(place(format!("{key} {value}, expected True or False"))),
            ("shape", value) => return Err(place(format!("{key} {value}, expected a tuple of numbers"))),
            _ => return Err(place(format!("{key:?}, expected descr, fortran_order and shape"))),
        }
    }
    let missing = |key| format!("a header of a NumPy file without {key:?}");
    Ok(Header {
        dtype: dtype.ok_or_else(|| missing("descr"))?,
        fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

fn extents_of(values: &[Literal]) -> Result<Vec<u64>, String> {
    if values.len() > MAX_DIMENSIONS {
        return Err(format!("a shape in a NumPy file, expected at most {MAX_DIMENSIONS} dimensions"));
    }
    let extent = |value: &Literal| match value {
        Literal::Number(extent) => Ok(*extent),
        value => Err(format!("{value} in the shape of a NumPy file, expected an extent")),
    };
    values.iter().map(extent).collect()
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
            (format!("{{'descr': [('a', '<f4', -1)], {rest}"), "\"-1)]"),
            (format!("{{'descr': [('a',)], {rest}"), "expected for example"),
            (format!("{{'descr': '|O', {rest}"), "type \"|O\""),
            (format!("{{'descr': 4, {rest}"), "type 4, expected for example"),
            (format!("{{'descr': '<f4', 'x': 1, {rest}"), "expected descr, fortran_order and shape"),
            (format!("{{'descr': '<f4', 'descr': '<f4', {rest}"), "\"descr\" twice"),
            (format!("{{{rest}"), "without \"descr\""),
            (format!("{{'descr': '<f4', {rest} {{"), "expected the end"),
            ("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}".to_owned(), "True or False"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (True,)}".to_owned(), "expected an extent"),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': 3}".to_owned(), "a tuple of numbers"),
            (format!("{{'shape': ({})}}", "1,".repeat(65)), "at most 64 dimensions"),
            ("{'descr': '<f4".to_owned(), "a text with its end"),
            (String::new(), "expected a text, a number"),
            ("3".to_owned(), "no dictionary"),
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
