//! The plan of a change to a frame: the images of its parts and their offsets (`frame.md` 2).
//!
//! This module does no I/O: a plan is computed from the layout of the frame and the change; [`crate::frame::store::writer`] executes
//! it.

use super::change::{Change, FrameChunk};
use super::checksums::{PAGE_LEN, checksum};
use super::chunk_checksums::Checksums;
use super::header::{FIXED_HEADER_LEN, FrameHeader};
use super::index::{IndexEncoder, IndexEntry, Offsets, encode_entry, encode_special};
use super::metalayers::{Metalayer, section_len};
use super::trailer::{self, END_LEN};
use super::units::{checksum_with_record, record_len, record_of};
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::FrameKind;
use std::sync::Arc;

/// The offsets and lengths, in bytes, of the parts of a contiguous frame, or of the index file of a sparse frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameLayout {
    pub kind: FrameKind,
    pub header_len: u64,
    /// Size of the data section, or of all chunk files.
    pub cbytes: u64,
    pub frame_len: u64,
    pub trailer_len: u64,
    /// Length of the table of checksums, directly before the trailer; 0 without one.
    pub table_len: u64,
}

impl FrameLayout {
    /// Returns the layout of a frame with that header and without a table.
    pub(in crate::frame) fn of_opened(header: &FrameHeader, trailer_len: u64) -> FrameLayout {
        FrameLayout {
            kind: header.kind,
            header_len: header.header_len as u64,
            cbytes: u64::try_from(header.cbytes).unwrap_or(0),
            frame_len: header.frame_len,
            trailer_len,
            table_len: 0,
        }
    }

    /// Returns the offset of the index chunk in bytes.
    pub(crate) fn index_offset(&self) -> u64 {
        match self.kind {
            FrameKind::Contiguous => self.header_len + self.cbytes,
            FrameKind::Sparse => self.header_len,
        }
    }

    /// Returns the length of a chunk of `len` bytes with the record that a frame with checksums can have behind it, if
    /// both fit into `room` bytes, otherwise `len`.
    pub(in crate::frame) fn len_with_record(&self, len: u64, room: u64) -> u64 {
        let with_record = len + if self.table_len > 0 { record_len(len) } else { 0 };
        if with_record <= room { with_record } else { len }
    }
}

/// The contents of a frame file before a change, except the chunks.
#[derive(Default)]
pub(crate) struct Images {
    pub header: Vec<u8>,
    /// The index chunk; empty for a frame without chunks.
    pub index: Vec<u8>,
    /// The table of checksums; empty without one.
    pub table: Vec<u8>,
    pub trailer: Vec<u8>,
}

impl Images {
    pub(in crate::frame) fn try_clone(&self) -> Result<Images> {
        Ok(Images {
            header: fallible::copy_of(&self.header)?,
            index: fallible::copy_of(&self.index)?,
            table: fallible::copy_of(&self.table)?,
            trailer: fallible::copy_of(&self.trailer)?,
        })
    }

    /// Replaces the parts that a plan has written. `trailer` is a copy of the plan's trailer, without the table before it.
    pub(in crate::frame) fn replace(&mut self, plan: FramePlan<'_>, trailer: Option<Vec<u8>>) {
        self.header = plan.header;
        if let Some((_, index)) = plan.index {
            self.index = index;
        }
        if let (Some((_, mut table)), Some(trailer)) = (plan.trailer, trailer) {
            table.truncate(plan.layout.table_len as usize);
            (self.table, self.trailer) = (table, trailer);
        }
    }

    /// Returns whether the frame has a table of checksums that was not read.
    pub(in crate::frame) fn has_unread_table(&self, kind: FrameKind) -> Result<bool> {
        Ok(self.table.is_empty() && FrameHeader::parse(&self.header, kind)?.has_checksums)
    }

    /// Returns the length of index, table of checksums and trailer, in bytes.
    pub(in crate::frame) fn len_behind_chunks(&self) -> u64 {
        (self.index.len() + self.table.len() + self.trailer.len()) as u64
    }
}

/// A move of bytes inside the data section. Offsets count from the start of the frame, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Old offset.
    pub from: u64,
    pub to: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Move {
    /// Returns the move in a file where the frame begins at byte `base`.
    pub(in crate::frame) fn behind(self, base: u64) -> Move {
        Move { from: base + self.from, to: base + self.to, len: self.len }
    }
}

