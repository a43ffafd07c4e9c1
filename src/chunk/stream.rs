//! The streams of a block (`chunk.md` 1.12): reading their lengths and run tokens, and writing runs.

use crate::err;
use crate::error::Result;

/// One stream of a block, before decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream<'a> {
    /// A run: one byte value, repeated.
    Run(u8),
    /// Uncompressed bytes.
    Raw(&'a [u8]),
    /// The output of a codec.
    Coded(&'a [u8]),
}

/// Bit of the token that follows a negative length: the stream is a run.
const TOKEN_RUN: u8 = 1;

/// The maximum length of an encoded run, in bytes: the length and a token.
pub(crate) const MAX_RUN_LENGTH: usize = 5;

/// Size of the length field at the start of each stream, in bytes.
pub(crate) const LENGTH_FIELD_LEN: usize = 4;

/// Reads the stream at the start of `rest`, which has `neblock` bytes when decoded, and removes it from `rest`.
#[inline(always)]
pub(crate) fn read<'a>(rest: &mut &'a [u8], neblock: usize) -> Result<Stream<'a>> {
    let Some((length, behind)) = rest.split_first_chunk::<LENGTH_FIELD_LEN>() else {
        return Err(err!(
            ReadBuffer,
            "{} bytes remain, expected a stream length of {LENGTH_FIELD_LEN} bytes",
            rest.len()
        ));
    };
    let csize = i32::from_le_bytes(*length);
    if csize == 0 {
        *rest = behind;
        return Ok(Stream::Run(0));
    }
    if csize < 0 {
        let Some((&token, behind)) = behind.split_first() else {
            return Err(err!(
                ReadBuffer,
                "0 bytes remain, expected a token behind the stream length {csize}"
            ));
        };
        *rest = behind;
        return match u8::try_from(-i64::from(csize)) {
            Ok(value) if token & TOKEN_RUN != 0 => Ok(Stream::Run(value)),
            _ => Err(err!(
                RunLength,
                "the stream length is {csize}, the token {token:#04x}, expected -255 or more, and bit 0 set"
            )),
        };
    }
    let csize = csize as usize;
    let Some((payload, behind)) = behind.split_at_checked(csize) else {
        return Err(err!(ReadBuffer, "{} bytes remain, expected a stream of {csize} bytes", behind.len()));
    };
    *rest = behind;
    Ok(if csize == neblock { Stream::Raw(payload) } else { Stream::Coded(payload) })
}

/// Writes a run of `value` to the start of `out`. Returns the number of bytes written; `None` if they do not fit.
pub(crate) fn write_run(out: &mut [u8], value: u8) -> Option<usize> {
    let len = if value == 0 { 4 } else { MAX_RUN_LENGTH };
    let out = out.get_mut(..len)?;
    out[..4].copy_from_slice(&(-i32::from(value)).to_le_bytes());
    if let Some(token) = out.get_mut(4) {
        *token = TOKEN_RUN;
    }
    Some(len)
}

/// Returns the value that all of `bytes` have; `None` if they differ or `bytes` is empty.
pub(crate) fn single_value(bytes: &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    // Comparing the first and the last byte rejects most streams before the long comparison.
    (*bytes.last()? == first && *rest == bytes[..rest.len()]).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn written_runs_are_read_back() {
        for value in 0..=255u8 {
            let mut out = [0xaa; 8];
            let len = write_run(&mut out, value).unwrap();
            let mut rest = &out[..];
            assert_eq!(read(&mut rest, 1000).unwrap(), Stream::Run(value));
            assert_eq!(rest, &out[len..]);
            assert_eq!(write_run(&mut out[..len - 1], value), None);
        }
    }

    #[test]
    fn invalid_streams_are_rejected_with_their_error_kind() {
        let code = |bytes: &[u8]| read(&mut &bytes[..], 100).unwrap_err().kind();
        assert_eq!(code(&[1, 0, 0]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[5, 0, 0, 0, 1, 2, 3, 4]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[0xff, 0xff, 0xff, 0xff]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[0xff, 0xff, 0xff, 0xff, 0]), ErrorKind::RunLength);
        assert_eq!(code(&[0, 0xff, 0xff, 0xff, 1]), ErrorKind::RunLength);
        assert_eq!(code(&[0, 0, 0, 0x80, 1]), ErrorKind::RunLength);
        // All bits of the token except the lowest are ignored.
        assert_eq!(read(&mut &[0xf9, 0xff, 0xff, 0xff, 0xff][..], 9).unwrap(), Stream::Run(7));
    }

    #[test]
    fn single_value_is_none_if_a_byte_differs() {
        assert_eq!(single_value(&[]), None);
        assert_eq!(single_value(&[3]), Some(3));
        for len in (2..70).step_by(if cfg!(miri) { 13 } else { 1 }) {
            let mut v = vec![9; len];
            assert_eq!(single_value(&v), Some(9));
            for i in 0..len {
                v[i] = 8;
                assert_eq!(single_value(&v), None);
                v[i] = 9;
            }
        }
    }
}
