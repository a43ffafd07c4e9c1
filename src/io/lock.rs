//! The lock of a frame between processes: a lock file, advisory, shared or exclusive (`frame.md` 6.2).

use super::native;
use crate::error::{Error, Result, err};
use crate::fork_count::{self, PerProcess};
use crate::os;
use crate::trace;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Offset, in bytes, of the counter of exclusive sections in the lock file: 8 bytes in native byte order.
const COUNTER_OFFSET: u64 = 8;

/// Maximum age of a shared section that further threads may join. After it, a thread waits for a new section, so that
/// other handles can acquire the lock.
const MAX_JOINABLE_AGE: Duration = Duration::from_millis(1);

/// The pause before a new shared section, in which other handles can acquire the lock: the system's lock is not fair.
const FAIRNESS_PAUSE: Duration = Duration::from_micros(50);

/// The lock of one handle on a frame. Re-entrant, with a depth that does not depend on the thread. Two handles exclude
/// each other as two processes do, also within one thread.
///
/// No file is created before the first lock. Readers, too, need write permission for the lock file.
///
/// A child of `fork()` has none of its parent's locks. The system's lock belongs to the open file, which a fork
/// shares, so the child opens the lock file again, and never unlocks the file of its parent.
pub(crate) struct FrameLock {
    lock_path: PathBuf,
    /// Set when a section begins before which another handle has had an exclusive section: all state that was read
    /// before must be read again. It is set before another thread can join the section.
    missed_changes: Arc<AtomicBool>,
    lock: PerProcess<ProcessLock>,
}

/// The lock of a frame between processes while it is held; released on drop.
#[must_use]
pub(crate) struct FrameLockGuard<'a> {
    lock: &'a FrameLock,
    /// The process that acquired the lock, identified by its [`fork_count`]: a child of it does not have the lock.
    process: u32,
}

impl FrameLockGuard<'_> {
    /// Keeps the lock acquired until [`FrameLock::unlock`].
    pub(crate) fn keep_locked(self) {
        mem::forget(self);
    }

    /// Releases the lock, as dropping does, but returns the error.
    ///
    /// # Errors
    /// `Lock`.
    pub(crate) fn release(self) -> Result<()> {
        let unlocked = self.unlock();
        mem::forget(self);
        unlocked
    }

    fn unlock(&self) -> Result<()> {
        if self.process == fork_count::current() { self.lock.unlock() } else { Ok(()) }
    }
}

impl Drop for FrameLockGuard<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.unlock() {
            trace::error(&error);
        }
    }
}

#[derive(Default)]
struct ProcessLock {
    state: Mutex<FrameLockState>,
    /// Notified when a section ends.
    section_ended: Condvar,
}

impl ProcessLock {
    fn state(&self) -> MutexGuard<'_, FrameLockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the lock file that this process has inherited from the process of this lock: otherwise the system's lock
    /// would stay acquired if that process died with it. Does nothing if another thread was acquiring the lock at the
    /// fork.
    fn close_inherited_file(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.file = None;
        }
    }
}

/// An open lock file. It is closed on drop, unless the program has closed the descriptor, as daemons do after a fork:
/// its number may belong to another file then.
struct LockFile {
    /// `None` only inside `drop`.
    file: Option<File>,
    identity: Option<(u64, u64)>,
}

impl LockFile {
    fn new(file: File) -> LockFile {
        LockFile { identity: native::identity(&file), file: Some(file) }
    }

    fn file(&self) -> &File {
        self.file.as_ref().expect("only `drop` takes the file")
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take()
            && native::identity(&file) != self.identity
        {
            mem::forget(file);
        }
    }
}

#[derive(Default)]
struct FrameLockState {
    file: Option<LockFile>,
    depth: u64,
    exclusive: bool,
    last_seen_counter: u64,
    /// Start of the current section; `None` outside of sections.
    section_start: Option<Instant>,
}

impl FrameLockState {
    /// Returns whether the current section is shared and older than [`MAX_JOINABLE_AGE`], so that no further thread may
    /// join it.
    fn is_too_old_to_join(&self) -> bool {
        self.depth > 0
            && !self.exclusive
            && self.section_start.is_some_and(|since| since.elapsed() > MAX_JOINABLE_AGE)
    }
}

impl FrameLock {
    /// Creates a lock whose lock file is at `lock_path`. Taking it sets `missed_changes` if another handle has had an
    /// exclusive section since this handle last held the lock. A new handle has seen none, and compares the counter
    /// with 0.
    pub(crate) fn new(lock_path: PathBuf, missed_changes: Arc<AtomicBool>) -> Self {
        FrameLock { lock_path, missed_changes, lock: PerProcess::new(ProcessLock::default()) }
    }

    fn in_this_process(&self) -> &ProcessLock {
        self.lock.get(|inherited| {
            inherited.close_inherited_file();
            // Changes since the fork must be read, whatever the counter is.
            self.missed_changes.store(true, Ordering::Relaxed);
            ProcessLock::default()
        })
    }

