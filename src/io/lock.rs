//! The lock of a frame between processes: a sidecar file, advisory, shared or exclusive (`frame.md` 6.2).

use crate::err;
use crate::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where the sidecar counts the exclusive sections: a number of 8 bytes in the order of the machine.
const COUNTER: u64 = 8;

/// Threads that read one after another share a section; once it has lasted so long, the next one waits for a new section,
/// so that other handles get their turn.
const TURN: Duration = Duration::from_millis(1);

/// What others have to take their turn, since the system's lock asks nobody who has waited longest.
const PAUSE: Duration = Duration::from_micros(50);

/// The lock of one handle on a frame. Re-entrant by depth, whichever thread asks. Two handles exclude each other
/// as two processes do, also within one thread.
///
/// Nothing is created before the first lock; even readers need to be allowed to write the sidecar.
pub(crate) struct FrameLock {
    sidecar: PathBuf,
    state: Mutex<State>,
    /// Told when a section ends.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    depth: u64,
    exclusive: bool,
    last_seen: u64,
    /// When the section began; `None` outside.
    since: Option<Instant>,
}

impl State {
    /// Whether there is a shared section that nobody else should join.
    fn has_had_its_turn(&self) -> bool {
        self.depth > 0 && !self.exclusive && self.since.is_some_and(|since| since.elapsed() > TURN)
    }
}

/// What came to light when a lock was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Locked {
    /// Another handle had an exclusive section since this one last looked: nothing that was read before is
    /// certain. A new handle has seen none.
    pub moved: bool,
}

impl FrameLock {
    /// A lock at the file `sidecar`.
    pub(crate) fn new(sidecar: PathBuf) -> Self {
        FrameLock { sidecar, state: Mutex::default(), ended: Condvar::new() }
    }

    /// Takes the lock, waiting for other handles as long as it takes; one more [`FrameLock::unlock`] is due.
    ///
    /// Inside a section of this handle it only goes deeper, except that an exclusive lock inside a shared section
    /// turns the section into an exclusive one. Others may have theirs in between: then `moved` is true. A shared section
    /// that has lasted for a while is not joined any more but waited for, so a thread must not ask for another inside its
    /// own.
    ///
    /// # Errors
    /// `Lock`; nothing is held then that was not held before. Should turning a section fail, the shared lock
    /// beneath it is lost as well.
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
            // The error that is reported is the first.
            let _ = file.unlock();
        })?;
        let moved = seen != state.last_seen;
        state.last_seen = if exclusive { seen.wrapping_add(1) } else { seen };
        state.exclusive = exclusive;
        state.depth += 1;
        state.since = Some(Instant::now());
        Ok(Locked { moved })
    }

    /// Leaves a section; one more unlock than locks is fine.
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

    /// Takes the lock of the system; the counter as it was. An exclusive section counts itself.
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

/// The counter; 0 where the sidecar is too short for one.
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
