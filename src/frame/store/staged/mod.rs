//! Atomic changes of a frame on native files (`frame.md` 2.12): chunks are stored where the committed state has no
//! bytes, and a commit publishes all changes at once.
//!
//! Data flow: change -> chunk stored by [`mod@file`] or [`directory`] -> entries changed in memory, and [`Pending`]
//! parts -> commit: index and trailer written, then the header, to the file or to the index file of the directory.
//!
//! The committed state, and the parts that a commit writes, are in [`state`].
//!
//! A change outside of a transaction is committed at once. Inside, the index in memory is ahead of the files, and reads
//! through the same handle find the pending state.

mod compaction;
mod directory;
mod file;
mod hole_search;
mod state;
mod unsynced;

use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::Result;
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::change::{Change, FrameChunk};
use crate::frame::format::checksums::PAGE_LEN;
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::{IndexEntry, Offsets, decode_entry, encode_entry};
use crate::frame::format::plan::{self, FrameIndex, FrameLayout, Images, IndexUndo, TargetState};
use crate::frame::format::units::record_len;
use crate::frame::store::disk::Disk;
use crate::io::{IoStream, WriteUnit};
use directory::StagedDirectory;
use file::StagedFile;
pub(in crate::frame) use state::Committed;
use state::{ChunkSums, IndexChange, Pending};
use std::ops::Range;
use std::sync::Arc;

/// The state of a frame with atomic changes.
pub(in crate::frame) struct Staging {
    /// What the next commit writes; `None` if nothing has changed since the last one.
    pending: Option<Pending>,
    store: StagedStore,
    /// The file, opened for writing, during a transaction.
    stream: Option<Arc<IoStream>>,
    /// Number of open transactions and brackets, inside which changes are not committed.
    pub(in crate::frame) open_transactions: usize,
    /// Number of brackets among them.
    pub(in crate::frame) open_brackets: usize,
    /// Whether the frame is being created: its first transaction is open, and its files are no frame yet.
    pub(in crate::frame) is_new: bool,
}

/// The chunks of a frame with atomic changes.
enum StagedStore {
    File(StagedFile),
    Directory(StagedDirectory),
}

/// The place of a chunk that is replaced or deleted.
enum FreedPlace {
    /// Bytes of the file, counted from the start of the frame.
    Bytes(Range<u64>),
    /// The number of a chunk file.
    File(u64),
}

/// The state of a frame at the begin of a transaction.
pub(crate) struct StagingSavepoint {
    checksums: Option<Arc<Checksums>>,
    offsets: Offsets,
    pending: Option<Pending>,
    store: StagedStore,
}

impl Staging {
    /// Prepares atomic changes of a frame. `images` are those of the committed state.
    ///
    /// # Errors
    /// `FileWrite` if other data follow the frame in its file, `FileOpen`, `FileRead`, `MemoryAlloc`.
    pub(in crate::frame) fn new(
        disk: &Disk,
        layout: &FrameLayout,
        images: &Images,
        index: &FrameIndex,
    ) -> Result<Staging> {
        let store = match layout.kind {
            FrameKind::Sparse => StagedStore::Directory(StagedDirectory::new(layout, images, index)?),
            FrameKind::Contiguous => StagedStore::File(StagedFile::new(disk, layout, images, index)?),
        };
        Ok(Staging {
            pending: None,
            store,
            stream: None,
            open_transactions: 0,
            open_brackets: 0,
            is_new: false,
        })
    }

    /// Returns the pending state of a frame without chunks that is being created, in an open transaction.
    pub(in crate::frame) fn of_new_frame(
        layout: &FrameLayout,
        header: FrameHeader,
        images: &Images,
    ) -> Result<Staging> {
        let store = match layout.kind {
            FrameKind::Sparse => StagedStore::Directory(StagedDirectory::of_new_frame()),
            FrameKind::Contiguous => StagedStore::File(StagedFile::of_new_frame(layout)),
        };
        let pending = Some(Pending::of_new_frame(header, images)?);
        Ok(Staging { pending, store, stream: None, open_transactions: 1, open_brackets: 0, is_new: true })
    }

    /// Returns whether a transaction or a bracket is open.
    pub(in crate::frame) fn has_open_transaction(&self) -> bool {
        self.open_transactions > 0
    }

