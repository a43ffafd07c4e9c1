//! The streams of a block (`chunk.md` 1.12): reading their lengths and run tokens, and writing runs.

use crate::err;
use crate::error::Result;

/// One stream of a block, before decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream<'a> {
    /// One byte value over and over.
    Run(u8),
    /// The bytes themselves.
    Raw(&'a [u8]),
    /// What a codec made of them.
    Coded(&'a [u8]),
}

/// Bit of the token that follows a negative length: the stream is a run.
const TOKEN_RUN: u8 = 1;

/// Longest form of a run: the length and a token, in bytes.
pub(crate) const MAX_RUN_LENGTH: usize = 5;

/// Bytes of the length that each stream begins with.
pub(crate) const LENGTH: usize = 4;

/// Reads the stream at the start of `rest`, which stands for `neblock` bytes, and takes it off.
///
/// # Errors
/// `ReadBuffer` when `rest` ends inside the stream, `RunLength` for a run that is none.
#[inline(always)]
pub(crate) fn read<'a>(rest: &mut &'a [u8], neblock: usize) -> Result<Stream<'a>> {
    let Some((length, behind)) = rest.split_first_chunk::<LENGTH>() else {
        return Err(err!(ReadBuffer, "no stream length in {} bytes", rest.len()));
    };
    let csize = i32::from_le_bytes(*length);
    if csize == 0 {
        *rest = behind;
        return Ok(Stream::Run(0));
    }
    if csize < 0 {
        let Some((&token, behind)) = behind.split_first() else {
            return Err(err!(ReadBuffer, "no token behind a run of {csize}"));
        };
        *rest = behind;
        return match u8::try_from(-i64::from(csize)) {
            Ok(value) if token & TOKEN_RUN != 0 => Ok(Stream::Run(value)),
            _ => Err(err!(RunLength, "run of {csize} with token {token:#04x}")),
        };
    }
    let csize = csize as usize;
    let Some((payload, behind)) = behind.split_at_checked(csize) else {
        return Err(err!(ReadBuffer, "a stream of {csize} bytes where {} are left", behind.len()));
    };
    *rest = behind;
    Ok(if csize == neblock { Stream::Raw(payload) } else { Stream::Coded(payload) })
}

/// Appends a run of `value` at the start of `out`; the number of bytes written, `None` if they do not fit.
pub(crate) fn write_run(out: &mut [u8], value: u8) -> Option<usize> {
    let len = if value == 0 { 4 } else { MAX_RUN_LENGTH };
    let out = out.get_mut(..len)?;
    out[..4].copy_from_slice(&(-i32::from(value)).to_le_bytes());
    if let Some(token) = out.get_mut(4) {
        *token = TOKEN_RUN;
    }
    Some(len)
}

/// The byte that all of `bytes` are, if they are one (and there are some).
pub(crate) fn single_value(bytes: &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    // The last byte tells most streams apart before the long comparison.
    (*bytes.last()? == first && *rest == bytes[..rest.len()]).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn runs_go_there_and_back() {
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
    fn bad_streams_have_their_codes() {
        let code = |bytes: &[u8]| read(&mut &bytes[..], 100).unwrap_err().kind();
        assert_eq!(code(&[1, 0, 0]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[5, 0, 0, 0, 1, 2, 3, 4]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[0xff, 0xff, 0xff, 0xff]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[0xff, 0xff, 0xff, 0xff, 0]), ErrorKind::RunLength);
        assert_eq!(code(&[0, 0xff, 0xff, 0xff, 1]), ErrorKind::RunLength);
        assert_eq!(code(&[0, 0, 0, 0x80, 1]), ErrorKind::RunLength);
        // Token bits but the first are ignored.
        assert_eq!(read(&mut &[0xf9, 0xff, 0xff, 0xff, 0xff][..], 9).unwrap(), Stream::Run(7));
    }

    #[test]
    fn single_values_are_found() {
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
