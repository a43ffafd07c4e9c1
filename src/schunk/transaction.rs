//! Calls that change several chunks or metalayers of a frame on disk: all changes are committed together, or none of
//! them (`frame.md` 2.13). Also the brackets of `blosc2_schunk_lock` and `blosc2_schunk_unlock`.
//!
//! One thread at a time changes a frame with atomic changes: a transaction excludes changes by other threads until it
//! ends, because rolling it back, and committing it, concerns all changes since its begin. Threads may read meanwhile.
//!
//! On a frame that is changed in place, a transaction does not exclude other threads, and its changes can be seen before
//! it ends. If it fails, its changes are reverted, unless another thread or another handle has changed the frame
//! meanwhile. Frames in memory, and those of other back-ends than plain files, have no transactions.

use super::SuperChunk;
use super::access_lock::{AccessLock, WriteGuard};
use super::c_struct::metalayer_kind::MetalayerKind;
use super::rules::Counters;
use crate::error::{Error, ErrorKind, Result, ensure, err};
use crate::fork_count;
use crate::frame::FrameSavepoint;
use crate::frame::format::metalayers::{self, OwnedMetalayer};
use crate::frame::store::DiskFrame;
use crate::frame::store::durability::Durability;
use crate::io::FrameLockGuard;
use crate::trace;

/// The lock for changes of a super-chunk while it is held; `None` if the thread holds it already, or the thread for
/// which it works.
pub(super) type ChangeLockGuard<'a> = Option<WriteGuard<'a, AccessLock>>;

/// An open transaction of a super-chunk. Dropping it rolls back the changes since its begin.
struct Transaction<'a> {
    schunk: &'a SuperChunk,
    frame: &'a DiskFrame,
    /// `None` once the transaction has ended.
    savepoint: Option<Savepoint>,
    /// The locks that exclude other processes and threads; `None` for a frame that is changed in place.
    _locks: Option<(Option<FrameLockGuard<'a>>, ChangeLockGuard<'a>)>,
}

/// The state of a super-chunk at the begin of a transaction.
struct Savepoint {
    /// The process that began the transaction, identified by its [`fork_count`].
    process: u32,
    frame: FrameSavepoint,
    counters: Counters,
    metalayers: Vec<OwnedMetalayer>,
    /// The metalayers of variable length; `None` if the transaction does not change them.
    vlmetalayers: Option<Vec<OwnedMetalayer>>,
}