    /// Returns the header of the pending state; `None` if it is the committed one.
    pub(in crate::frame) fn pending_header(&self) -> Option<&FrameHeader> {
        self.pending.as_ref().map(|pending| &pending.header)
    }

    /// Returns the chunk at `offset` if it is not written to the file yet.
    pub(in crate::frame) fn unwritten_chunk(&self, offset: u64) -> Option<Arc<Vec<u8>>> {
        match &self.store {
            StagedStore::File(file) => file.unwritten_chunk(offset),
            StagedStore::Directory(_) => None,
        }
    }

    /// Returns the length that the frame has once it is closed.
    pub(in crate::frame) fn closed_len(&self, layout: &FrameLayout, images: &Images) -> u64 {
        match &self.store {
            _ if images.index.is_empty() => layout.frame_len,
            StagedStore::File(file) => file.end_of_data() + images.len_behind_chunks(),
            StagedStore::Directory(_) => layout.header_len + images.len_behind_chunks(),
        }
    }

    /// Stages a change, and commits it unless a transaction is open. After an error nothing has changed.
    pub(in crate::frame) fn apply(
        &mut self,
        mut committed: Committed<'_>,
        index: &mut FrameIndex,
        change: &Change<'_>,
        target: &TargetState<'_>,
    ) -> Result<()> {
        let in_transaction = self.has_open_transaction();
        committed.stream = self.stream.take();
        if let StagedStore::File(file) = &mut self.store
            && self.pending.is_none()
            && matches!(change, Change::Update { .. } | Change::Delete { .. })
        {
            let header_len = file.header_len();
            file.search.search_before_change(&mut committed, index, &mut file.space, header_len)?;
        }
        let before = (self.pending.clone(), self.store.try_clone()?);
        let checksums = index.checksums.clone();
        let staged = self.stage(&mut committed, index, change, target, in_transaction);
        let (undo, done) = match staged {
            Ok(undo) if in_transaction => (undo, Ok(())),
            Ok(undo) => (undo, self.commit(&mut committed, index)),
            Err(error) => (IndexUndo::Nothing, Err(error)),
        };
        if in_transaction {
            self.stream = committed.stream.take();
        }
        if done.is_err() {
            self.store.discard_chunks(committed.disk, &before.1);
            self.pending = before.0;
            self.store.restore(before.1);
            index.checksums = checksums;
            index.undo(undo)?;
        }
        done
    }

    /// Stores the chunk of a change, and changes the index and the pending parts. The result reverts the change of the
    /// index.
    fn stage(
        &mut self,
        committed: &mut Committed<'_>,
        index: &mut FrameIndex,
        change: &Change<'_>,
        target: &TargetState<'_>,
        in_transaction: bool,
    ) -> Result<IndexUndo> {
        let old_len = match &self.store {
            StagedStore::File(file) => file.header_len(),
            StagedStore::Directory(_) => {
                self.pending_header().map_or(committed.layout.header_len, |header| header.header_len as u64)
            }
        };
        let (header_image, trailer) = Pending::parts(old_len, change, target)?;
        let record = index.change_checksums(change)?;
        let (undo, index_change) =
            self.edit_index(committed, index, change, target, &record, in_transaction)?;
        if let (StagedStore::File(file), Change::AddMetalayer) = (&mut self.store, change) {
            file.set_header_len(header_image.len() as u64);
        }
        let mut header = target.header.clone();
        header.header_len = header_image.len();
        if let StagedStore::File(file) = &self.store {
            // The limits that reads are checked against; the commit sets the lengths of the header on disk.
            header.cbytes = file.end_of_data().saturating_sub(header_image.len() as u64) as i64;
            header.frame_len = file.end_of_data() + EXTENDED_HEADER_LENGTH as u64;
        }
        let old = self.pending.take();
        self.pending = Some(Pending {
            header,
            header_image: Arc::new(header_image),
            trailer: trailer.map(Arc::new).or_else(|| old.as_ref().and_then(|old| old.trailer.clone())),
            index: IndexChange::merge(old.as_ref().and_then(|old| old.index), index_change),
        });
        Ok(undo)
    }