/// A chunk of a sparse frame, which is stored in its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkFile<'a> {
    /// The number that the file name is made of.
    pub number: u64,
    pub bytes: &'a [u8],
    /// Whether an index entry refers to the number before the change, so that the file is overwritten.
    pub is_replacement: bool,
}

/// The time at which a chunk file that is no longer referenced is removed. On native files, it is always removed after
/// all writes.
#[derive(Clone, Copy)]
pub(crate) enum RemovalTime {
    /// Before the index is written.
    BeforeIndex,
    /// After all writes.
    AtEnd,
}

/// The writes of a change; [`writer`](crate::frame::store::writer) determines their order.
pub(crate) struct FramePlan<'a> {
    /// A chunk file (sparse frames).
    pub chunk_file: Option<ChunkFile<'a>>,
    /// The number of a chunk file that is no longer referenced, and the time at which it is removed.
    pub removed_file: Option<(u64, RemovalTime)>,
    /// The move that makes room for a longer chunk or closes the gap behind a shorter one.
    pub moved: Option<Move>,
    /// Offset and bytes of a chunk in the data section; `None` for a special chunk.
    pub payload: Option<(u64, &'a [u8])>,
    /// Offset and bytes of the index chunk.
    pub index: Option<(u64, Vec<u8>)>,
    pub header: Vec<u8>,
    /// The table of checksums, of `layout.table_len` bytes, and behind it the trailer. The offset is that of the table.
    pub trailer: Option<(u64, Vec<u8>)>,
    /// The layout of the frame after the change.
    pub layout: FrameLayout,
}

impl FramePlan<'_> {
    /// Returns offset and bytes of payload, index and trailer, in the order of their offsets. The index of a frame without
    /// chunks is not one of them: readers do not read it, and the trailer is in its place.
    pub(in crate::frame) fn parts_behind_header(&self) -> [Option<(u64, &[u8])>; 3] {
        let trailer = self.trailer.as_ref().map(|(at, bytes)| (*at, &bytes[..]));
        let index = self.index.as_ref().map(|(at, bytes)| (*at, &bytes[..]));
        [self.payload, index.filter(|index| trailer.is_none_or(|trailer| index.0 < trailer.0)), trailer]
    }

    /// Returns the bytes that mark the end of a file that is not cut off yet, and their offset: the end of the trailer, by
    /// which [`trailing`](crate::frame::store::trailing) recognises the bytes behind the frame as remains. `None` if the file, which
    /// has `len` bytes from the start of the frame on, ends with the frame.
    pub(in crate::frame) fn end_mark(&self, len: u64) -> Option<(u64, &[u8])> {
        let (_, trailer) = self.trailer.as_ref().filter(|_| len > self.layout.frame_len)?;
        let mark_len = (len - self.layout.frame_len).min(END_LEN as u64);
        let mark = &trailer[trailer.len().saturating_sub(mark_len as usize)..];
        Some((len - mark.len() as u64, mark))
    }
}

/// The state of a frame after a change, from which its images are built.
pub(crate) struct TargetState<'a> {
    /// The header; [`plan_change`] computes its lengths.
    pub header: FrameHeader,
    pub metalayers: &'a [Metalayer<'a>],
    pub vlmetalayers: &'a [Metalayer<'a>],
}

/// The index entries of a frame, and the state of the encoder that writes them.
#[derive(Default)]
pub(crate) struct FrameIndex {
    /// One entry for each chunk.
    pub offsets: Offsets,
    /// The encoder, which keeps the compressed blocks of the last index image.
    pub encoder: IndexEncoder,
    /// The checksums of the chunks, if they are known.
    pub(in crate::frame) checksums: Option<Arc<Checksums>>,
    /// The cached result of [`Offsets::max_number`]; `None` while it is not known.
    cached_max_number: Option<i64>,
    /// The lowest number of a new chunk file, for a copy of a directory in an object store: each new file gets a number that the store
    /// has never had. `None` for other frames.
    pub(in crate::frame) first_new_number: Option<u64>,
}

/// The information that reverts the change that [`plan_change`] made to an index.
pub(crate) enum IndexUndo {
    /// The index is unchanged.
    Nothing,
    /// An entry was inserted at this position.
    Inserted(usize),
    /// This entry was removed: its position and its value.
    Removed(usize, i64),
    /// This entry was replaced: its position and its old value.
    Replaced(usize, i64),
    /// These are all old entries.
    All(Offsets),
}

