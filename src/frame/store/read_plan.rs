//! The bytes that reading some blocks of a chunk needs (`frame.md` 4.6), for files that are fetched over a network: a reader asks for
//! the parts of many chunks at once.

#![forbid(unsafe_code)]

use super::disk_frame::DiskFrame;
use super::fetch::index_entry;
use super::lazy_form::block_lengths;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::chunk::{BlockGeometry, ChunkHeader, read_i32};
use crate::error::Result;
use crate::fallible;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::index::IndexEntry;
use crate::frame::format::units::{MIN_RECORDED_LEN, record_len, units_of};
use crate::io::Backend;
use crate::io::source::FilePart;
use std::ffi::CStr;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a stored chunk in its file.
struct StoredBytes {
    file: Arc<str>,
    start: u64,
    /// The end, in most frames; the end of the file for a chunk file, `u64::MAX`.
    end: u64,
}

impl StoredBytes {
    /// Returns the part `range` of the chunk.
    fn part(&self, range: Range<u64>) -> FilePart {
        let [start, end] = [range.start, range.end].map(|at| self.start.saturating_add(at).min(self.end));
        FilePart { file: self.file.clone(), range: start..end }
    }
}

/// Returns the name of a file of a source.
fn name(path: &CStr) -> Arc<str> {
    path.to_string_lossy().into()
}

impl DiskFrame {
    /// Returns the place of chunk `nchunk`; `None` for a special chunk, which has no bytes.
    fn bytes_of_chunk(&self, nchunk: usize) -> Result<Option<StoredBytes>> {
        let inner = self.inner.read_recursive();
        let offsets = &inner.index.offsets;
        let IndexEntry::Payload(offset) = index_entry(offsets, nchunk)? else { return Ok(None) };
        if let Some(files) = self.disk.directory() {
            return Ok(Some(StoredBytes { file: name(&files.path(offset)?), start: 0, end: u64::MAX }));
        }
        let data = self.disk.base.saturating_add(inner.layout.header_len);
        let next = offsets.get(nchunk + 1).and_then(|code| u64::try_from(code).ok());
        let end = next.filter(|&next| next > offset).unwrap_or(inner.layout.cbytes);
        let [start, end] = [offset, end].map(|at| data.saturating_add(at));
        Ok(Some(StoredBytes { file: name(self.disk.path()), start, end }))
    }

    /// Returns the name of the file that has chunk `nchunk`; `None` for a special chunk.
    ///
    /// # Errors
    /// Those of [`head_of_chunk`](Self::head_of_chunk).
    pub(crate) fn file_of_chunk(&self, nchunk: usize) -> Result<Option<Arc<str>>> {
        Ok(self.bytes_of_chunk(nchunk)?.map(|chunk| chunk.file))
    }

    /// Gives new chunk files numbers that no file has had, from `first` on.
    pub(crate) fn set_first_new_number(&self, first: u64) {
        self.inner.write().index.first_new_number = Some(first);
    }

    /// Returns the back-end, if reads are planned for it.
    pub(crate) fn fetching_backend(&self) -> Option<&Backend> {
        // Names of files are UTF-8.
        Some(&self.disk.backend).filter(|backend| backend.can_fetch() && self.disk.path().to_str().is_ok())
    }

    /// Returns the bytes with the header and the block starts of chunk `nchunk`, which has `nblocks` blocks; all bytes of the
    /// chunk without a number. `None` for a special chunk.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that does not exist; `Data` for an invalid index entry.
    pub(crate) fn head_of_chunk(&self, nchunk: usize, nblocks: Option<usize>) -> Result<Option<FilePart>> {
        let len = nblocks.map_or(u64::MAX, |nblocks| (EXTENDED_HEADER_LENGTH + 4 * nblocks) as u64);
        let needs_check = nblocks.is_some() && self.unchecked_chunk(nchunk).is_some();
        let range = if needs_check { units_of(0..len, u64::MAX) } else { 0..len };
        Ok(self.bytes_of_chunk(nchunk)?.map(|chunk| chunk.part(range)))
    }

    /// Returns the bytes behind those of [`head_of_chunk`](Self::head_of_chunk), which are read, that reading `blocks` needs. The
    /// chunk is not checked.
    ///
    /// # Errors
    /// Those of reading the chunk's head, and of one that is not valid.
    pub(crate) fn parts_of_blocks(&self, nchunk: usize, blocks: &[usize]) -> Result<Vec<FilePart>> {
        let Some(chunk) = self.bytes_of_chunk(nchunk)? else { return Ok(Vec::new()) };
        let header = self.disk.read_header()?;
        let stored = self.stored_chunk(nchunk, &header)?;
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        stored.read_at(0, &mut head)?;
        let header = ChunkHeader::parse(&head)?;
        let len = stored_len(&head).unwrap_or(0);
        let needs_check = self.unchecked_chunk(nchunk).is_some();
        let nblocks = BlockGeometry::of(&header).count();
        let tables = EXTENDED_HEADER_LENGTH + 4 * nblocks;
        let has_blocks = header.special()?.is_none() && header.is_extended() && !header.has_varlen_blocks();
        let is_whole = !has_blocks || tables as u64 > len && !header.is_memcpyed();
        if is_whole || needs_check && len < MIN_RECORDED_LEN {
            return Ok(vec![chunk.part(0..len)]);
        }
        let mut parts = fallible::vec_with_capacity(blocks.len() + 2)?;
        let mut add = |range: Range<u64>| {
            let range = range.start..range.end.min(len);
            parts.push(chunk.part(if needs_check { units_of(range, len) } else { range }));
        };
        if header.is_memcpyed() {
            let geometry = BlockGeometry::of(&header);
            for &block in blocks.iter().filter(|&&block| block < nblocks) {
                let range = geometry.range(block);
                add((EXTENDED_HEADER_LENGTH + range.start) as u64
                    ..(EXTENDED_HEADER_LENGTH + range.end) as u64);
            }
        } else {
            let mut starts = fallible::filled(0, 4 * nblocks)?;
            stored.read_at(EXTENDED_HEADER_LENGTH as u64, &mut starts)?;
            let lengths = block_lengths(header.cbytes, &starts)?;
            let start = |block: usize| read_i32(&starts, 4 * block).unwrap_or(0);
            // A dictionary is before the first block.
            if let Some(first) = (0..nblocks).map(start).min().and_then(|first| u64::try_from(first).ok()) {
                add(0..first);
            }
            for &block in blocks.iter().filter(|&&block| block < nblocks) {
                if let (Ok(start), Ok(len)) = (u64::try_from(start(block)), u64::try_from(lengths[block])) {
                    add(start..start + len);
                }
            }
        }
        if needs_check {
            parts.push(chunk.part(len..len + record_len(len)));
        }
        Ok(parts)
    }
}
