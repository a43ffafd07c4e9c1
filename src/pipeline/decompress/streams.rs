//! The streams of a block (`chunk.md` 4.2): decoding them one behind the other, and undoing a filter that is alone.
//!
//! Owns the walk over the streams. Never decides which block or which decoder.

use crate::chunk::stream::{self, Stream};
use crate::codec::{Decoder, Workspace};
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use crate::filter::{bitshuffle, shuffle};

/// Decodes the streams of one of the equal blocks, of `len` bytes; they are at the start of `bytes`. A decoder is only made
/// when a stream needs it.
///
/// # Errors
/// Those of `chunk.md` 2.3.
#[inline]
pub(super) fn decode_split<D: Decoder>(
    decoder: impl Fn() -> D,
    nstreams: usize,
    bytes: &[u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
    len: usize,
) -> Result<()> {
    let neblock = neblock(len, nstreams);
    each_stream(decoder, nstreams, bytes, workspace, dest, len, |_, raw, dest| copy_ahead(raw, dest, neblock))
}

/// Copies of the streams of shorter blocks, in bytes, cost less than looking where each is.
const WORTH_PLANES: usize = 2 << 10;

/// As [`decode_split`] with `front` in between, for a block that is shuffled by items of `typesize` bytes and nothing else.
/// Streams that are stored as they are go straight to `dest`, where the kernels can do that.
///
/// # Errors
/// Those of `chunk.md` 2.3.
#[inline]
pub(super) fn decode_shuffled<D: Decoder>(
    decoder: impl Fn() -> D,
    (nstreams, typesize): (usize, usize),
    bytes: &[u8],
    workspace: &mut Workspace,
    front: &mut [u8],
    dest: &mut [u8],
) -> Result<()> {
    let len = dest.len();
    if len >= WORTH_PLANES && nstreams == typesize && shuffle::takes_planes(typesize, len) {
        return decode_planes(decoder, bytes, workspace, front, (typesize, dest));
    }
    decode_split(decoder, nstreams, bytes, workspace, front, len)?;
    shuffle::unshuffle(typesize, &front[..len], dest);
    Ok(())
}

/// As [`decode_split`] with `front` in between, for a block that is bitshuffled by items of `typesize` bytes and nothing
/// else, by no writer of version 2.
///
/// # Errors
/// Those of `chunk.md` 2.3.
#[inline(never)]
pub(super) fn decode_bitshuffled<D: Decoder>(
    decoder: impl Fn() -> D,
    (nstreams, typesize): (usize, usize),
    bytes: &[u8],
    workspace: &mut Workspace,
    front: &mut [u8],
    dest: &mut [u8],
) -> Result<()> {
    let len = dest.len();
    decode_split(decoder, nstreams, bytes, workspace, front, len)?;
    bitshuffle::bitunshuffle(typesize, &front[..len], dest);
    Ok(())
}

/// As [`decode_shuffled`], where there is one stream for each byte of an item and the kernels take them from anywhere.
#[inline(never)]
fn decode_planes<D: Decoder>(
    decoder: impl Fn() -> D,
    bytes: &[u8],
    workspace: &mut Workspace,
    front: &mut [u8],
    (typesize, dest): (usize, &mut [u8]),
) -> Result<()> {
    let len = dest.len();
    let neblock = neblock(len, typesize);
    let mut raws = [None; shuffle::MAX_PLANES];
    each_stream(decoder, typesize, bytes, workspace, front, len, |nstream, raw, _| {
        raws[nstream] = Some(&raw[..neblock])
    })?;
    if raws.iter().all(Option::is_none) {
        shuffle::unshuffle(typesize, &front[..len], dest);
        return Ok(());
    }
    let mut planes = [&[][..]; shuffle::MAX_PLANES];
    for (nstream, decoded) in front[..len].chunks_exact(neblock).enumerate() {
        planes[nstream] = raws[nstream].unwrap_or(decoded);
    }
    shuffle::unshuffle_planes(&planes[..typesize], dest);
    Ok(())
}

/// Bytes of each of `nstreams` streams in a block of `len` bytes. Short blocks notice a division.
#[inline(always)]
pub(super) fn neblock(len: usize, nstreams: usize) -> usize {
    if nstreams.is_power_of_two() {
        len >> nstreams.trailing_zeros()
    } else {
        len.checked_div(nstreams).unwrap_or(0)
    }
}

/// As [`decode_split`]; what to do with streams that are stored as they are, `raw` says: it gets their number, their bytes
/// and all behind them, their place and all behind it.
#[inline(always)]
pub(super) fn each_stream<'b, D: Decoder>(
    decoder: impl Fn() -> D,
    nstreams: usize,
    bytes: &'b [u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
    len: usize,
    mut raw: impl FnMut(usize, &'b [u8], &mut [u8]),
) -> Result<()> {
    let neblock = neblock(len, nstreams);
    if neblock == 0 {
        return Err(err!(WriteBuffer, "{nstreams} streams in a block of {len} bytes"));
    }
    if neblock * nstreams != len {
        return Err(err!(Data, "{nstreams} streams do not divide a block of {len} bytes"));
    }
    let (mut rest, mut dest, mut made) = (bytes, dest, None);
    for nstream in 0..nstreams {
        // Behind a stream there are others, and behind its place theirs.
        let from_length = rest;
        match stream::read(&mut rest, neblock)? {
            Stream::Run(value) => fill_ahead(value, dest, neblock),
            Stream::Raw(_) => raw(nstream, &from_length[stream::LENGTH..], dest),
            Stream::Coded(coded) => {
                let ahead = &from_length[stream::LENGTH..];
                let decoder = made.get_or_insert_with(&decoder);
                let decoded = decoder.decode_ahead(workspace, ahead, coded.len(), dest, neblock)?;
                check_length(coded, decoded, neblock)?;
            }
        }
        dest = &mut dest[neblock..];
    }
    Ok(())
}

/// Fills the first `len` bytes of `dest` with `value`; what is behind them may become garbage, so that short runs are but a
/// few stores.
#[inline(always)]
fn fill_ahead(value: u8, dest: &mut [u8], len: usize) {
    if len <= 64
        && let Some(dest) = dest.first_chunk_mut()
    {
        *dest = [value; 64];
    } else if len <= 128
        && let Some(dest) = dest.first_chunk_mut()
    {
        *dest = [value; 128];
    } else if len <= 256
        && let Some(dest) = dest.first_chunk_mut()
    {
        *dest = [value; 256];
    } else {
        dest[..len].fill(value);
    }
}

/// Copies the first `len` bytes of `src` to `dest`, as [`fill_ahead`] fills them.
#[inline(always)]
fn copy_ahead(src: &[u8], dest: &mut [u8], len: usize) {
    fn part<const N: usize>(src: &[u8], dest: &mut [u8]) -> bool {
        let (Some(src), Some(dest)) = (src.first_chunk::<N>(), dest.first_chunk_mut()) else { return false };
        *dest = *src;
        true
    }
    let copied = match len {
        ..=64 => part::<64>(src, dest),
        65..=128 => part::<128>(src, dest),
        _ => false,
    };
    if !copied {
        copy(&src[..len], &mut dest[..len]);
    }
}

/// Decodes the payload of a variable-length block: raw if it has the block's size.
pub(super) fn decode_payload(
    decoder: &dyn Decoder,
    payload: &[u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
) -> Result<()> {
    if payload.len() == dest.len() {
        copy(payload, dest);
        return Ok(());
    }
    decode_exactly(decoder, payload, workspace, dest)
}

fn decode_exactly(
    decoder: &dyn Decoder,
    coded: &[u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
) -> Result<()> {
    let len = decoder.decode(workspace, coded, dest)?;
    check_length(coded, len, dest.len())
}

/// A stream has to give all the bytes that it stands for.
#[inline]
fn check_length(coded: &[u8], len: usize, wanted: usize) -> Result<()> {
    if len != wanted {
        return Err(err!(Data, "a stream of {} bytes gave {len} of {wanted}", coded.len()));
    }
    Ok(())
}