impl FrameIndex {
    /// Applies a change to the checksums of the chunks. Returns the record of its chunk; empty without one.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(in crate::frame) fn change_checksums(&mut self, change: &Change<'_>) -> Result<Vec<u8>> {
        let Some(checksums) = &self.checksums else { return Ok(Vec::new()) };
        let (record, new) = match change {
            Change::Insert { chunk: FrameChunk::Bytes(bytes), .. }
            | Change::Update { chunk: FrameChunk::Bytes(bytes), .. } => {
                let record = record_of(bytes)?;
                let new = checksum_with_record(bytes, &record);
                (record, new)
            }
            _ => (Vec::new(), 0),
        };
        let mut copy = checksums.try_clone()?;
        self.checksums = copy.apply(change, new)?.then(|| Arc::new(copy));
        Ok(record)
    }

    /// Returns the checksums, if chunk `nchunk` must be checked by them when it is read.
    pub(in crate::frame) fn unchecked_chunk(&self, nchunk: usize) -> Option<Arc<Checksums>> {
        self.checksums.as_ref().filter(|checksums| checksums.needs_check(nchunk)).cloned()
    }

    /// Returns the checksums of the chunks, if they are known and a table can be written.
    pub(in crate::frame) fn writable_checksums(&self) -> Option<Arc<Checksums>> {
        let is_writable = |checksums: &Arc<Checksums>| {
            checksums.len() == self.offsets.len() && checksums.writable_table_len().is_some()
        };
        self.checksums.clone().filter(is_writable)
    }

    /// Returns the end of the last page of checksums that is at a place of its own, in bytes from the start of the frame; 0
    /// without one.
    pub(in crate::frame) fn end_of_pages(&self) -> u64 {
        let places = self.checksums.iter().flat_map(|checksums| checksums.stored_places());
        places.map(|at| at.saturating_add(PAGE_LEN as u64)).max().unwrap_or(0)
    }

    /// Replaces the index after the frame was read again.
    pub(crate) fn replace(&mut self, offsets: Offsets) {
        self.offsets = offsets;
        self.encoder.clear();
        self.cached_max_number = None;
    }

    /// Reverts the change that [`plan_change`] made.
    pub(crate) fn undo(&mut self, undo: IndexUndo) -> Result<()> {
        self.encoder.clear();
        self.cached_max_number = None;
        match undo {
            IndexUndo::Nothing => Ok(()),
            IndexUndo::Inserted(at) => self.offsets.remove(at).map(|_| ()),
            IndexUndo::Removed(at, code) => self.offsets.insert(at, code),
            IndexUndo::Replaced(at, code) => self.offsets.set(at, code),
            IndexUndo::All(offsets) => {
                self.offsets = offsets;
                Ok(())
            }
        }
    }

    /// Inserts an entry and updates `cached_max_number`.
    pub(in crate::frame) fn insert(&mut self, at: usize, code: i64) -> Result<()> {
        self.offsets.insert(at, code)?;
        self.cached_max_number = self.cached_max_number.map(|highest| highest.max(code));
        Ok(())
    }

    pub(in crate::frame) fn replace_entry(&mut self, at: usize, code: i64) -> Result<()> {
        let old = self.entry(at)?;
        self.offsets.set(at, code)?;
        self.cached_max_number =
            self.cached_max_number.filter(|&highest| old < highest).map(|highest| highest.max(code));
        Ok(())
    }

    pub(in crate::frame) fn remove(&mut self, at: usize) -> Result<i64> {
        let code = self.offsets.remove(at)?;
        self.cached_max_number = self.cached_max_number.filter(|&highest| code < highest);
        Ok(code)
    }

    pub(in crate::frame) fn entry(&self, at: usize) -> Result<i64> {
        self.offsets
            .get(at)
            .ok_or_else(|| err!(InvalidParam, "no chunk {at} in a frame of {} chunks", self.offsets.len()))
    }

    /// Returns the highest number of a chunk file; -1 without one.
    pub(in crate::frame) fn max_number(&mut self) -> i64 {
        *self.cached_max_number.get_or_insert_with(|| self.offsets.max_number())
    }

    /// Returns a number for a new chunk file: the highest number plus one, as in the reference, but at most `cbytes -
    /// 32`, since the reference does not open a directory with a larger number (`frame.md` 9). Above that limit,
    /// returns the lowest free number, and also for a replacement: otherwise each replacement would raise the numbers.
    /// `taken` are numbers that are used although the index does not have them. With
    /// [`first_new_number`](Self::first_new_number), returns a number above all others.
    ///
    /// # Errors
    /// `FileWrite` if no number is left, `MemoryAlloc`.
    pub(in crate::frame) fn next_chunk_file_number(
        &mut self,
        cbytes: u64,
        is_replacement: bool,
        taken: &[u64],
    ) -> Result<u64> {
        let next = u64::try_from(self.max_number()).map_or(0, |highest| highest + 1);
        let next = taken.iter().fold(next, |next, &taken| next.max(taken + 1));
        let number = if let Some(first) = self.first_new_number {
            next.max(first)
        } else if next <= max_chunk_file_number(cbytes) && !is_replacement {
            next
        } else {
            self.offsets.lowest_free_number(taken)?
        };
        if number > u64::from(u32::MAX) {
            return Err(err!(FileWrite, "chunk file number {number}, expected at most {}", u32::MAX));
        }
        Ok(number)
    }
}

