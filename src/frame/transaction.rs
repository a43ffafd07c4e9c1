//! Changes of a frame: one at a time, or several as a transaction that is committed or discarded as a whole.
//!
//! A frame on native files with a durability level above `Off` is changed by [`super::staged`]; every other frame is
//! changed in place by [`super::writer`], and has no transactions.

use super::checksums::ChecksumMode;
use super::durability::Durability;
use super::index::Offsets;
use super::plan::{self, Change, Images, TargetState};
use super::staged::{Committed, FrameSavepoint, Staging};
use super::store::{Frame, Inner};
use super::writer;
use crate::err;
use crate::error::Result;
use std::sync::atomic::Ordering;

impl Frame {
    /// Applies `change`, after which the frame has the state `target`. After an error the frame is unchanged, as far as
    /// its bytes can be restored.
    ///
    /// # Errors
    /// Those of [`plan::plan_change`], and of writing the frame.
    pub(crate) fn apply(&self, change: &Change<'_>, target: &TargetState<'_>) -> Result<()> {
        self.prepare_checksums();
        if !self.prepare_staging()? {
            self.close_old_gap()?;
            return self.apply_in_place(change, target);
        }
        let mut inner = self.inner.write();
        inner.last_check = None;
        let in_transaction = inner.open_transactions > 0;
        self.with_staging(&mut inner, |staging, committed, index| {
            staging.apply(committed, index, change, target, in_transaction)
        })
    }

    /// Prepares atomic changes. Returns whether the frame has them.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`.
    fn prepare_staging(&self) -> Result<bool> {
        let Some(disk) = self.disk.as_deref().filter(|_| self.level() > Durability::Off) else {
            return Ok(false);
        };
        let mut inner = self.inner.write();
        if inner.staging.is_none() {
            let has_gap = inner.end_of_chunks.is_some();
            inner.staging = Staging::new(disk, &inner.layout, &inner.index.offsets, has_gap)?;
        }
        Ok(inner.staging.is_some())
    }

    /// Closes the gap that atomic changes of another handle have left, before the frame is changed in place.
    ///
    /// # Errors
    /// Those of reading and writing the file.
    fn close_old_gap(&self) -> Result<()> {
        let mut inner = self.inner.write();
        if inner.end_of_chunks.take().is_none() {
            return Ok(());
        }
        if let Some(disk) = self.disk.as_deref() {
            inner.staging = Staging::new(disk, &inner.layout, &inner.index.offsets, true)?;
        }
        let closed =
            self.with_staging(&mut inner, |staging, committed, index| staging.close(committed, index));
        inner.staging = None;
        closed
    }

