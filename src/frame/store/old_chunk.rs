//! The sizes of a chunk that is about to be replaced or deleted: the counters of the frame change by them.
//!
//! Data flow: chunk header -> compared with the header and the index of the frame -> sizes of the chunk header, or, for a
//! damaged chunk, the sizes that header and index of the frame give. Values of a damaged chunk header never get into the
//! frame.

use super::disk_frame::DiskFrame;
use super::frame::Frame;
use crate::error::{Error, ErrorKind, Result, ensure, err};
use crate::frame::format::chunk_info::ChunkInfo;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{IndexEntry, decode_entry};
use crate::frame::format::units::record_len;
use crate::trace;

impl Frame {
    /// Returns the header fields of chunk `nchunk`, with the sizes that the counters of the frame include. Those of a
    /// damaged chunk are computed from the frame. `header` is the current header of the frame; `known` are the fields of
    /// the chunk if it was read already.
    ///
    /// # Errors
    /// Those of [`StoredChunk::fetch`](super::fetch::StoredChunk::fetch); those of the damaged chunk if its sizes cannot be computed.
    pub(crate) fn counted_chunk_info(
        &self,
        nchunk: usize,
        header: &FrameHeader,
        known: Option<ChunkInfo>,
    ) -> Result<ChunkInfo> {
        let found = known.map_or_else(|| self.chunk_info(nchunk, header), Ok);
        let damage = |error: &Error| matches!(error.kind(), ErrorKind::InvalidHeader | ErrorKind::Data);
        if found.as_ref().is_err_and(|error| !damage(error)) {
            return found;
        }
        let Some((place, next)) = self.place_of_stored_chunk(nchunk)? else { return found };
        let by_header = nbytes_by_header(nchunk, header);
        if let Ok(info) = &found
            && by_header.map_or_else(|| is_possible_size(info, header), |nbytes| info.nbytes == nbytes)
            // The size of a chunk file was compared before. In most frames the next chunk begins where the chunk or its
            // record ends.
            && (self.has_chunk_files()
                || next.and_then(|next| next.checked_sub(place)).is_some_and(|len| {
                    let cbytes = info.cbytes as u64;
                    len == cbytes || len == cbytes + record_len(cbytes)
                }))
        {
            return found;
        }
        self.sizes_of_unusual_chunk(nchunk, header, place, found)
    }

    /// As [`counted_chunk_info`](Self::counted_chunk_info), for a chunk at `place` that does not end where the next one
    /// begins, or is damaged.
    #[cold]
    fn sizes_of_unusual_chunk(
        &self,
        nchunk: usize,
        header: &FrameHeader,
        place: u64,
        found: Result<ChunkInfo>,
    ) -> Result<ChunkInfo> {
        let by_header = nbytes_by_header(nchunk, header);
        let claimed = found.as_ref().ok().filter(|info| is_possible_size(info, header));
        let has_room = claimed.is_some_and(|info| {
            self.has_chunk_files() || info.cbytes as u64 <= self.room_of_chunk(place, header)
        });
        if has_room && by_header.is_none_or(|nbytes| claimed.is_some_and(|info| info.nbytes == nbytes)) {
            return found;
        }
        let stored_len = match self.disk().and_then(|frame| frame.disk.directory()) {
            Some(files) => files.open(place)?.size()?,
            // Only bytes of the chunk itself may become free: the file keeps those of a damaged chunk.
            _ if self.disk().is_some_and(DiskFrame::has_atomic_changes) => 0,
            _ => self.room_of_chunk(place, header),
        };
        // A writer other than this library may have left chunks whose sizes differ from the chunk size.
        let by_other_chunks = self.nbytes_by_other_chunks(nchunk, header);
        let nbytes = match (by_header, by_other_chunks) {
            (_, Ok(nbytes)) if claimed.is_some_and(|info| info.nbytes == nbytes) => nbytes,
            (Some(nbytes), _) | (None, Ok(nbytes)) => nbytes,
            (None, Err(error)) => return found.and(Err(error)),
        };
        trace::warning(|| format!("chunk {nchunk} is damaged: it counts as {nbytes} bytes in {stored_len}"));
        let cbytes =
            claimed.filter(|_| has_room).map_or(stored_len, |info| stored_len.min(info.cbytes as u64));
        let cbytes = i32::try_from(cbytes).unwrap_or(i32::MAX);
        Ok(ChunkInfo { nbytes, cbytes, blocksize: 0, flags2: 0, special: None, is_lazy: false })
    }

    /// Returns the offset of a chunk in the data section, or the number of its file, and that of the next chunk; `None`
    /// for a chunk without bytes of its own.
    fn place_of_stored_chunk(&self, nchunk: usize) -> Result<Option<(u64, Option<u64>)>> {
        let code = |nchunk| self.with_parsed(|_, index| index.offsets.get(nchunk));
        match decode_entry(code(nchunk).unwrap_or(-1))? {
            IndexEntry::Payload(place) => {
                Ok(Some((place, code(nchunk + 1).and_then(|code| u64::try_from(code).ok()))))
            }
            IndexEntry::Special(_) => Ok(None),
        }
    }

    /// Returns the number of bytes from `place` in the data section to the next chunk, or to the end of the section.
    fn room_of_chunk(&self, place: u64, header: &FrameHeader) -> u64 {
        let data_len = u64::try_from(header.cbytes).unwrap_or(0);
        let next = self.with_parsed(|_, index| {
            let places = index.offsets.iter().filter_map(|code| u64::try_from(code).ok());
            places.filter(|&other| other > place).min()
        });
        next.unwrap_or(data_len).min(data_len).saturating_sub(place)
    }

    /// Returns the uncompressed size of chunk `nchunk`, in bytes: that of the frame without the other chunks.
    fn nbytes_by_other_chunks(&self, nchunk: usize, header: &FrameHeader) -> Result<i32> {
        let mut rest = header.nbytes;
        for other in (0..self.nchunks()).filter(|&other| other != nchunk) {
            let nbytes = i64::from(self.chunk_info(other, header)?.nbytes);
            ensure!(
                (0..=header.nbytes).contains(&nbytes),
                InvalidHeader,
                "chunk {other} has {nbytes} bytes, expected 0 to {}",
                header.nbytes,
            );
            rest -= nbytes;
        }
        i32::try_from(rest).ok().filter(|&rest| rest >= 0).ok_or_else(|| {
            err!(InvalidHeader, "the other chunks leave {rest} bytes for chunk {nchunk}, expected 0 or more")
        })
    }
}

/// Returns the uncompressed size of chunk `nchunk` in a frame with chunks of one size, in bytes: the last chunk may be
/// shorter.
fn nbytes_by_header(nchunk: usize, header: &FrameHeader) -> Option<i32> {
    let chunksize = i64::from(header.chunksize);
    let rest = header.nbytes.checked_sub(i64::try_from(nchunk).ok()?.checked_mul(chunksize)?)?;
    (chunksize > 0 && rest > 0).then_some(rest.min(chunksize) as i32)
}

fn is_possible_size(info: &ChunkInfo, header: &FrameHeader) -> bool {
    (0..=header.nbytes).contains(&i64::from(info.nbytes))
}