    /// As [`lock`](Self::lock). Dropping the result releases the lock.
    ///
    /// # Errors
    /// Those of [`lock`](Self::lock).
    pub(crate) fn guard(&self, exclusive: bool) -> Result<FrameLockGuard<'_>> {
        self.lock(exclusive)?;
        Ok(FrameLockGuard { lock: self, process: fork_count::current() })
    }

    /// As [`guard`](Self::guard) with an exclusive lock. Returns `None` instead of waiting for another handle.
    ///
    /// # Errors
    /// Those of [`lock`](Self::lock).
    pub(crate) fn try_guard(&self) -> Result<Option<FrameLockGuard<'_>>> {
        let is_locked = self.lock_or_give_up(true, false)?;
        Ok(is_locked.then(|| FrameLockGuard { lock: self, process: fork_count::current() }))
    }

    /// Acquires the lock, waiting for other handles without a limit. Each call needs one call of [`FrameLock::unlock`]
    /// in the same process.
    ///
    /// Inside a section of this handle, only the depth is incremented, except that an exclusive lock inside a shared
    /// section turns the section into an exclusive one. Other handles may have an exclusive section in between. A
    /// shared section that is older than [`MAX_JOINABLE_AGE`] is not joined, and the call waits for its end, so a
    /// thread must not request a second shared lock inside its own.
    ///
    /// # Errors
    /// `Lock`; the depth is unchanged then. If turning a shared section into an exclusive one fails, the shared lock of
    /// the system is lost as well.
    pub(crate) fn lock(&self, exclusive: bool) -> Result<()> {
        self.lock_or_give_up(exclusive, true).map(drop)
    }

    /// As [`lock`](Self::lock). Without `waits`, acquires no lock and returns false if another handle has it, or if this
    /// handle has a shared lock and an exclusive one is requested.
    fn lock_or_give_up(&self, exclusive: bool, waits: bool) -> Result<bool> {
        let lock = self.in_this_process();
        let mut state = lock.state();
        if !exclusive && state.is_too_old_to_join() {
            while state.is_too_old_to_join() {
                state = lock.section_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.depth == 0 {
                std::thread::sleep(FAIRNESS_PAUSE);
            }
        }
        let state = &mut *state;
        if state.depth > 0 && (state.exclusive || !exclusive) {
            state.depth += 1;
            return Ok(true);
        }
        if state.depth > 0 && !waits {
            return Ok(false);
        }
        let file = match state.file.take() {
            Some(file) => file,
            None => LockFile::new(self.open()?),
        };
        let file = state.file.insert(file).file();
        if state.depth > 0 {
            // The shared lock of this handle: Windows would wait for its end.
            os::unlock_file(file).map_err(|error| self.lock_error("unlock", &error))?;
        }
        let acquired = self.acquire(file, exclusive, waits).inspect_err(|_| {
            // The error of `acquire` is returned, not that of `unlock`.
            let _ = os::unlock_file(file);
        });
        let Some(seen) = acquired? else { return Ok(false) };
        if seen != state.last_seen_counter {
            self.missed_changes.store(true, Ordering::Relaxed);
        }
        state.last_seen_counter = if exclusive { seen.wrapping_add(1) } else { seen };
        state.exclusive = exclusive;
        state.depth += 1;
        state.section_start = Some(Instant::now());
        Ok(true)
    }

    /// Releases one lock. Without a lock, does nothing.
    pub(crate) fn unlock(&self) -> Result<()> {
        let lock = self.in_this_process();
        let mut state = lock.state();
        match state.depth {
            0 => return Ok(()),
            depth => state.depth = depth - 1,
        }
        if state.depth > 0 {
            return Ok(());
        }
        state.exclusive = false;
        state.section_start = None;
        lock.section_ended.notify_all();
        state.file.as_ref().map_or(Ok(()), |file| {
            os::unlock_file(file.file()).map_err(|error| self.lock_error("unlock", &error))
        })
    }

    fn open(&self) -> Result<File> {
        if !fork_count::register_handler() {
            return Err(err!(Lock, "cannot register a fork handler for {}", self.lock_path.display()));
        }
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.lock_path)
            .map_err(|error| self.lock_error("open", &error))
    }

    /// Acquires the lock of the system. Returns the counter before this section, or `None` if another handle has the lock
    /// and the call does not wait. An exclusive section increments the counter.
    fn acquire(&self, file: &File, exclusive: bool, waits: bool) -> Result<Option<u64>> {
        let acquired = match (exclusive, waits) {
            (true, true) => retry_on_interrupt(|| file.lock()),
            (false, true) => retry_on_interrupt(|| file.lock_shared()),
            (_, false) => match if exclusive { file.try_lock() } else { file.try_lock_shared() } {
                Ok(()) => Ok(()),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            },
        };
        acquired.map_err(|error| self.lock_error("lock", &error))?;
        let seen = read_counter(file).map_err(|error| self.lock_error("read", &error))?;
        if exclusive {
            os::write_all_at(file, &seen.wrapping_add(1).to_ne_bytes(), COUNTER_OFFSET)
                .map_err(|error| self.lock_error("write", &error))?;
        }
        Ok(Some(seen))
    }

    #[track_caller]
    fn lock_error(&self, what: &str, error: &io::Error) -> Error {
        err!(Lock, "cannot {what} {}: {error}", self.lock_path.display())
    }
}

/// Reads the counter; returns 0 when the lock file is too short.
fn read_counter(file: &File) -> io::Result<u64> {
    let mut bytes = [0; 8];
    match os::read_exact_at(file, &mut bytes, COUNTER_OFFSET) {
        Ok(()) => Ok(u64::from_ne_bytes(bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
        Err(error) => Err(error),
    }
}

fn retry_on_interrupt(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