    /// Stores the chunk of a change, with its record behind it, and changes the entries of the index.
    fn edit_index(
        &mut self,
        committed: &mut Committed<'_>,
        index: &mut FrameIndex,
        change: &Change<'_>,
        target: &TargetState<'_>,
        record: &[u8],
        in_transaction: bool,
    ) -> Result<(IndexUndo, Option<IndexChange>)> {
        let len = index.offsets.len();
        let freed = match *change {
            Change::Update { at, old_len, .. } | Change::Delete { at, old_len } => {
                let record_len = if index.checksums.is_some() { record_len(old_len) } else { 0 };
                self.store.place_to_free(&index.offsets, at, old_len + record_len)
            }
            _ => None,
        };
        let mut store = |index: &mut FrameIndex, chunk, is_replacement| {
            let bytes = match chunk {
                FrameChunk::Special(special) => return Ok(encode_entry(IndexEntry::Special(special))),
                FrameChunk::Bytes(bytes) => bytes,
            };
            let place = match &mut self.store {
                StagedStore::File(file) => {
                    file.store(committed, &[bytes, record], is_replacement, in_transaction)?
                }
                StagedStore::Directory(directory) => {
                    let cbytes = u64::try_from(target.header.cbytes).unwrap_or(0);
                    directory.store(committed, index, &[bytes, record], is_replacement, cbytes)?
                }
            };
            Ok(encode_entry(IndexEntry::Payload(place)))
        };
        let changed = |changed_from, capacity| Some(IndexChange { changed_from, capacity, fill: None });
        match *change {
            Change::ReplaceVlmetalayers | Change::ReplaceMetalayerContents | Change::AddMetalayer => {
                Ok((IndexUndo::Nothing, None))
            }
            Change::Insert { at, chunk } => {
                let code = store(index, chunk, false)?;
                index.insert(at, code)?;
                Ok((IndexUndo::Inserted(at), changed(at, len + 1)))
            }
            Change::Update { at, chunk, .. } => {
                let old = index.entry(at)?;
                let code = store(index, chunk, true)?;
                self.store.supersede(freed)?;
                index.replace_entry(at, code)?;
                Ok((IndexUndo::Replaced(at, old), changed(at, len)))
            }
            Change::Delete { at, .. } => {
                let old = index.entry(at)?;
                self.store.supersede(freed)?;
                index.remove(at)?;
                Ok((IndexUndo::Removed(at, old), changed(at, len)))
            }
            Change::Reorder { .. } | Change::Fill { .. } => {
                let (partial, undo) = plan::edit_index(committed.layout, index, change, target)?;
                let fill = match *change {
                    Change::Fill { special, nchunks } => Some((special, nchunks)),
                    _ => None,
                };
                let (changed_from, capacity) = partial.encoding_range();
                Ok((undo, Some(IndexChange { changed_from, capacity, fill })))
            }
        }
    }

    /// Publishes the pending state.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`, those of encoding the index. The committed state is unchanged then.
    pub(in crate::frame) fn commit(
        &mut self,
        committed: &mut Committed<'_>,
        index: &mut FrameIndex,
    ) -> Result<()> {
        committed.stream = committed.stream.take().or(self.stream.take());
        let Some(pending) = &mut self.pending else { return Ok(()) };
        let mut before = None;
        if let StagedStore::Directory(directory) = &mut self.store {
            let cbytes = u64::try_from(pending.header.cbytes).unwrap_or(0);
            before = directory.lower_numbers(committed, index, cbytes)?;
            if before.is_some() {
                let all = IndexChange { changed_from: 0, capacity: index.offsets.len(), fill: None };
                pending.index = IndexChange::merge(pending.index, Some(all));
            }
        }
        let done = self.write_commit(committed, index);
        if done.is_err()
            && let (Some(before), StagedStore::Directory(directory)) = (before, &mut self.store)
        {
            directory.restore_numbers(committed.disk, index, before);
        }
        done
    }

