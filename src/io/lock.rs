//! The lock of a frame between processes: a sidecar file, advisory, shared or exclusive (`frame.md` 6.2).

use crate::err;
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Offset, in bytes, of the counter of exclusive sections in the sidecar: 8 bytes in native byte order.
const COUNTER: u64 = 8;

/// Maximum age of a shared section that further threads may join. After it, a thread waits for a new section, so that
/// other handles can acquire the lock.
const TURN: Duration = Duration::from_millis(1);

/// The pause before a new shared section, in which other handles can acquire the lock: the system's lock is not fair.
const PAUSE: Duration = Duration::from_micros(50);

/// The lock of one handle on a frame. Re-entrant, with a depth that does not depend on the thread. Two handles exclude each
/// other as two processes do, also within one thread.
///
/// No file is created before the first lock. Readers, too, need write permission for the sidecar.
pub(crate) struct FrameLock {
    sidecar: PathBuf,
    state: Mutex<State>,
    /// Notified when a section ends.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    depth: u64,
    exclusive: bool,
    last_seen: u64,
    /// Start of the current section; `None` outside of sections.
    since: Option<Instant>,
}

impl State {
    /// Returns whether the current section is shared and older than [`TURN`], so that no further thread may join it.
    fn has_had_its_turn(&self) -> bool {
        self.depth > 0 && !self.exclusive && self.since.is_some_and(|since| since.elapsed() > TURN)
    }
}

/// The result of acquiring a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Locked {
    /// Another handle has had an exclusive section since this handle last held the lock: all state that was read before
    /// must be read again. A new handle has seen none, and compares the counter with 0.
    pub moved: bool,
}

impl FrameLock {
    /// Creates a lock with the file `sidecar`.
    pub(crate) fn new(sidecar: PathBuf) -> Self {
        FrameLock { sidecar, state: Mutex::default(), ended: Condvar::new() }
    }

    /// Acquires the lock, waiting for other handles without a limit. Each call needs one call of [`FrameLock::unlock`].
    ///
    /// Inside a section of this handle, only the depth is incremented, except that an exclusive lock inside a shared
    /// section turns the section into an exclusive one. Other handles may have an exclusive section in between: then
    /// `moved` is true. A shared section that is older than [`TURN`] is not joined, and the call waits for its end, so
    /// a thread must not request a second shared lock inside its own.
    ///
    /// # Errors
    /// `Lock`; the depth is unchanged then. If turning a shared section into an exclusive one fails, the shared lock of
    /// the system is lost as well.
    pub(crate) fn lock(&self, exclusive: bool) -> Result<Locked> {
        let mut state = self.state();
        if !exclusive && state.has_had_its_turn() {
            while state.has_had_its_turn() {
                state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.depth == 0 {
                std::thread::sleep(PAUSE);
            }
        }
        let state = &mut *state;
        if state.depth > 0 && (state.exclusive || !exclusive) {
            state.depth += 1;
            return Ok(Locked { moved: false });
        }
        let file = match state.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        let file = &*state.file.insert(file);
        let seen = self.acquire(file, exclusive).inspect_err(|_| {
            // The error of `acquire` is returned, not that of `unlock`.
            let _ = file.unlock();
        })?;
        let moved = seen != state.last_seen;
        state.last_seen = if exclusive { seen.wrapping_add(1) } else { seen };
        state.exclusive = exclusive;
        state.depth += 1;
        state.since = Some(Instant::now());
        Ok(Locked { moved })
    }

    /// Releases one lock. Without a lock, does nothing.
    ///
    /// # Errors
    /// `Lock`.
    pub(crate) fn unlock(&self) -> Result<()> {
        let mut state = self.state();
        match state.depth {
            0 => return Ok(()),
            depth => state.depth = depth - 1,
        }
        if state.depth > 0 {
            return Ok(());
        }
        state.exclusive = false;
        state.since = None;
        self.ended.notify_all();
        state
            .file
            .as_ref()
            .map_or(Ok(()), |file| file.unlock().map_err(|error| self.failed("unlock", &error)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.sidecar)
            .map_err(|error| self.failed("open", &error))
    }

    /// Acquires the lock of the system. Returns the counter before this section. An exclusive section increments the
    /// counter.
    fn acquire(&self, file: &File, exclusive: bool) -> Result<u64> {
        uninterrupted(|| if exclusive { file.lock() } else { file.lock_shared() })
            .map_err(|error| self.failed("lock", &error))?;
        let seen = counter(file).map_err(|error| self.failed("read", &error))?;
        if exclusive {
            file.write_all_at(&seen.wrapping_add(1).to_ne_bytes(), COUNTER)
                .map_err(|error| self.failed("write", &error))?;
        }
        Ok(seen)
    }

    #[track_caller]
    fn failed(&self, what: &str, error: &io::Error) -> Error {
        err!(Lock, "cannot {what} {}: {error}", self.sidecar.display())
    }
}

/// Reads the counter; returns 0 when the sidecar is too short.
fn counter(file: &File) -> io::Result<u64> {
    let mut bytes = [0; 8];
    match file.read_exact_at(&mut bytes, COUNTER) {
        Ok(()) => Ok(u64::from_ne_bytes(bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
        Err(error) => Err(error),
    }
}

fn uninterrupted(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