impl SuperChunk {
    /// Waits until no other thread changes the frame. Returns `None` for a super-chunk without transactions.
    ///
    /// # Errors
    /// `Failure` if the lock cannot be taken because this thread is changing the super-chunk, or because another thread
    /// was changing it when the process was forked.
    pub(super) fn lock_changes(&self) -> Result<Option<ChangeLockGuard<'_>>> {
        let Some(frame) = self.disk_frame() else { return Ok(None) };
        frame.discard_inherited_state();
        if !frame.has_atomic_changes() {
            return Ok(None);
        }
        if AccessLock::is_held_by_this_thread(&self.change_lock) {
            return Ok(Some(None));
        }
        WriteGuard::lock(&self.change_lock).map(|guard| Some(Some(guard)))
    }

    /// Runs `work`, all of whose changes to this super-chunk are committed together. After an error none of them is
    /// there. Without transactions, only runs `work`.
    ///
    /// # Errors
    /// Those of `work`; those of the commit, converted by `to_error`.
    pub(crate) fn in_transaction<R>(
        &self,
        to_error: impl Fn(Error) -> Error,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let target = self.owner_of_view()?.unwrap_or(self);
        let transaction = match target.begin_transaction(false) {
            Ok(transaction) => transaction,
            Err(error) if error.kind() == ErrorKind::MemoryAlloc => return Err(to_error(error)),
            Err(error) => {
                // The frame cannot be read. The call returns its usual error, or succeeds if it need not read the
                // frame.
                trace::warning(|| format!("no transaction: {error}"));
                None
            }
        };
        let result = work()?;
        if let Some(transaction) = transaction {
            transaction.commit().map_err(to_error)?;
        }
        Ok(result)
    }

    /// Runs `work`, whose changes of chunks and metalayers are committed together. After an error none of them is there,
    /// unless the frame is changed in place and another handle has changed it, too.
    ///
    /// # Errors
    /// Those of `work`; `Failure` for a super-chunk without transactions, or if another thread has begun one in place;
    /// those of reading and writing the frame.
    pub(crate) fn transact<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let transaction = self.begin_transaction(true)?;
        let transaction = transaction.ok_or_else(|| err!(Failure, "no transaction can begin here"))?;
        let result = work()?;
        transaction.commit()?;
        Ok(result)
    }

    /// Begins a transaction; it saves the metalayers of variable length if it `changes_vlmetalayers`.
    fn begin_transaction(&self, changes_vlmetalayers: bool) -> Result<Option<Transaction<'_>>> {
        let Some(frame) = self.disk_frame().filter(|frame| frame.is_native()) else { return Ok(None) };
        let change_lock = self.lock_changes()?;
        let mut guard = WriteGuard::lock(self)?;
        let locks = match change_lock {
            Some(change_lock) => {
                let frame_lock = frame.lock(true)?;
                guard.update_frame(frame)?;
                Some((frame_lock, change_lock))
            }
            None => None,
        };
        let Some(savepoint) = frame.begin_transaction()? else { return Ok(None) };
        let saved = |kind| metalayers::to_owned(guard.lock_proof().metalayers(kind));
        let savepoint = Savepoint {
            process: fork_count::current(),
            frame: savepoint,
            counters: self.counters(),
            metalayers: saved(MetalayerKind::Fixed)?,
            vlmetalayers: changes_vlmetalayers.then(|| saved(MetalayerKind::Variable)).transpose()?,
        };
        Ok(Some(Transaction { schunk: self, frame, savepoint: Some(savepoint), _locks: locks }))
    }

    /// States that the running transaction, if it changes the frame in place, keeps its changes although the call fails:
    /// writes beyond the end return an error, and C-Blosc2 writes the part before the end.
    pub(crate) fn keep_changes_in_place(&self) {
        if let Some(frame) = self.disk_frame() {
            frame.discard_undo_log();
        }
    }

    /// Begins a bracket: the changes until [`end_bracket`](Self::end_bracket) are committed together.
    ///
    /// # Errors
    /// `Lock`, `Failure` from inside an I/O function.
    pub(super) fn begin_bracket(&self) -> Result<()> {
        let (Some(frame), Some(_change_lock)) = (self.disk_frame(), self.lock_changes()?) else {
            return Ok(());
        };
        let mut guard = WriteGuard::lock(self)?;
        let begun = guard.update_frame(frame).and_then(|_| frame.begin_bracket());
        if let Err(error) = begun {
            // As with C-Blosc2, the bracket of a frame that cannot be read only holds the lock.
            trace::warning(|| format!("no bracket: {error}"));
        }
        Ok(())
    }

    /// Ends a bracket, and commits its changes unless it is inside another one. If that fails, the changes are
    /// discarded.
    pub(super) fn end_bracket(&self) -> Result<()> {
        let (Some(frame), Some(_change_lock)) = (self.disk_frame(), self.lock_changes()?) else {
            return Ok(());
        };
        let mut guard = WriteGuard::lock(self)?;
        let done = frame.end_bracket();
        if done.is_err() {
            guard.discard_cached_state();
            guard.update_frame(frame)?;
        }
        done
    }

    /// Sets the durability of changes.
    ///
    /// # Errors
    /// `InvalidParam` for a view, and for a level above `Off` without plain files; `Failure` inside a bracket; those of
    /// writing the frame.
    pub(crate) fn set_durability(&self, level: Durability) -> Result<()> {
        ensure!(!self.is_view(), InvalidParam, "the super-chunk is a view, expected the owner of the chunks");
        let Some(frame) = self.disk_frame().filter(|frame| frame.is_native()) else {
            return match level {
                Durability::Off => Ok(()),
                _ => Err(err!(InvalidParam, "the super-chunk is not in plain files")),
            };
        };
        let _change_lock = self.lock_changes()?;
        let mut guard = WriteGuard::lock(self)?;
        let _frame_lock = frame.lock(true)?;
        ensure!(!frame.has_open_transaction(), Failure, "the level cannot change between lock and unlock");
        frame.set_level(level)?;
        if level == Durability::Off {
            // Changes in place derive the place of the index from the counter.
            let cbytes = frame.cbytes();
            let counters = Counters { cbytes, ..self.counters() };
            guard.set_counters(&counters);
        }
        Ok(())
    }

    /// Waits until all changes are on disk.
    ///
    /// # Errors
    /// `InvalidParam` for other back-ends than plain files; `FileOpen`, `FileWrite`.
    pub(crate) fn sync(&self) -> Result<()> {
        let target = self.owner_of_view()?.unwrap_or(self);
        let Some(frame) = target.disk_frame() else { return Ok(()) };
        let _reading = target.read_lock();
        frame.sync()
    }

    /// Commits pending changes, and closes the gap that changes have left in the file, before the super-chunk is freed.
    /// In a child of `fork()`, these are the changes of the child only.
    ///
    /// The gap stays if another handle has the lock: the C library frees a super-chunk without a lock, so a program may call
    /// this while it holds a lock that the thread with the other handle needs, as Python holds its interpreter lock. Pending
    /// changes are those of a handle that has the lock itself.
    pub(super) fn close_frame(&self) {
        let is_own = |frame: &&DiskFrame| !self.is_view() && !frame.is_state_of_parent();
        let Some(frame) = self.disk_frame().filter(is_own).filter(|frame| frame.has_uncompacted_changes())
        else {
            return;
        };
        if let Err(error) = frame.with_lock_if_free(|| frame.close()) {
            trace::error(&error);
        }
    }
}