    /// Writes the pending state, and makes it the committed one.
    fn write_commit(&mut self, committed: &mut Committed<'_>, index: &mut FrameIndex) -> Result<()> {
        let Some(pending) = &self.pending else { return Ok(()) };
        let parts = pending.index_and_trailer(index, committed.images)?;
        let mut checksums = index.writable_checksums().map(|checksums| checksums.try_clone()).transpose()?;
        if let Some(checksums) = &mut checksums {
            self.store.store_pages(committed, pending, &parts.0, checksums)?;
        }
        let sums = ChunkSums::Pending(checksums.as_ref());
        match &mut self.store {
            StagedStore::File(file) => file.commit(committed, pending, parts, sums)?,
            StagedStore::Directory(directory) => directory.commit(committed, pending, parts, sums)?,
        }
        self.pending = None;
        if let Some(checksums) = checksums {
            index.checksums = Some(Arc::new(checksums));
        }
        Ok(())
    }

    /// Commits the present state with all checksums in the table, if some pages of them are at places of their own.
    fn take_stored_pages(&mut self, committed: &mut Committed<'_>, index: &mut FrameIndex) -> Result<()> {
        let Some(old) = index.checksums.clone() else { return Ok(()) };
        let mut checksums = old.try_clone()?;
        if !checksums.take_stored_pages()? {
            return Ok(());
        }
        self.pending = Some(Pending::of_committed(committed)?);
        index.checksums = Some(Arc::new(checksums));
        let done = self.commit(committed, index);
        if done.is_err() {
            self.pending = None;
            index.checksums = Some(old);
        }
        done
    }

    /// Begins a transaction. Returns the present state, to which [`roll_back`](Self::roll_back) returns.
    pub(in crate::frame) fn begin(&mut self, index: &FrameIndex) -> Result<Box<StagingSavepoint>> {
        let offsets = plan::copy_offsets(&index.offsets)?;
        let checksums = index.checksums.clone();
        let store = self.store.try_clone()?;
        let savepoint = StagingSavepoint { checksums, offsets, pending: self.pending.clone(), store };
        let savepoint = fallible::try_box(savepoint)?;
        self.open_transactions += 1;
        Ok(savepoint)
    }

    /// Ends a transaction and discards its changes, none of which is committed, and removes their chunk files from `disk`.
    /// Returns whether there were any.
    pub(in crate::frame) fn roll_back(
        &mut self,
        disk: Option<&Disk>,
        index: &mut FrameIndex,
        savepoint: StagingSavepoint,
    ) -> bool {
        self.open_transactions = self.open_transactions.saturating_sub(1);
        let number =
            |pending: &Option<Pending>| pending.as_ref().map(|pending| Arc::as_ptr(&pending.header_image));
        // Each change builds a new header.
        if number(&self.pending) == number(&savepoint.pending) {
            return false;
        }
        if let Some(disk) = disk {
            self.store.discard_chunks(disk, &savepoint.store);
        }
        index.replace(savepoint.offsets);
        index.checksums = savepoint.checksums;
        self.stream = None;
        self.pending = savepoint.pending;
        self.store.restore(savepoint.store);
        true
    }

    /// Closes the gap that changes have left between the chunks and the index, so that the frame has the same bytes as
    /// after changes in place. Does nothing if another handle has changed the frame.
    ///
    /// # Errors
    /// Those of reading and writing the file. The frame is valid all the same.
    pub(in crate::frame) fn close(
        &mut self,
        mut committed: Committed<'_>,
        index: &mut FrameIndex,
    ) -> Result<()> {
        self.commit(&mut committed, index)?;
        let stream = committed.stream()?;
        if !self.store.has_committed_state(&committed, &stream)? {
            return Ok(());
        }
        committed.stream = Some(stream);
        self.take_stored_pages(&mut committed, index)?;
        match &mut self.store {
            StagedStore::File(file) => compaction::close(file, &mut committed, index),
            StagedStore::Directory(directory) => directory.close(&mut committed),
        }
    }
}

impl StagedStore {
    fn try_clone(&self) -> Result<StagedStore> {
        Ok(match self {
            StagedStore::File(file) => StagedStore::File(file.try_clone()?),
            StagedStore::Directory(directory) => StagedStore::Directory(directory.try_clone()?),
        })
    }

