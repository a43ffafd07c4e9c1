//! The streams of a block (`chunk.md` 4.2): decodes them one after the other, and undoes the filter if there is only
//! one.
//!
//! The caller chooses the block and the decoder.

use crate::chunk::class::BlockCoding;
use crate::chunk::stream::{self, Stream};
use crate::codec::{Decoder, Workspace};
use crate::err;
use crate::error::{Result, ensure};
use crate::filter::copy::copy;
use crate::filter::shuffle::{MAX_SEPARATE_PLANES, SeparatePlane};
use crate::filter::{bitshuffle, shuffle};

/// Decodes the streams of one of the equal blocks, of `len` bytes; they are at the start of `bytes`. A decoder is
/// created only when a stream needs it.
#[inline]
pub(super) fn decode_block_streams<D: Decoder>(
    decoder: impl Fn() -> D,
    nstreams: usize,
    bytes: &[u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
    len: usize,
) -> Result<()> {
    let neblock = neblock(len, nstreams);
    decode_streams_with(decoder, nstreams, bytes, workspace, dest, len, |_, stream, dest| {
        stream.write(&mut dest[..neblock]);
    })
}

/// Largest item, in bytes, that [`decode_planes`] returns the planes of.
pub(super) const MAX_PLANES: usize = 16;

/// Shortest block, in bytes, whose raw streams are not copied before unshuffling: for shorter ones the table of planes
/// costs more than the copies (`cargo bench --bench side_by_side -- --group small`).
const MIN_PLANE_UNSHUFFLE_NBYTES: usize = 2 << 10;

/// Does the same as [`decode_block_streams`], through the buffer `front`, and undoes the only filter of the block, a
/// shuffle or a bitshuffle. Raw streams are unshuffled from the chunk, without a copy, if the kernels accept separate
/// planes.
#[inline]
pub(super) fn decode_shuffled_block<D: Decoder>(
    decoder: impl Fn() -> D,
    nstreams: usize,
    bytes: &[u8],
    workspace: &mut Workspace,
    (coding, typesize): (BlockCoding, usize),
    front: &mut [u8],
    dest: &mut [u8],
) -> Result<()> {
    let len = dest.len();
    if len >= MIN_PLANE_UNSHUFFLE_NBYTES
        && coding == (BlockCoding::Shuffled { unit: nstreams })
        && shuffle::can_unshuffle_planes(nstreams, len)
    {
        let planes = decode_separate_planes(decoder, nstreams, bytes, workspace, front, len)?;
        shuffle::unshuffle_planes(&planes[..nstreams], dest);
        return Ok(());
    }
    decode_block_streams(decoder, nstreams, bytes, workspace, front, len)?;
    undo_only_filter(coding, typesize, &front[..len], dest);
    Ok(())
}

/// Decodes the streams of a shuffled block of `len` bytes, at most [`MAX_SEPARATE_PLANES`], and returns them: those that are raw
/// streams in `bytes`, the coded ones in `front`. Runs are not written.
#[inline(never)]
fn decode_separate_planes<'b, D: Decoder>(
    decoder: impl Fn() -> D,
    nstreams: usize,
    bytes: &'b [u8],
    workspace: &mut Workspace,
    front: &'b mut [u8],
    len: usize,
) -> Result<[SeparatePlane<'b>; MAX_SEPARATE_PLANES]> {
    let neblock = neblock(len, nstreams);
    let mut uncoded = [None; MAX_SEPARATE_PLANES];
    decode_streams_with(decoder, nstreams, bytes, workspace, front, len, |nstream, stream, _| {
        uncoded[nstream] = Some(match stream {
            UncodedStream::Run(value) => SeparatePlane::Run(value),
            UncodedStream::Raw(raw) => SeparatePlane::Bytes(&raw[..neblock]),
        });
    })?;
    let mut planes = [SeparatePlane::Run(0); MAX_SEPARATE_PLANES];
    for (nstream, decoded) in front[..len].chunks_exact(neblock).enumerate() {
        planes[nstream] = uncoded[nstream].unwrap_or(SeparatePlane::Bytes(decoded));
    }
    Ok(planes)
}

/// Decodes the streams of a block of `len` bytes that is shuffled by items of `unit` bytes, at most [`MAX_PLANES`], and
/// returns the planes: those that are raw streams in `bytes`, the others in `front`.
#[inline(never)]
pub(super) fn decode_planes<'b, D: Decoder>(
    decoder: impl Fn() -> D,
    (nstreams, unit): (usize, usize),
    bytes: &'b [u8],
    workspace: &mut Workspace,
    front: &'b mut [u8],
    len: usize,
) -> Result<[&'b [u8]; MAX_PLANES]> {
    let neblock = neblock(len, nstreams);
    let mut raws = [None; MAX_PLANES];
    decode_streams_with(
        decoder,
        nstreams,
        bytes,
        workspace,
        front,
        len,
        |nstream, stream, dest| match stream {
            UncodedStream::Raw(raw) if nstreams == unit => raws[nstream] = Some(&raw[..neblock]),
            other => other.write(&mut dest[..neblock]),
        },
    )?;
    let mut planes = [&[][..]; MAX_PLANES];
    for (nstream, decoded) in front[..len].chunks_exact(len / unit).enumerate() {
        planes[nstream] = raws[nstream].unwrap_or(decoded);
    }
    Ok(planes)
}

