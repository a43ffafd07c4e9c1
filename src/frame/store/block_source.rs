//! The checks of chunks that are read (`frame.md` 2.14), and the blocks of lazy chunks (`frame.md` 4.6), which are read from
//! the file when they are needed, and checked by the record of their chunk.

use super::disk_frame::{DiskFrame, to_block_error};
use crate::buffers;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::lazy::{BlockSource, ChunkLocation};
use crate::err;
use crate::error::Result;
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::units::{MIN_RECORDED_LEN, UnitChecks, chunk_checksum, record_len};
use std::sync::Arc;

impl BlockSource for DiskFrame {
    fn read(&self, location: ChunkLocation, position: u64, dest: &mut [u8]) -> Result<()> {
        let read = |at: u64, dest: &mut [u8]| self.read_from_chunk(location, at, dest);
        let units = match self.unchecked_chunk_at(location) {
            Some((nchunk, checksums)) => {
                let mut head = [0; EXTENDED_HEADER_LENGTH];
                read(0, &mut head)?;
                let place = (nchunk, location);
                self.units_of(place, &checksums, stored_len(&head), &read, &self.disk.read_header()?)?
            }
            None => None,
        };
        read_checked(units.as_deref(), position, dest, &read)
    }
}

impl DiskFrame {
    /// Fills `dest` with the bytes that begin `position` bytes into the chunk at `location`.
    fn read_from_chunk(&self, location: ChunkLocation, position: u64, dest: &mut [u8]) -> Result<()> {
        let start = u64::try_from(location.offset).unwrap_or(u64::MAX);
        match self.disk.directory() {
            Some(files) => files.open(start)?.read_exact_at(position, dest),
            None => {
                let at = start.checked_add(position);
                let overflow = || err!(ReadBuffer, "byte {position} of the chunk at {start} overflows");
                self.disk.read(at.ok_or_else(overflow)?, dest)
            }
        }
        .map_err(to_block_error)
    }

    /// Returns the number of the chunk at `location`, and the checksums, if it must be checked when it is read.
    fn unchecked_chunk_at(&self, location: ChunkLocation) -> Option<(usize, Arc<Checksums>)> {
        let inner = self.inner.read_recursive();
        let checksums = inner.index.checksums.as_ref()?;
        let start = match inner.layout.kind {
            FrameKind::Contiguous => inner.layout.header_len as i64,
            FrameKind::Sparse => 0,
        };
        let offsets = &inner.index.offsets;
        let is_there = |code: i64| code.checked_add(start) == Some(location.offset);
        let stated = usize::try_from(location.nchunk).ok();
        let stated = stated.filter(|&nchunk| offsets.get(nchunk).is_some_and(is_there));
        let nchunk = stated.or_else(|| offsets.iter().position(is_there))?;
        checksums.needs_check(nchunk).then(|| (nchunk, checksums.clone()))
    }

    /// Checks a chunk that was read. `place` is its offset in the data section, in bytes, or the number of its file;
    /// `header` is the header of the frame.
    ///
    /// # Errors
    /// `Data` for a damaged chunk; `FileRead` if another handle has changed the frame.
    pub(in crate::frame) fn check_chunk(
        &self,
        nchunk: usize,
        bytes: &[u8],
        place: u64,
        header: &FrameHeader,
    ) -> Result<()> {
        let Some(checksums) = self.unchecked_chunk(nchunk) else { return Ok(()) };
        self.confirm_check(header, checksums.check_chunk(nchunk, chunk_checksum(bytes), place))
    }

    /// Returns the checks of the units of chunk `nchunk` at `location`, which must be checked by `checksums` and whose header
    /// gives the length `chunk_len`. A chunk without a record is read and checked as a whole: then the result is `None`.
    /// `read` reads bytes behind the start of the chunk.
    ///
    /// # Errors
    /// `Data` for a damaged chunk; those of [`StoredChunk::fetch`](super::fetch::StoredChunk::fetch).
    pub(super) fn units_of(
        &self,
        (nchunk, location): (usize, ChunkLocation),
        checksums: &Checksums,
        chunk_len: Option<u64>,
        read: &dyn Fn(u64, &mut [u8]) -> Result<()>,
        header: &FrameHeader,
    ) -> Result<Option<Arc<UnitChecks>>> {
        let Some(expected) = checksums.of_chunk(nchunk) else { return Ok(None) };
        if let Some(units) = self.kept_units.get(location.offset, expected) {
            if units.are_checked() {
                checksums.set_checked(nchunk);
            }
            return Ok(Some(units));
        }
        let (chunk_len, record_len) = chunk_len.map_or((0, 0), |len| (len, record_len(len)));
        let mut record = fallible::filled(0, record_len as usize)?;
        // Bytes that cannot be read are no record.
        if record_len > 0
            && read(chunk_len, &mut record).is_ok()
            && let Some(units) = UnitChecks::parse(&record, chunk_len as usize, expected)?
        {
            return self.kept_units.add(location.offset, units).map(Some);
        }
        if (1..MIN_RECORDED_LEN).contains(&chunk_len) {
            let mut buffer = buffers::take_buffer(chunk_len as usize)?;
            let chunk = &mut buffer[..chunk_len as usize];
            if read(0, chunk).is_ok() {
                let start = if header.kind == FrameKind::Contiguous { header.header_len as i64 } else { 0 };
                self.check_chunk(nchunk, chunk, (location.offset - start) as u64, header)?;
                return Ok(None);
            }
        }
        self.check_whole_chunk(nchunk, header)?;
        Ok(None)
    }
}

/// Fills `dest` with the bytes that begin `position` bytes into a chunk, by `read`. The units that have these bytes are
/// read and checked, unless they were checked before.
///
/// # Errors
/// `Data` for a damaged unit; `MemoryAlloc`; those of `read`.
pub(super) fn read_checked(
    units: Option<&UnitChecks>,
    position: u64,
    dest: &mut [u8],
    read: &dyn Fn(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let unchecked = units.and_then(|units| Some((units, units.unchecked_range(position, dest.len())?)));
    let Some((units, range)) = unchecked else { return read(position, dest) };
    // The bytes before and behind those in `dest`.
    let before = position as usize - range.start;
    let edges_len = range.len() - dest.len();
    let mut edges = buffers::take_buffer(edges_len)?;
    let (start, end) = edges[..edges_len].split_at_mut(before);
    for (at, part) in
        [(range.start, &mut *start), (position as usize, &mut *dest), (range.end - end.len(), &mut *end)]
    {
        if !part.is_empty() {
            read(at as u64, part)?;
        }
    }
    units.check(range.start, &[start, dest, end])
}