    /// Stores pages of checksums before a commit of that index, and marks the places of others as free after it.
    fn store_pages(
        &mut self,
        committed: &mut Committed<'_>,
        pending: &Pending,
        index: &[u8],
        checksums: &mut Checksums,
    ) -> Result<()> {
        let is_in_place = match self {
            StagedStore::File(_) => true,
            StagedStore::Directory(directory) => directory.is_changed_in_place(pending, index)?,
        };
        if !is_in_place {
            checksums.take_stored_pages()?;
        }
        let can_store = is_in_place && !committed.is_empty() && !index.is_empty();
        let (space, slot) = match self {
            StagedStore::File(file) => (&mut file.space, Some(&file.slot)),
            StagedStore::Directory(directory) => (&mut directory.pages, directory.slot.as_ref()),
        };
        let store = |page: &[u8]| {
            let len = page.len() as u64;
            let hole = space.find_hole(len).filter(|&at| !slot.is_some_and(|slot| slot.overlaps(at, len)));
            let at_end = || slot.map_or(space.end(), |slot| slot.place_at_end(space, len));
            let at = hole.unwrap_or_else(at_end);
            committed.stream()?.write_at(committed.disk.base + at, page, WriteUnit::Bytes)?;
            space.occupy(at, len)?;
            Ok(at)
        };
        let freed = checksums.store_pages(can_store, store)?;
        freed.into_iter().try_for_each(|at| space.supersede(at..at + PAGE_LEN as u64))
    }

    /// Returns whether the file has the committed state. The header alone does not tell the frame from another one, which
    /// a file created anew under the same name may hold.
    fn has_committed_state(&self, committed: &Committed<'_>, stream: &IoStream) -> Result<bool> {
        let Images { header, index, trailer, .. } = &*committed.images;
        let trailer_at = committed.layout.frame_len - trailer.len() as u64;
        let header = header.get(..FIXED_HEADER_LEN).unwrap_or_default();
        let index = match self {
            StagedStore::File(file) => (file.slot.range.start, &index[..]),
            StagedStore::Directory(_) => (0, &[][..]),
        };
        committed.are_in_file(stream, &[(0, header), index, (trailer_at, trailer)])
    }

    /// Returns what chunk `at` alone uses, which is about to be replaced or deleted. The length of a damaged chunk is not
    /// known: `old_len` may include bytes that are free already.
    fn place_to_free(&self, offsets: &Offsets, at: usize, old_len: u64) -> Option<FreedPlace> {
        let Some(Ok(IndexEntry::Payload(place))) = offsets.get(at).map(decode_entry) else { return None };
        match self {
            StagedStore::File(file) => {
                let range = unshared_range(offsets, at, place, old_len)?;
                let header_len = file.header_len();
                let used = file.space.used_start(range.start + header_len..range.end + header_len);
                Some(FreedPlace::Bytes(used))
            }
            StagedStore::Directory(_) => {
                let is_shared = offsets.iter().enumerate().any(|(n, code)| n != at && code == place as i64);
                (!is_shared).then_some(FreedPlace::File(place))
            }
        }
    }

    /// Marks the place of a chunk as free after the next commit.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    fn supersede(&mut self, place: Option<FreedPlace>) -> Result<()> {
        match (self, place) {
            (StagedStore::File(file), Some(FreedPlace::Bytes(range))) => file.supersede(range),
            (StagedStore::Directory(directory), Some(FreedPlace::File(number))) => {
                directory.supersede(number)
            }
            _ => Ok(()),
        }
    }

    /// Removes the chunk files that were created since the state `before`.
    fn discard_chunks(&self, disk: &Disk, before: &StagedStore) {
        if let (StagedStore::Directory(now), StagedStore::Directory(before)) = (self, before) {
            now.remove_new_files(disk, before);
        }
    }

    fn restore(&mut self, savepoint: StagedStore) {
        match (self, savepoint) {
            (StagedStore::File(file), StagedStore::File(before)) => file.restore(before),
            (StagedStore::Directory(directory), StagedStore::Directory(before)) => directory.restore(before),
            (store, before) => *store = before,
        }
    }
}

/// Returns the part of `len` bytes at `place` that no other entry refers to; `None` if another entry begins there. The
/// entries of damaged frames may overlap.
fn unshared_range(offsets: &Offsets, at: usize, place: u64, len: u64) -> Option<Range<u64>> {
    let mut end = place.checked_add(len)?;
    for (n, code) in offsets.iter().enumerate() {
        if let Ok(other) = u64::try_from(code)
            && n != at
            && other < end
            && other >= place
        {
            end = other;
        }
    }
    (end > place).then_some(place..end)
}