/// Returns the highest number of a chunk file in a directory with `cbytes` bytes of chunks that C-Blosc2 opens
/// (`frame.md` 9).
pub(in crate::frame) fn max_chunk_file_number(cbytes: u64) -> u64 {
    cbytes.saturating_sub(EXTENDED_HEADER_LENGTH as u64)
}

/// Plans `change` for a frame with that layout and index. The index is changed at once; the second result reverts that,
/// except for the checksums. The new state has a table if the checksums of the old chunks are known. `old_index_checksum` returns the checksum of the index chunk that the frame has; it is called if the index
/// chunk does not change.
///
/// # Errors
/// Those of `old_index_checksum`,
/// `Data` for an order that is no permutation, `InvalidHeader` for a chunk that does not lie in the data section,
/// `FileWrite` when no number is left for a chunk file, and the errors of building the images. The index is unchanged
/// then.
pub(crate) fn plan_change<'a>(
    layout: &FrameLayout,
    index: &mut FrameIndex,
    change: &Change<'a>,
    target: &TargetState<'_>,
    old_index_checksum: &dyn Fn() -> Result<u32>,
) -> Result<(FramePlan<'a>, IndexUndo)> {
    let (partial, undo) = edit_index(layout, index, change, target)?;
    let result = index.change_checksums(change).and_then(|_| {
        let has_chunks = target.header.nbytes > 0;
        let checksums = index.writable_checksums().filter(|_| has_chunks);
        let table = checksums.as_deref().map(|checksums| TableParts { checksums, old_index_checksum });
        build_plan(layout, index, change, target, partial, table)
    });
    match result {
        Ok(plan) => Ok((plan, undo)),
        Err(error) => {
            index.undo(undo)?;
            Err(error)
        }
    }
}

/// The changed part of the index, and the writes to the data section.
pub(in crate::frame) struct PartialPlan<'a> {
    /// The first entry that has changed.
    changed_from: usize,
    /// Number of entries for which the reference allocates memory when it compresses the index.
    capacity: usize,
    chunk_file: Option<ChunkFile<'a>>,
    removed_file: Option<(u64, RemovalTime)>,
    moved: Option<Move>,
    payload: Option<(u64, &'a [u8])>,
}

impl PartialPlan<'_> {
    /// Returns the first entry that has changed, and the number of entries for which the reference allocates memory.
    pub(in crate::frame) fn encoding_range(&self) -> (usize, usize) {
        (self.changed_from, self.capacity)
    }

    fn new(changed_from: usize, capacity: usize) -> Self {
        PartialPlan {
            changed_from,
            capacity,
            chunk_file: None,
            removed_file: None,
            moved: None,
            payload: None,
        }
    }
}

