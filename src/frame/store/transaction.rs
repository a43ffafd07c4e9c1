//! Changes of a frame: one at a time, or several as a transaction that is committed or discarded as a whole.
//!
//! A frame on native files with a durability level above `Off` is changed by [`super::staged`], which writes nothing that
//! readers see before the commit. Every other frame is changed in place by [`super::writer`]. On native files, a
//! transaction keeps what reverts these changes ([`super::undo_log`]); other frames have no transactions.

use super::disk_frame::DiskFrame;
use super::durability::Durability;
use super::inner::{Changes, DiskInner};
use super::load;
use super::staged::{Committed, Staging, StagingSavepoint};
use super::undo_log::{FileState, UndoLog};
use super::writer;
use crate::error::{ErrorKind, Result, ensure, err};
use crate::fallible;
use crate::frame::format::change::Change;
use crate::frame::format::checksums;
use crate::frame::format::index::Offsets;
use crate::frame::format::plan::{self, FrameLayout, FramePlan, Images, TargetState};
use crate::trace;
use std::mem;
use std::sync::atomic::Ordering;

/// The state of a frame at the begin of a transaction.
pub(crate) enum FrameSavepoint {
    /// That of a frame with atomic changes.
    Staged(Box<StagingSavepoint>),
    /// That of a frame that is changed in place: its place in the [`UndoLog`].
    InPlace(usize),
}

impl DiskFrame {
    /// As [`Frame::apply`](super::Frame::apply).
    pub(super) fn apply(&self, change: &Change<'_>, target: &TargetState<'_>) -> Result<()> {
        if self.is_state_of_parent() {
            return Err(err!(Failure, "the process was forked during a change, which its parent completes"));
        }
        let is_staged = self.prepare_staging()?;
        if !is_staged {
            self.close_old_gap()?;
        }
        self.prepare_checksums()?;
        if !is_staged {
            self.apply_in_place(change, target)?;
            self.check_commit();
            return Ok(());
        }
        let in_transaction = {
            let mut inner = self.inner.write();
            inner.last_check = None;
            self.with_staging(&mut inner, |staging, committed, index| {
                staging.apply(committed, index, change, target)?;
                Ok(staging.has_open_transaction())
            })?
        };
        if !in_transaction {
            self.check_commit();
        }
        Ok(())
    }

    /// Prepares atomic changes. Returns whether the frame has them.
    fn prepare_staging(&self) -> Result<bool> {
        if !self.has_atomic_changes() {
            return Ok(false);
        }
        let mut inner = self.inner.write();
        if inner.staging().is_none() {
            let staging = Staging::new(&self.disk, &inner.layout, &inner.images, &inner.index)?;
            inner.changes = Changes::Staged(fallible::try_box(staging)?);
        }
        Ok(true)
    }

    /// Closes the gap that atomic changes of another handle have left, before the frame is changed in place.
    fn close_old_gap(&self) -> Result<()> {
        let DiskInner { end_of_chunks, layout, images, index, .. } = &mut *self.inner.write();
        if end_of_chunks.take().is_none() {
            return Ok(());
        }
        Staging::new(&self.disk, layout, images, index)?.close(self.committed(layout, images), index)
    }

