//! The streams of a block (`chunk.md` 1.12): reading their lengths and run tokens, and writing runs.

use super::read_i32;
use crate::err;
use crate::error::Result;

/// One stream of a block, before decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream<'a> {
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
pub const MAX_RUN_LENGTH: usize = 5;

/// Reads the stream at `*pos` of `bytes`, which stands for `neblock` bytes, and moves `*pos` behind it.
///
/// # Errors
/// `ReadBuffer` when `bytes` ends inside the stream, `RunLength` for a run that is none.
#[inline(always)]
pub fn read<'a>(bytes: &'a [u8], pos: &mut usize, neblock: usize) -> Result<Stream<'a>> {
    // A position that error messages borrow would live in memory, and each stream wait for the one before.
    let start = *pos;
    let Some(csize) = read_i32(bytes, start) else {
        return Err(err!(ReadBuffer, "no stream length at {start} of {} bytes", bytes.len()));
    };
    let rest = &bytes[start + 4..];
    if csize == 0 {
        *pos = start + 4;
        return Ok(Stream::Run(0));
    }
    if csize < 0 {
        let Some(&token) = rest.first() else {
            return Err(err!(ReadBuffer, "no run token behind {start} of {} bytes", bytes.len()));
        };
        *pos = start + 5;
        return match u8::try_from(-i64::from(csize)) {
            Ok(value) if token & TOKEN_RUN != 0 => Ok(Stream::Run(value)),
            _ => Err(err!(RunLength, "run of {csize} with token {token:#04x}")),
        };
    }
    let csize = csize as usize;
    let Some(payload) = rest.get(..csize) else {
        return Err(err!(ReadBuffer, "a stream of {csize} bytes where {} are left", rest.len()));
    };
    *pos = start + 4 + csize;
    Ok(if csize == neblock { Stream::Raw(payload) } else { Stream::Coded(payload) })
}

/// Appends a run of `value` at the start of `out`; the number of bytes written, `None` if they do not fit.
pub fn write_run(out: &mut [u8], value: u8) -> Option<usize> {
    let len = if value == 0 { 4 } else { MAX_RUN_LENGTH };
    let out = out.get_mut(..len)?;
    out[..4].copy_from_slice(&(-i32::from(value)).to_le_bytes());
    if let Some(token) = out.get_mut(4) {
        *token = TOKEN_RUN;
    }
    Some(len)
}

/// The byte that all of `bytes` are, if they are one (and there are some).
pub fn single_value(bytes: &[u8]) -> Option<u8> {
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
            let mut pos = 0;
            assert_eq!(read(&out, &mut pos, 1000).unwrap(), Stream::Run(value));
            assert_eq!(pos, len);
            assert_eq!(write_run(&mut out[..len - 1], value), None);
        }
    }

    #[test]
    fn bad_streams_have_their_codes() {
        let code = |bytes: &[u8]| read(bytes, &mut 0, 100).unwrap_err().kind();
        assert_eq!(code(&[1, 0, 0]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[5, 0, 0, 0, 1, 2, 3, 4]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[0xff, 0xff, 0xff, 0xff]), ErrorKind::ReadBuffer);
        assert_eq!(code(&[0xff, 0xff, 0xff, 0xff, 0]), ErrorKind::RunLength);
        assert_eq!(code(&[0, 0xff, 0xff, 0xff, 1]), ErrorKind::RunLength);
        assert_eq!(code(&[0, 0, 0, 0x80, 1]), ErrorKind::RunLength);
        // Token bits but the first are ignored.
        assert_eq!(read(&[0xf9, 0xff, 0xff, 0xff, 0xff], &mut 0, 9).unwrap(), Stream::Run(7));
    }

    #[test]
    fn single_values_are_found() {
        assert_eq!(single_value(&[]), None);
        assert_eq!(single_value(&[3]), Some(3));
        for len in 2..70 {
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