/// Changes the index, and returns the writes to the data section and the chunk files.
pub(in crate::frame) fn edit_index<'a>(
    layout: &FrameLayout,
    index: &mut FrameIndex,
    change: &Change<'a>,
    target: &TargetState<'_>,
) -> Result<(PartialPlan<'a>, IndexUndo)> {
    let len = index.offsets.len();
    match *change {
        Change::ReplaceVlmetalayers | Change::ReplaceMetalayerContents | Change::AddMetalayer => {
            Ok((PartialPlan::new(len, len), IndexUndo::Nothing))
        }
        Change::Insert { at, chunk } => {
            let mut partial = PartialPlan::new(at, len + 1);
            let entry = plan_new_chunk(layout, index, chunk, target, &mut partial)?;
            index.insert(at, encode_entry(entry))?;
            Ok((partial, IndexUndo::Inserted(at)))
        }
        Change::Update { at, chunk, old_len } => plan_update(layout, index, at, chunk, old_len, target),
        Change::Delete { at, .. } => {
            let code = index.entry(at)?;
            let mut partial = PartialPlan::new(at, len);
            if let (FrameKind::Sparse, Ok(number)) = (layout.kind, u64::try_from(code)) {
                partial.removed_file = Some((number, RemovalTime::BeforeIndex));
            }
            index.remove(at)?;
            Ok((partial, IndexUndo::Removed(at, code)))
        }
        Change::Reorder { order } => {
            let Some(permuted) = index.offsets.permuted(order) else {
                return Err(err!(Data, "`offsets_order` is not a permutation of {len} chunk numbers"));
            };
            Ok((PartialPlan::new(0, len), IndexUndo::All(std::mem::replace(&mut index.offsets, permuted))))
        }
        Change::Fill { special, nchunks } => {
            let offsets = Offsets::Uniform { code: encode_entry(IndexEntry::Special(special)), len: nchunks };
            index.cached_max_number = None;
            Ok((PartialPlan::new(0, nchunks), IndexUndo::All(std::mem::replace(&mut index.offsets, offsets))))
        }
    }
}

/// Assigns a location to a new chunk, the end of the data section or a new file, and adds its write to `partial`.
fn plan_new_chunk<'a>(
    layout: &FrameLayout,
    index: &mut FrameIndex,
    chunk: FrameChunk<'a>,
    target: &TargetState<'_>,
    partial: &mut PartialPlan<'a>,
) -> Result<IndexEntry> {
    let bytes = match chunk {
        FrameChunk::Special(special) => return Ok(IndexEntry::Special(special)),
        FrameChunk::Bytes(bytes) => bytes,
    };
    match layout.kind {
        FrameKind::Contiguous => {
            partial.payload = Some((layout.header_len + layout.cbytes, bytes));
            Ok(IndexEntry::Payload(layout.cbytes))
        }
        FrameKind::Sparse => {
            let number =
                index.next_chunk_file_number(u64::try_from(target.header.cbytes).unwrap_or(0), false, &[])?;
            partial.chunk_file = Some(ChunkFile { number, bytes, is_replacement: false });
            Ok(IndexEntry::Payload(number))
        }
    }
}

/// Replaces a chunk (`frame.md` 2.5).
fn plan_update<'a>(
    layout: &FrameLayout,
    index: &mut FrameIndex,
    at: usize,
    chunk: FrameChunk<'a>,
    old_len: u64,
    target: &TargetState<'_>,
) -> Result<(PartialPlan<'a>, IndexUndo)> {
    let len = index.offsets.len();
    let old = index.entry(at)?;
    let mut partial = PartialPlan::new(at, len);
    let Ok(old_place) = u64::try_from(old) else {
        let entry = plan_new_chunk(layout, index, chunk, target, &mut partial)?;
        let before = copy_offsets(&index.offsets)?;
        index.cached_max_number = None;
        index.offsets.set(at, encode_entry(entry))?;
        return Ok((partial, IndexUndo::All(before)));
    };
    if layout.kind == FrameKind::Sparse {
        return match chunk {
            FrameChunk::Bytes(bytes) => {
                partial.chunk_file = Some(ChunkFile { number: old_place, bytes, is_replacement: true });
                Ok((partial, IndexUndo::Nothing))
            }
            FrameChunk::Special(special) => {
                partial.removed_file = Some((old_place, RemovalTime::AtEnd));
                let before = copy_offsets(&index.offsets)?;
                index.cached_max_number = None;
                index.offsets.set(at, encode_entry(IndexEntry::Special(special)))?;
                Ok((partial, IndexUndo::All(before)))
            }
        };
    }
    let new_len = chunk.len();
    let tail = old_place.checked_add(old_len).filter(|&tail| tail <= layout.cbytes);
    let Some(tail) = tail else {
        return Err(err!(
            InvalidHeader,
            "the old chunk of {old_len} bytes at offset {old_place} is outside the data section of {} bytes",
            layout.cbytes
        ));
    };
    if new_len != old_len && tail < layout.cbytes {
        partial.moved = Some(Move {
            from: layout.header_len + tail,
            to: layout.header_len + old_place + new_len,
            len: layout.cbytes - tail,
        });
    }
    if let FrameChunk::Bytes(bytes) = chunk {
        partial.payload = Some((layout.header_len + old_place, bytes));
    }
    let before = copy_offsets(&index.offsets)?;
    index.cached_max_number = None;
    if new_len != old_len {
        partial.changed_from = 0;
        index.offsets.shift_offsets_after(old_place, new_len as i64 - old_len as i64)?;
    }
    if let FrameChunk::Special(special) = chunk {
        index.offsets.set(at, encode_entry(IndexEntry::Special(special)))?;
    }
    Ok((partial, IndexUndo::All(before)))
}