    /// Calls `work` with the state of atomic changes, which must have been prepared.
    fn with_staging<R>(
        &self,
        inner: &mut DiskInner,
        work: impl FnOnce(&mut Staging, Committed<'_>, &mut plan::FrameIndex) -> Result<R>,
    ) -> Result<R> {
        let DiskInner { changes: Changes::Staged(staging), layout, images, index, .. } = inner else {
            return Err(err!(Failure, "the frame has no atomic changes"));
        };
        work(staging, self.committed(layout, images), index)
    }

    fn committed<'a>(&'a self, layout: &'a mut FrameLayout, images: &'a mut Images) -> Committed<'a> {
        Committed { disk: &self.disk, level: self.level(), layout, images, stream: None }
    }

    /// Begins a transaction: changes are committed at its end. A frame with atomic changes must be up to date. Returns
    /// `None` for a frame without transactions.
    pub(crate) fn begin_transaction(&self) -> Result<Option<FrameSavepoint>> {
        if !self.prepare_staging()? {
            let begin = || self.inner.write().undo_log()?.begin();
            return Ok(self.is_native().then(begin).flatten().map(FrameSavepoint::InPlace));
        }
        let mut inner = self.inner.write();
        let savepoint = self.with_staging(&mut inner, |staging, _, index| staging.begin(index))?;
        inner.last_check = None;
        Ok(Some(FrameSavepoint::Staged(savepoint)))
    }

    /// Ends the transaction of a savepoint, and commits its changes if it is not inside another one. After an error the
    /// transaction is still open, and [`roll_back`](Self::roll_back) must be called.
    ///
    /// # Errors
    /// `FileRead` if another handle has changed the frame meanwhile; those of writing the frame.
    pub(crate) fn commit(&self, savepoint: &FrameSavepoint) -> Result<()> {
        match savepoint {
            FrameSavepoint::Staged(_) => self.end_transaction(),
            FrameSavepoint::InPlace(_) => {
                self.cut_files();
                if let Some(log) = self.inner.write().undo_log() {
                    log.end(&self.disk);
                }
                Ok(())
            }
        }
    }

    /// Cuts off files at the end of the outermost transaction of a frame that is changed in place. The caller has
    /// exclusive access to the super-chunk.
    fn cut_files(&self) {
        let has_files = |log: &mut UndoLog| log.has_files_to_cut();
        if !self.inner.write().undo_log().is_some_and(has_files) {
            return;
        }
        // Other processes may write to the files otherwise. They may read: no reader needs the bytes behind the content.
        let Ok(_frame_lock) = self.lock(false) else { return };
        let mut inner = self.inner.write();
        let is_current = self.has_header_on_disk(&inner.images).unwrap_or(false);
        let frame_len = inner.layout.frame_len;
        if let Some(log) = inner.undo_log().filter(|_| is_current) {
            log.cut_files(&self.disk, frame_len);
        }
    }

    /// Ends a transaction or a bracket of a frame with atomic changes, and commits its changes if it is not inside
    /// another one. After an error it is still open.
    ///
    /// # Errors
    /// `FileRead` if another handle has changed the frame meanwhile; those of writing the frame.
    fn end_transaction(&self) -> Result<()> {
        let mut inner = self.inner.write();
        let Some(&Staging { open_transactions: open @ 1.., is_new, .. }) = inner.staging() else {
            return Ok(());
        };
        let is_outermost = open == 1;
        if is_outermost && !is_new {
            self.check_unchanged(&inner)?;
        }
        self.with_staging(&mut inner, |staging, mut committed, index| {
            if is_outermost {
                staging.commit(&mut committed, index)?;
                staging.is_new = false;
            }
            staging.open_transactions -= 1;
            Ok(())
        })?;
        drop(inner);
        if is_outermost {
            self.check_commit();
        }
        Ok(())
    }

    /// Commits the creation of a frame, and gives its files their name. Does nothing for a frame that exists.
    ///
    /// # Errors
    /// Those of writing the frame; `FileOpen` if something has the name by now.
    pub(crate) fn finish_creation(&self) -> Result<()> {
        let is_new = self.inner.read_recursive().staging().is_some_and(|staging| staging.is_new);
        if is_new {
            self.end_transaction()?;
        }
        let is_synced = self.level() == Durability::Power;
        self.disk.publish(is_synced)
    }

    /// Returns an error if another handle has changed the frame since it was read.
    fn check_unchanged(&self, inner: &DiskInner) -> Result<()> {
        if self.disk.was_replaced(self.disk.stamp().as_ref()) || !self.has_header_on_disk(&inner.images)? {
            // A new index file can have the old header.
            self.force_refresh.store(true, Ordering::Relaxed);
            return Err(err!(FileRead, "another handle has changed the frame during a transaction"));
        }
        Ok(())
    }

    /// Discards the log of changes in place, so that the changes of the open transaction stay.
    pub(crate) fn discard_undo_log(&self) {
        if let Some(log) = self.inner.write().undo_log() {
            log.discard();
        }
    }

    /// Gives up the log of changes in place if another handle has changed the frame.
    pub(in crate::frame) fn check_undo_log(&self) {
        let mut inner = self.inner.write();
        let has_transaction = inner.undo_log().is_some_and(|log| log.has_transaction());
        let is_changed = has_transaction && !self.has_header_on_disk(&inner.images).unwrap_or(false);
        if let Some(log) = inner.undo_log().filter(|_| is_changed) {
            log.lose("another handle has changed the frame");
        }
    }

    pub(in crate::frame) fn has_header_on_disk(&self, images: &Images) -> Result<bool> {
        let mut found = [0; crate::frame::format::header::FIXED_HEADER_LEN];
        self.disk.read(0, &mut found)?;
        Ok(images.header.get(..found.len()) == Some(&found[..]))
    }

    /// Ends a transaction and discards its changes. Returns whether there were any. Changes in place are reverted; the
    /// frame must be read again then.
    pub(crate) fn roll_back(&self, savepoint: FrameSavepoint) -> bool {
        let mut inner = self.inner.write();
        let savepoint = match savepoint {
            FrameSavepoint::Staged(savepoint) => savepoint,
            FrameSavepoint::InPlace(savepoint) => return self.revert_changes(&mut inner, savepoint),
        };
        // The number of a new chunk file may be that of a chunk which another handle has stored meanwhile.
        let is_new = inner.staging().is_some_and(|staging| staging.is_new);
        let removes_files = is_new || self.check_unchanged(&inner).is_ok();
        let done = self.with_staging(&mut inner, |staging, committed, index| {
            Ok(staging.roll_back(removes_files.then_some(committed.disk), index, *savepoint))
        });
        done.unwrap_or_else(|_| {
            // The state of the transaction is lost: the frame is read again.
            self.force_refresh.store(true, Ordering::Relaxed);
            true
        })
    }

    /// Reverts the changes in place since a savepoint, and ends the transaction. Returns whether there were any.
    fn revert_changes(&self, inner: &mut DiskInner, savepoint: usize) -> bool {
        let is_unchanged = self.check_unchanged(inner);
        let Some(log) = inner.undo_log() else { return false };
        let reverted = is_unchanged.and_then(|()| log.roll_back(savepoint, &self.disk));
        log.end(&self.disk);
        let has_changes = match reverted {
            Ok(None) => false,
            Ok(Some(FileState { layout, images })) => {
                (inner.layout, inner.images) = (layout, images);
                true
            }
            Err(error) => {
                trace::warning(|| format!("the changes of a failed call stay: {error}"));
                true
            }
        };
        if has_changes {
            inner.last_check = None;
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        has_changes
    }

    /// Begins a bracket: the changes until its end are committed together. The frame must be up to date.
    pub(crate) fn begin_bracket(&self) -> Result<()> {
        if self.prepare_staging()? {
            let mut inner = self.inner.write();
            inner.last_check = None;
            if let Some(staging) = inner.staging_mut() {
                staging.open_transactions += 1;
                staging.open_brackets += 1;
            }
        }
        Ok(())
    }

    /// Ends a bracket, and commits its changes if it is not inside another one. If that fails, they are discarded, and
    /// the frame must be read again.
    pub(crate) fn end_bracket(&self) -> Result<()> {
        {
            let mut inner = self.inner.write();
            let Some(Staging { open_brackets: open @ 1.., .. }) = inner.staging_mut() else { return Ok(()) };
            *open -= 1;
        }
        let done = self.end_transaction();
        if done.is_err() {
            self.inner.write().discard_staging();
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Sets the durability of changes. The level `Off` gives the file the layout of changes in place.
    pub(crate) fn set_level(&self, level: Durability) -> Result<()> {
        if level == Durability::Off {
            self.close()?;
            self.inner.write().discard_staging();
            self.close_old_gap()?;
        }
        if let Some(log) = self.inner.write().undo_log() {
            log.lose("the durability of the frame has changed");
            while log.has_transaction() {
                log.end(&self.disk);
            }
        }
        let old = self.level();
        self.level.store(level as u8, Ordering::Relaxed);
        if self.disk.directory().is_some() {
            if level == Durability::Off {
                self.disk.detect_replacements(None);
            } else if old == Durability::Off {
                self.disk.detect_replacements(self.disk.stamp().as_ref());
                self.force_refresh.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Waits until the frame is on disk.
    ///
    /// # Errors
    /// `InvalidParam` for other back-ends than native files; `FileOpen`, `FileWrite`.
    pub(crate) fn sync(&self) -> Result<()> {
        ensure!(self.is_native(), InvalidParam, "the super-chunk is not in plain files");
        self.disk.sync()
    }

    /// Returns whether changes of the frame are atomic, so that it has transactions.
    pub(crate) fn has_atomic_changes(&self) -> bool {
        self.level() > Durability::Off
    }

    /// Returns whether [`close`](Self::close) may have something to do.
    pub(crate) fn has_uncompacted_changes(&self) -> bool {
        self.inner.read_recursive().staging().is_some()
    }

    /// Returns whether a bracket or a transaction of atomic changes is open.
    pub(crate) fn has_open_transaction(&self) -> bool {
        self.inner.read_recursive().staging().is_some_and(Staging::has_open_transaction)
    }

    /// Commits pending changes, and gives the file the layout of changes in place, before the frame is closed.
    ///
    /// # Errors
    /// `FileRead` for pending changes if another handle has changed the frame meanwhile; those of writing the frame,
    /// which is valid all the same.
    pub(crate) fn close(&self) -> Result<()> {
        let mut inner = self.inner.write();
        let Some(staging) = inner.staging_mut() else { return Ok(()) };
        staging.open_transactions = 0;
        if staging.pending_header().is_some() && !staging.is_new {
            self.check_unchanged(&inner)?;
        }
        self.with_staging(&mut inner, |staging, committed, index| staging.close(committed, index))
    }

    /// As [`apply`](Self::apply), for a frame without atomic changes.
    fn apply_in_place(&self, change: &Change<'_>, target: &TargetState<'_>) -> Result<()> {
        // The program's I/O callbacks may read the frame during the write: they must find the state before the change.
        let (mut index, before) = {
            let mut inner = self.inner.write();
            let meanwhile = if self.has_user_callbacks() {
                plan::copy_offsets(&inner.index.offsets)?
            } else {
                Offsets::default()
            };
            let index = mem::take(&mut inner.index);
            inner.last_check = None;
            inner.index.offsets = meanwhile;
            (index, FileState { layout: inner.layout, images: mem::take(&mut inner.images) })
        };
        let checksums = index.checksums.clone();
        let index_checksum = || Ok(checksums::checksum(&before.images.index));
        let planned = plan::plan_change(&before.layout, &mut index, change, target, &index_checksum);
        let written = planned.and_then(|(plan, undo)| match self.write_plan(&plan, &before) {
            Ok(trailer) => Ok((plan, trailer)),
            Err(error) => index.undo(undo).and(Err(error)),
        });
        let mut inner = self.inner.write();
        inner.images = before.images;
        if written.is_err() {
            index.checksums = checksums;
        }
        inner.index = index;
        let (plan, trailer) = written?;
        inner.layout = plan.layout;
        inner.images.replace(plan, trailer);
        Ok(())
    }

    /// Executes a plan. Returns a copy of the new trailer, if the frame gets one. `before` is the state before the
    /// change.
    fn write_plan(&self, plan: &FramePlan<'_>, before: &FileState) -> Result<Option<Vec<u8>>> {
        let table_len = plan.layout.table_len as usize;
        let copy = |(_, both): &(u64, Vec<u8>)| fallible::copy_of(&both[table_len..]);
        let trailer = plan.trailer.as_ref().map(copy).transpose()?;
        let mut log = self.inner.write().undo_log().map(mem::take).unwrap_or_default();
        let written = writer::write_on_disk(plan, &self.disk, before, &mut log);
        self.inner.write().changes = Changes::InPlace(log);
        written.map(|()| trailer)
    }

    /// In debug builds, reads the frame on native files again after a commit, except its chunks.
    ///
    /// # Panics
    /// If this library wrote parts that it rejects.
    fn check_commit(&self) {
        if !cfg!(debug_assertions) || !self.is_native() {
            return;
        }
        let reread = || {
            let header = self.disk.read_header()?;
            header.check_for_reading()?;
            let trailer_len = load::read_trailer_len(self, header.frame_len)?;
            self.load_parts(&header, trailer_len)
        };
        if let Err(error) = reread()
            && matches!(error.kind(), ErrorKind::Data | ErrorKind::InvalidHeader)
            // Another handle without the lock may be changing the frame.
            && self.has_header_on_disk(&self.inner.read_recursive().images).unwrap_or(false)
        {
            panic!("a commit cannot be read: {error}");
        }
    }
}