    /// Calls `work` with the state of atomic changes, which must have been prepared.
    fn with_staging<R>(
        &self,
        inner: &mut Inner,
        work: impl FnOnce(&mut Staging, Committed<'_>, &mut plan::FrameIndex) -> Result<R>,
    ) -> Result<R> {
        let Inner { staging: Some(staging), layout, images, index, .. } = inner else {
            return Err(err!(Failure, "the frame has no atomic changes"));
        };
        let Some(disk) = self.disk.as_deref() else {
            return Err(err!(Failure, "the frame is in memory"));
        };
        let writes_checksums = self.checksum_mode() == ChecksumMode::Write;
        let level = self.level();
        work(staging, Committed { disk, level, writes_checksums, layout, images, stream: None }, index)
    }

    /// Begins a transaction: changes are committed at its end. The frame must be up to date. Returns `None` for a frame
    /// that is changed in place, which has no transactions.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `MemoryAlloc`.
    pub(crate) fn begin_transaction(&self) -> Result<Option<FrameSavepoint>> {
        if !self.prepare_staging()? {
            return Ok(None);
        }
        let mut inner = self.inner.write();
        let savepoint = self.with_staging(&mut inner, |staging, _, index| staging.savepoint(index))?;
        inner.open_transactions += 1;
        inner.last_check = None;
        Ok(Some(savepoint))
    }

    /// Ends a transaction, and commits its changes if it is not inside another one. After an error the transaction is
    /// still open, and [`roll_back`](Self::roll_back) must be called.
    ///
    /// # Errors
    /// `FileRead` if another handle has changed the frame meanwhile; those of writing the frame.
    pub(crate) fn end_transaction(&self) -> Result<()> {
        let mut inner = self.inner.write();
        if inner.open_transactions == 1 && inner.staging.is_some() {
            if !inner.is_new {
                self.check_unchanged(&inner)?;
            }
            self.with_staging(&mut inner, |staging, mut committed, index| {
                staging.commit(&mut committed, index)
            })?;
        }
        inner.open_transactions = inner.open_transactions.saturating_sub(1);
        Ok(())
    }

    /// Commits the creation of a frame. Does nothing for a frame that exists.
    ///
    /// # Errors
    /// Those of writing the frame.
    pub(crate) fn finish_creation(&self) -> Result<()> {
        if !self.inner.read_recursive().is_new {
            return Ok(());
        }
        self.end_transaction()?;
        self.inner.write().is_new = false;
        Ok(())
    }

    /// Returns an error if another handle has changed the frame since it was read.
    fn check_unchanged(&self, inner: &Inner) -> Result<()> {
        let Some(disk) = &self.disk else { return Ok(()) };
        if disk.was_replaced(disk.stamp().as_ref()) || !self.has_header_on_disk(&inner.images)? {
            return Err(err!(FileRead, "another handle has changed the frame during a transaction"));
        }
        Ok(())
    }

    /// Returns whether the file has the header of the images.
    fn has_header_on_disk(&self, images: &Images) -> Result<bool> {
        let mut found = [0; super::header::FIXED_HEADER_LEN];
        self.disk.as_ref().map_or(Ok(()), |disk| disk.read(0, &mut found))?;
        Ok(images.header.get(..found.len()) == Some(&found[..]))
    }

    /// Ends a transaction and discards its changes. Returns whether there were any.
    pub(crate) fn roll_back(&self, savepoint: FrameSavepoint) -> bool {
        let mut inner = self.inner.write();
        inner.open_transactions = inner.open_transactions.saturating_sub(1);
        let done = self.with_staging(&mut inner, |staging, committed, index| {
            Ok(staging.roll_back(committed.disk, index, savepoint))
        });
        done.unwrap_or_else(|_| {
            // The state of the transaction is lost: the frame is read again.
            self.force_refresh.store(true, Ordering::Relaxed);
            true
        })
    }

    /// Begins a bracket: the changes until its end are committed together. The frame must be up to date.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`.
    pub(crate) fn begin_bracket(&self) -> Result<()> {
        if self.prepare_staging()? {
            let mut inner = self.inner.write();
            inner.open_transactions += 1;
            inner.open_brackets += 1;
            inner.last_check = None;
        }
        Ok(())
    }

    /// Ends a bracket, and commits its changes if it is not inside another one. If that fails, they are discarded, and
    /// the frame must be read again.
    ///
    /// # Errors
    /// As [`end_transaction`](Self::end_transaction).
    pub(crate) fn end_bracket(&self) -> Result<()> {
        {
            let mut inner = self.inner.write();
            if inner.open_brackets == 0 {
                return Ok(());
            }
            inner.open_brackets -= 1;
        }
        let done = self.end_transaction();
        if done.is_err() {
            let mut inner = self.inner.write();
            inner.open_transactions = inner.open_transactions.saturating_sub(1);
            inner.staging = None;
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Sets the durability of changes. The level `Off` gives the file the layout of changes in place.
    ///
    /// # Errors
    /// Those of writing the frame.
    pub(crate) fn set_level(&self, level: Durability) -> Result<()> {
        if level == Durability::Off {
            self.close()?;
            self.inner.write().staging = None;
            self.close_old_gap()?;
        }
        self.level.store(level as u8, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until the frame is on disk.
    ///
    /// # Errors
    /// `InvalidParam` for other back-ends than native files; `FileOpen`, `FileWrite`.
    pub(crate) fn sync(&self) -> Result<()> {
        let Some(disk) = &self.disk else { return Ok(()) };
        if !disk.backend.is_native() {
            return Err(err!(InvalidParam, "the super-chunk is not in plain files"));
        }
        disk.sync()
    }

    /// Returns whether changes of the frame are atomic, so that it has transactions.
    pub(crate) fn has_atomic_changes(&self) -> bool {
        self.level() > Durability::Off
    }

    /// Returns whether [`close`](Self::close) may have something to do.
    pub(crate) fn has_uncompacted_changes(&self) -> bool {
        self.inner.read_recursive().staging.is_some()
    }

    /// Returns whether a bracket or a transaction is open.
    pub(crate) fn has_open_transaction(&self) -> bool {
        self.inner.read_recursive().open_transactions > 0
    }

    /// Commits pending changes, and gives the file the layout of changes in place, before the frame is closed.
    ///
    /// # Errors
    /// Those of writing the frame, which is valid all the same.
    pub(crate) fn close(&self) -> Result<()> {
        let mut inner = self.inner.write();
        inner.open_transactions = 0;
        if inner.staging.is_none() {
            return Ok(());
        }
        self.with_staging(&mut inner, |staging, committed, index| staging.close(committed, index))
    }

    /// As [`apply`](Self::apply), for a frame without atomic changes.
    fn apply_in_place(&self, change: &Change<'_>, target: &TargetState<'_>) -> Result<()> {
        // The program's I/O callbacks may read the frame during the write: they must find the state before the change.
        let (mut index, layout, images) = {
            let mut inner = self.inner.write();
            let meanwhile = if self.has_user_callbacks() {
                plan::copy_offsets(&inner.index.offsets)?
            } else {
                Offsets::default()
            };
            let index = std::mem::take(&mut inner.index);
            inner.last_check = None;
            inner.index.offsets = meanwhile;
            (index, inner.layout, std::mem::take(&mut inner.images))
        };
        let (checksums, index_checksum) = (index.checksums.clone(), index.index_checksum);
        let writes_checksums = self.checksum_mode() == ChecksumMode::Write;
        let planned = plan::plan_change(&layout, &mut index, change, target, writes_checksums);
        let (plan, undo) = match planned {
            Ok(planned) => planned,
            Err(error) => {
                let mut inner = self.inner.write();
                (index.checksums, index.index_checksum) = (checksums, index_checksum);
                inner.index = index;
                inner.images = images;
                return Err(error);
            }
        };
        let written = match &self.disk {
            None => writer::write_in_memory(&plan, &mut self.inner.write().memory),
            Some(disk) => writer::write_on_disk(&plan, disk, &layout, &images),
        };
        let mut inner = self.inner.write();
        match written {
            Ok(()) => {
                inner.layout = plan.layout;
                if self.disk.is_some() {
                    let (table, trailer) = match plan.trailer {
                        Some((_, mut table)) => {
                            let trailer = table.split_off(plan.layout.table_len as usize);
                            (table, trailer)
                        }
                        None => (images.table, images.trailer),
                    };
                    inner.images = Images {
                        header: plan.header,
                        index: plan.index.map_or(images.index, |(_, bytes)| bytes),
                        table,
                        trailer,
                    };
                }
                inner.index = index;
                Ok(())
            }
            Err(error) => {
                let undone = index.undo(undo);
                (index.checksums, index.index_checksum) = (checksums, index_checksum);
                inner.index = index;
                inner.images = images;
                undone.and(Err(error))
            }
        }
    }
}