/// Returns a copy of the entries, for reverting a change.
pub(in crate::frame) fn copy_offsets(offsets: &Offsets) -> Result<Offsets> {
    match offsets {
        Offsets::Uniform { code, len } => Ok(Offsets::Uniform { code: *code, len: *len }),
        Offsets::List(list) => Ok(Offsets::List(fallible::copy_of(list)?)),
    }
}

/// What a table of checksums is built from, besides the images of the plan.
struct TableParts<'a> {
    checksums: &'a Checksums,
    old_index_checksum: &'a dyn Fn() -> Result<u32>,
}

/// Builds the images of header, index, table of checksums and trailer, and puts the plan together.
fn build_plan<'a>(
    layout: &FrameLayout,
    index: &mut FrameIndex,
    change: &Change<'a>,
    target: &TargetState<'_>,
    partial: PartialPlan<'a>,
    table: Option<TableParts<'_>>,
) -> Result<FramePlan<'a>> {
    let mut header = target.header.clone();
    let mut trailer = trailer::build(target.vlmetalayers)?;
    let table_len = table.as_ref().and_then(|table| table.checksums.writable_table_len()).unwrap_or(0);
    let has_chunks = header.nbytes > 0;
    let mut new = FrameLayout {
        cbytes: u64::try_from(header.cbytes).unwrap_or(0),
        trailer_len: trailer.len() as u64,
        table_len,
        header_len: (FIXED_HEADER_LEN + section_len(target.metalayers)?) as u64,
        ..*layout
    };
    ensure!(
        new.header_len == layout.header_len || matches!(change, Change::AddMetalayer),
        Data,
        "the new frame header has {} bytes, expected {} as the old one",
        new.header_len,
        layout.header_len,
    );
    let index_image = match *change {
        Change::ReplaceVlmetalayers | Change::ReplaceMetalayerContents | Change::AddMetalayer => None,
        Change::Fill { special, nchunks } => Some(encode_special(special, nchunks)?),
        _ => Some(index.encoder.encode(&index.offsets, partial.changed_from, partial.capacity)?),
    };
    let trailer_at = match (&index_image, has_chunks) {
        (_, false) => new.header_len,
        (Some(image), true) => new.index_offset() + image.len() as u64,
        (None, true) => layout.frame_len - layout.trailer_len - layout.table_len,
    };
    let keeps_trailer = matches!(change, Change::ReplaceMetalayerContents);
    let trailer_changes = !keeps_trailer || table.is_some() || layout.table_len > 0;
    if trailer_changes {
        new.frame_len = trailer_at + new.table_len + new.trailer_len;
    } else {
        new = *layout;
    }
    header.frame_len = new.frame_len;
    header.has_checksums = table.is_some();
    let header = header.build(target.metalayers)?;
    if let Some(TableParts { checksums, old_index_checksum }) = table {
        let index_checksum = index_image.as_deref().map_or_else(old_index_checksum, |i| Ok(checksum(i)))?;
        let table = checksums.seal(&header, index_checksum, &mut trailer, new.frame_len)?;
        trailer = fallible::concat(&[&table, &trailer])?;
    }
    let trailer = trailer_changes.then_some((trailer_at, trailer));
    Ok(FramePlan {
        chunk_file: partial.chunk_file,
        removed_file: partial.removed_file,
        moved: partial.moved,
        payload: partial.payload,
        index: index_image.map(|image| (new.index_offset(), image)),
        header,
        trailer,
        layout: new,
    })
}