/// Undoes the only filter of a block in `src`, into `dest` (same length). `coding` is that of a shuffled or bitshuffled
/// block, `typesize` the item size of the chunk.
#[inline]
pub(super) fn undo_only_filter(coding: BlockCoding, typesize: usize, src: &[u8], dest: &mut [u8]) {
    match coding {
        BlockCoding::Shuffled { unit } => shuffle::unshuffle(unit, src, dest),
        BlockCoding::Bitshuffled => bitshuffle::bitunshuffle(typesize, src, dest),
        BlockCoding::Direct | BlockCoding::General => unreachable!("the block has not one shuffle"),
    }
}

/// Returns the decoded length in bytes of each of `nstreams` streams of a block of `len` bytes. Avoids a division,
/// whose cost is significant for short blocks.
#[inline(always)]
pub(super) fn neblock(len: usize, nstreams: usize) -> usize {
    if nstreams.is_power_of_two() {
        len >> nstreams.trailing_zeros()
    } else {
        len.checked_div(nstreams).unwrap_or(0)
    }
}

enum UncodedStream<'a> {
    /// One byte value, repeated.
    Run(u8),
    /// The chunk from the stream's bytes on.
    Raw(&'a [u8]),
}

impl UncodedStream<'_> {
    #[inline(always)]
    fn write(&self, dest: &mut [u8]) {
        match self {
            UncodedStream::Run(value) => dest.fill(*value),
            UncodedStream::Raw(raw) => copy(&raw[..dest.len()], dest),
        }
    }
}

/// Does the same as [`decode_block_streams`], but calls `on_uncoded` for each stream that is not coded, with the number
/// of the stream, the stream, and the destination from the stream's position on.
#[inline(always)]
fn decode_streams_with<'b, D: Decoder>(
    decoder: impl Fn() -> D,
    nstreams: usize,
    bytes: &'b [u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
    len: usize,
    mut on_uncoded: impl FnMut(usize, UncodedStream<'b>, &mut [u8]),
) -> Result<()> {
    let neblock = neblock(len, nstreams);
    ensure!(
        neblock != 0,
        WriteBuffer,
        "a block of {len} bytes has {nstreams} streams, expected at most {len}",
    );
    if neblock * nstreams != len {
        return Err(err!(Data, "a block of {len} bytes has {nstreams} streams, expected a divisor of {len}"));
    }
    let (mut rest, mut dest, mut made) = (bytes, dest, None);
    for nstream in 0..nstreams {
        // A stream is followed by the next one, in the chunk and in the destination: decoders may read and write ahead.
        let from_length = rest;
        match stream::read(&mut rest, neblock)? {
            Stream::Run(value) => on_uncoded(nstream, UncodedStream::Run(value), dest),
            Stream::Raw(_) => {
                let raw = UncodedStream::Raw(&from_length[stream::LENGTH_FIELD_LEN..]);
                on_uncoded(nstream, raw, dest);
            }
            Stream::Coded(coded) => {
                let ahead = &from_length[stream::LENGTH_FIELD_LEN..];
                let decoder = made.get_or_insert_with(&decoder);
                let decoded = decoder.decode_with_slack(workspace, ahead, coded.len(), dest, neblock)?;
                check_decoded_len(coded, decoded, neblock)?;
            }
        }
        dest = &mut dest[neblock..];
    }
    Ok(())
}

/// Decodes the payload of a variable-length block. A payload of the block's size is raw.
pub(super) fn decode_varlen_payload(
    decoder: &dyn Decoder,
    payload: &[u8],
    workspace: &mut Workspace,
    dest: &mut [u8],
) -> Result<()> {
    if payload.len() == dest.len() {
        copy(payload, dest);
        return Ok(());
    }
    let len = decoder.decode(workspace, payload, dest)?;
    check_decoded_len(payload, len, dest.len())
}

/// Checks that a stream was decoded completely.
#[inline]
fn check_decoded_len(coded: &[u8], len: usize, wanted: usize) -> Result<()> {
    ensure!(
        len == wanted,
        Data,
        "the stream of {} bytes decodes to {len} bytes, expected {wanted}",
        coded.len(),
    );
    Ok(())
}
