//! The lazy form of a chunk on disk (`frame.md` 4.6): its header, block starts and block lengths.

use super::block_source::read_checked;
use super::disk_frame::DiskFrame;
use crate::buffers;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE};
use crate::chunk::lazy::{ChunkLocation, LazyChunk};
use crate::chunk::{BlockGeometry, ChunkHeader, SpecialValue, read_i32};
use crate::err;
use crate::error::{Error, Result, ensure};
use crate::fallible;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::units::UnitChecks;
use crate::io::IoStream;
use crate::malloc::MallocBytes;
use std::sync::Arc;

/// A chunk on disk that was read for its lazy form.
pub(super) enum LazyForm {
    Lazy(LazyChunk),
    /// The chunk has no blocks.
    Whole(MallocBytes),
}

impl DiskFrame {
    /// Reads the lazy form of a chunk, and checks the bytes that were read. The first read has `guess` bytes. Also returns
    /// the checks of the other units, if the chunk has a record.
    pub(super) fn read_lazy_form(
        &self,
        stream: &IoStream,
        place: &StoredPlace,
        guess: usize,
        header: &FrameHeader,
    ) -> Result<(LazyForm, Option<Arc<UnitChecks>>)> {
        // A back-end of the program may fail to read beyond the end of the file.
        let guess = if stream.as_file().is_some() { guess } else { 0 };
        let len = guess.max(EXTENDED_HEADER_LENGTH);
        let mut buffer = buffers::take_buffer(len)?;
        let got = stream.read_at_least(place.at, &mut buffer[..len], EXTENDED_HEADER_LENGTH)?;
        ensure!(
            got >= EXTENDED_HEADER_LENGTH,
            FileRead,
            "read {got} bytes of a chunk header, expected {EXTENDED_HEADER_LENGTH}",
        );
        let head = &mut buffer[..got];
        let read = |position: u64, dest: &mut [u8]| {
            let at = place.at.checked_add(position);
            stream.read_exact_at(at.ok_or_else(|| err!(ReadBuffer, "offset {position} overflows"))?, dest)
        };
        let read_again = |position: u64, dest: &mut [u8]| match head.get(position as usize..) {
            Some(there) if there.len() >= dest.len() => {
                dest.copy_from_slice(&there[..dest.len()]);
                Ok(())
            }
            _ => read(position, dest),
        };
        let units = match self.unchecked_chunk(place.nchunk) {
            Some(checksums) => {
                let chunk = (place.nchunk, place.location);
                self.units_of(chunk, &checksums, stored_len(head), &read_again, header)?
            }
            None => None,
        };
        if let Some(units) = &units {
            units.check(0, &[head])?;
        }
        let read = |position: u64, dest: &mut [u8]| read_checked(units.as_deref(), position, dest, &read);
        if units.is_some() {
            // Without effect if the units were read whole.
            read(0, head)?;
        }
        let form = lazy_form(stream, head, &read, place, header)?;
        Ok((form, units))
    }
}

pub(super) struct StoredPlace {
    pub nchunk: usize,
    /// Offset in its file, in bytes.
    pub at: u64,
    /// Maximum length, in bytes; without a limit, that of its file.
    pub limit: Option<u64>,
    /// The location in the trailer of the lazy chunk.
    pub location: ChunkLocation,
}

/// Builds the lazy form of a chunk. `head` are its first bytes, `read` reads others, at an offset in the chunk.
fn lazy_form(
    stream: &IoStream,
    head: &[u8],
    read: &dyn Fn(u64, &mut [u8]) -> Result<()>,
    place: &StoredPlace,
    frame: &FrameHeader,
) -> Result<LazyForm> {
    let got = head.len();
    let bad = |error: Error| err!(InvalidHeader, "invalid chunk header: {error}");
    let header = ChunkHeader::parse(head).map_err(bad)?;
    let special = header.special().map_err(bad)?;
    if special == Some(SpecialValue::Value) {
        let len = EXTENDED_HEADER_LENGTH + usize::try_from(frame.typesize).unwrap_or(0);
        let mut chunk = MallocBytes::zeroed(len)?;
        read(0, &mut chunk)?;
        return Ok(LazyForm::Whole(chunk));
    }
    let nblocks = if header.has_varlen_blocks() {
        usize::try_from(header.blocksize).unwrap_or(0)
    } else {
        BlockGeometry::of(&header).count()
    };
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    let tables = EXTENDED_HEADER_LENGTH + 4 * nblocks;
    let fits = header.is_memcpyed() || tables <= cbytes;
    if special.is_some() || nblocks == 0 || !header.is_extended() || !fits || nblocks > MAX_BLOCKSIZE as usize
    {
        return Err(err!(InvalidHeader, "a chunk of {nblocks} blocks in {cbytes} bytes has no lazy form"));
    }
    // The allocations below are proportional to sizes of the header, so first check that the chunk really has these
    // bytes.
    let available = match place.limit {
        Some(limit) => limit,
        None if cbytes > got => stream.size()?,
        None => got as u64,
    };
    if cbytes as u64 > available || (header.is_memcpyed() && header.nbytes() > cbytes) {
        let nbytes = header.nbytes;
        return Err(err!(
            InvalidHeader,
            "`cbytes` is {cbytes} with `nbytes` {nbytes}, expected at most {available}"
        ));
    }
    let mut head_and_starts = fallible::vec_with_capacity(tables)?;
    let mut lengths = Vec::new();
    if header.is_memcpyed() {
        head_and_starts.extend_from_slice(&head[..EXTENDED_HEADER_LENGTH]);
        head_and_starts.resize(tables, 0);
    } else {
        if tables <= got {
            head_and_starts.extend_from_slice(&head[..tables]);
        } else {
            head_and_starts.resize(tables, 0);
            read(0, &mut head_and_starts)?;
        }
        lengths = block_lengths(header.cbytes, &head_and_starts[EXTENDED_HEADER_LENGTH..])?;
    }
    Ok(LazyForm::Lazy(LazyChunk::new(&header, head_and_starts, place.location, lengths)))
}

/// Returns the length in bytes of each block in the stored chunk, which has `cbytes` bytes: up to the next larger block
/// start.
pub(super) fn block_lengths(cbytes: i32, starts: &[u8]) -> Result<Vec<i32>> {
    let nblocks = starts.len() / 4;
    let start = |n: usize| read_i32(starts, 4 * n).unwrap_or(0);
    let mut lengths = fallible::vec_with_capacity(nblocks)?;
    if (1..nblocks).all(|n| start(n - 1) <= start(n)) {
        let end = |n: usize| if n + 1 < nblocks { start(n + 1) } else { cbytes };
        lengths.extend((0..nblocks).map(|n| end(n).wrapping_sub(start(n))));
        return Ok(lengths);
    }
    let mut order: Vec<(i32, usize)> = fallible::vec_with_capacity(nblocks)?;
    order.extend((0..nblocks).map(|n| (start(n), n)));
    order.sort_unstable();
    lengths.resize(nblocks, 0);
    for (i, &(start, n)) in order.iter().enumerate() {
        let end = order.get(i + 1).map_or(cbytes, |next| next.0);
        lengths[n] = end.wrapping_sub(start);
    }
    Ok(lengths)
}
