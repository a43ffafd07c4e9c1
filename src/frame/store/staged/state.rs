//! The committed state of a frame with atomic changes, and the parts of the next one.

use crate::chunk::SpecialValue;
use crate::error::{Result, err};
use crate::fallible;
use crate::frame::format::change::Change;
use crate::frame::format::checksums::{ChecksumTable, ChecksummedParts, checksum, remove_root};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{self, Offsets};
use crate::frame::format::plan::{FrameIndex, FrameLayout, Images, TargetState};
use crate::frame::format::trailer;
use crate::frame::store::disk::Disk;
use crate::frame::store::durability::Durability;
use crate::io::{IoStream, OpenMode};
use std::sync::Arc;

/// The parts of a frame that differ from the committed state.
#[derive(Clone)]
pub(in crate::frame) struct Pending {
    /// The header of the pending state. The commit sets the lengths.
    pub(in crate::frame) header: FrameHeader,
    /// The header with its metalayers, as bytes.
    pub(super) header_image: Arc<Vec<u8>>,
    /// The trailer; `None` if it is unchanged.
    pub(super) trailer: Option<Arc<Vec<u8>>>,
    /// How the index has changed; `None` if it is unchanged.
    pub(super) index: Option<IndexChange>,
}

#[derive(Clone, Copy)]
pub(super) struct IndexChange {
    /// The first entry that has changed.
    pub(super) changed_from: usize,
    /// Number of entries for which the reference allocates memory when it compresses the index.
    pub(super) capacity: usize,
    /// The special chunks that fill the frame.
    pub(super) fill: Option<(SpecialValue, usize)>,
}

/// The committed state of a frame, and its files.
pub(in crate::frame) struct Committed<'a> {
    pub(in crate::frame) disk: &'a Disk,
    pub(in crate::frame) level: Durability,
    pub(in crate::frame) layout: &'a mut FrameLayout,
    pub(in crate::frame) images: &'a mut Images,
    /// The file, opened for writing by the first call of [`stream`](Self::stream).
    pub(in crate::frame) stream: Option<Arc<IoStream>>,
}