impl Transaction<'_> {
    /// Commits the changes. After an error they are rolled back.
    fn commit(mut self) -> Result<()> {
        if self.savepoint.as_ref().is_some_and(Savepoint::is_inherited) {
            return Err(err!(Failure, "the process was forked during a change, which its parent completes"));
        }
        let _guard = WriteGuard::lock(self.schunk)?;
        if let Some(savepoint) = &self.savepoint {
            self.frame.commit(&savepoint.frame)?;
        }
        self.savepoint = None;
        Ok(())
    }

    fn roll_back(&mut self, savepoint: Savepoint) -> Result<()> {
        let mut guard = WriteGuard::lock(self.schunk)?;
        let is_in_place = matches!(savepoint.frame, FrameSavepoint::InPlace(_));
        let has_changes = self.frame.roll_back(savepoint.frame);
        if !has_changes {
            return Ok(());
        }
        guard.discard_cached_state();
        guard.set_counters(&savepoint.counters);
        guard.replace_metalayers(MetalayerKind::Fixed, &savepoint.metalayers)?;
        if let Some(vlmetalayers) = &savepoint.vlmetalayers {
            guard.replace_metalayers(MetalayerKind::Variable, vlmetalayers)?;
        }
        guard.increment_change_tick();
        if is_in_place { guard.update_frame(self.frame).map(drop) } else { Ok(()) }
    }
}

impl Savepoint {
    /// Returns whether the transaction is that of a process from which this one was forked.
    fn is_inherited(&self) -> bool {
        self.process != fork_count::current()
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Some(savepoint) = self.savepoint.take().filter(|savepoint| !savepoint.is_inherited())
            && let Err(error) = self.roll_back(savepoint)
        {
            trace::error(&error);
        }
    }
}