impl Committed<'_> {
    /// Returns the file, opened for writing.
    pub(super) fn stream(&mut self) -> Result<Arc<IoStream>> {
        if let Some(stream) = &self.stream {
            return Ok(stream.clone());
        }
        let stream = Arc::new(self.disk.backend.open(self.disk.path(), OpenMode::Update)?);
        self.stream = Some(stream.clone());
        Ok(stream)
    }

    /// Waits until the file is on disk, if the level requires it.
    pub(super) fn sync(&self, stream: &IoStream) -> Result<()> {
        if self.level == Durability::Power { stream.sync_data() } else { Ok(()) }
    }

    /// Returns whether the file has these parts of the frame, each at its offset in the frame.
    pub(super) fn are_in_file(&self, stream: &IoStream, parts: &[(u64, &[u8])]) -> Result<bool> {
        let mut found = fallible::filled(0, parts.iter().map(|part| part.1.len()).max().unwrap_or(0))?;
        for &(at, bytes) in parts {
            let found = &mut found[..bytes.len()];
            stream.read_exact_at(self.disk.base + at, found)?;
            if found != bytes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether the committed state has no chunks, so that its trailer is directly behind the header.
    pub(super) fn is_empty(&self) -> bool {
        self.images.index.is_empty()
    }
}

impl IndexChange {
    pub(super) fn merge(old: Option<IndexChange>, new: Option<IndexChange>) -> Option<IndexChange> {
        match (old, new) {
            (Some(old), Some(new)) => {
                Some(IndexChange { changed_from: old.changed_from.min(new.changed_from), ..new })
            }
            (old, new) => new.or(old),
        }
    }
}

impl Pending {
    /// Returns the parts of a frame without chunks that is being created.
    pub(super) fn of_new_frame(header: FrameHeader, images: &Images) -> Result<Pending> {
        Ok(Pending {
            header,
            header_image: Arc::new(fallible::copy_of(&images.header)?),
            trailer: Some(Arc::new(fallible::copy_of(&images.trailer)?)),
            index: None,
        })
    }

    /// Returns the parts of the committed state again.
    pub(super) fn of_committed(committed: &Committed<'_>) -> Result<Pending> {
        let image = &committed.images.header;
        let header = FrameHeader::parse(image, committed.layout.kind)?;
        Ok(Pending { header, header_image: Arc::new(fallible::copy_of(image)?), trailer: None, index: None })
    }

    /// Builds the header, with provisional lengths, and the trailer, where `change` can change it. `old_len` is the
    /// length of the header in bytes.
    pub(super) fn parts(
        old_len: u64,
        change: &Change<'_>,
        target: &TargetState<'_>,
    ) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
        let image = target.header.build(target.metalayers)?;
        if image.len() as u64 != old_len && !matches!(change, Change::AddMetalayer) {
            let len = image.len();
            return Err(err!(
                Data,
                "the new frame header has {len} bytes, expected {old_len} as the old one"
            ));
        }
        let trailer = match change {
            Change::ReplaceVlmetalayers => Some(trailer::build(target.vlmetalayers)?),
            _ => None,
        };
        Ok((image, trailer))
    }

    /// Returns the bytes of the index and of the trailer of the pending state. `images` are those of the committed
    /// state.
    pub(super) fn index_and_trailer(
        &self,
        index: &mut FrameIndex,
        images: &Images,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let index = match self.index_image(index)? {
            Some(index) => index,
            None => fallible::copy_of(&images.index)?,
        };
        let trailer = self.trailer.as_deref().unwrap_or(&images.trailer);
        Ok((index, fallible::copy_of(trailer)?))
    }

    /// Encodes the index; `None` if it is unchanged.
    fn index_image(&self, index: &mut FrameIndex) -> Result<Option<Vec<u8>>> {
        let Some(change) = self.index else { return Ok(None) };
        if let Some((special, nchunks)) =
            change.fill.filter(|_| matches!(index.offsets, Offsets::Uniform { .. }))
        {
            return index::encode_special(special, nchunks).map(Some);
        }
        if index.offsets.len() == 0 {
            return Ok(Some(Vec::new()));
        }
        index.encoder.encode(&index.offsets, change.changed_from, change.capacity).map(Some)
    }
}

/// The checksums of the chunks of a state.
#[derive(Clone, Copy)]
pub(super) enum ChunkSums<'a> {
    /// Those of the pending state; `None` if it gets no table.
    Pending(Option<&'a Checksums>),
    /// Those in the table of the committed state, which may be empty.
    Committed(&'a [u8]),
}

impl ChunkSums<'_> {
    /// Returns the length of the table, in bytes; 0 without one.
    pub(super) fn table_len(self) -> u64 {
        match self {
            ChunkSums::Pending(checksums) => checksums.and_then(Checksums::writable_table_len).unwrap_or(0),
            ChunkSums::Committed(table) => table.len() as u64,
        }
    }
}

/// Builds the table of checksums of a state, and stores its root in the trailer; without checksums, returns an empty
/// table, and the trailer gets no root.
pub(super) fn seal(
    checksums: ChunkSums<'_>,
    header: &[u8],
    index: &[u8],
    trailer: &mut [u8],
    frame_len: u64,
) -> Result<Vec<u8>> {
    match checksums {
        ChunkSums::Pending(Some(checksums)) => checksums.seal(header, checksum(index), trailer, frame_len),
        ChunkSums::Pending(None) | ChunkSums::Committed([]) => {
            remove_root(trailer);
            Ok(Vec::new())
        }
        ChunkSums::Committed(table) => {
            let mut table = fallible::copy_of(table)?;
            let parts = ChecksummedParts { header, index: checksum(index), trailer, frame_len };
            let root = ChecksumTable::seal_again(&mut table, &parts);
            if let Some(end) = trailer.last_chunk_mut() {
                *end = root;
            }
            Ok(table)
        }
    }
}
