//! The read handle that a frame on disk keeps (`frame.md` 5.4).

use super::{Backend, IoStream, OpenMode, native};
use crate::environment;
use crate::error::Result;
use std::ffi::CString;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Opens a frame's file for reading at the first need and keeps it open, within a limit for the whole process:
/// `BLOSC_MAX_CACHED_READERS`, else 96 or a 16th of the descriptors that the process may have. Beyond it, and with
/// other back-ends than plain files, every use opens and closes the file.
///
/// Threads read at the same time; no lock is held meanwhile.
pub(crate) struct CachedReader {
    backend: Backend,
    path: CString,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    open: Option<Arc<OpenFile>>,
    slot: Slot,
}

/// Whether this reader may keep its handle; decided once, when it is first asked for.
#[derive(Default)]
enum Slot {
    #[default]
    Undecided,
    Reserved(#[allow(dead_code)] DescriptorSlot),
    Unavailable,
}

/// An open file and which one it is.
struct OpenFile {
    /// `None` only once it is dropped.
    stream: Option<IoStream>,
    identity: (u64, u64),
    /// The program closed the descriptor behind our back; the number may be that of another file by now.
    lost: AtomicBool,
}

impl OpenFile {
    fn stream(&self) -> &IoStream {
        self.stream.as_ref().expect("a stream until it is dropped")
    }

    /// Whether the descriptor is that of another file by now, or of none.
    fn is_lost(&self) -> bool {
        self.stream().as_file().and_then(native::identity) != Some(self.identity)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if *self.lost.get_mut()
            && let Some(IoStream(super::stream::Kind::Native(file))) = self.stream.take()
        {
            let _ = file.into_raw_fd();
        }
    }
}

/// One of the places of the process; given back when dropped.
struct DescriptorSlot;

static SLOTS_TAKEN: AtomicUsize = AtomicUsize::new(0);

impl DescriptorSlot {
    fn take() -> Option<DescriptorSlot> {
        static LIMIT: OnceLock<usize> = OnceLock::new();
        let limit = *LIMIT.get_or_init(limit);
        SLOTS_TAKEN
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| (taken < limit).then_some(taken + 1))
            .ok()
            .map(|_| DescriptorSlot)
    }
}

impl Drop for DescriptorSlot {
    fn drop(&mut self) {
        SLOTS_TAKEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many handles the process may keep.
fn limit() -> usize {
    let mut descriptors = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a struct to be filled; it stays as it is when that fails.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut descriptors) };
    let asked = environment::var(c"BLOSC_MAX_CACHED_READERS").filter(|value| !value.is_empty());
    let asked = asked.and_then(|_| environment::number(c"BLOSC_MAX_CACHED_READERS"));
    limit_of(asked, descriptors.rlim_cur)
}

/// The limit that was asked for, if it is one, or else what so many descriptors allow.
fn limit_of(asked: Option<i64>, descriptors: libc::rlim_t) -> usize {
    const MOST: libc::rlim_t = 96;
    match asked.and_then(|asked| i32::try_from(asked).ok()).map(usize::try_from) {
        Some(Ok(asked)) => asked,
        _ if descriptors == libc::RLIM_INFINITY => MOST as usize,
        _ => (descriptors / 16).min(MOST) as usize,
    }
}

impl CachedReader {
    /// A reader that keeps its handle if it may. Nothing is opened yet.
    pub(crate) fn new(backend: Backend, path: CString) -> Self {
        let slot = if backend.is_native() { Slot::Undecided } else { Slot::Unavailable };
        CachedReader { backend, path, state: RwLock::new(State { open: None, slot }) }
    }

    /// A reader that opens the file for every use, as all do once too many keep theirs.
    #[cfg(test)]
    pub(crate) fn uncached(backend: Backend, path: CString) -> Self {
        CachedReader { backend, path, state: RwLock::new(State { open: None, slot: Slot::Unavailable }) }
    }

    /// The path that is read.
    #[cfg(test)]
    pub(crate) fn path(&self) -> &CString {
        &self.path
    }

    /// Drops a handle whose path names another file by now, `there`, or that the program closed; true if that was so:
    /// what was read before is of another file. A path that names nothing is no reason: the old file can still be read.
    pub(crate) fn revalidate(&self, there: Option<(u64, u64)>) -> bool {
        let Some(kept) = self.open_file() else { return false };
        let is_lost = kept.is_lost();
        if !is_lost && there.is_none_or(|there| there == kept.identity) {
            return false;
        }
        self.drop_file(&kept, is_lost);
        true
    }

    /// Drops a handle that the program closed.
    pub(crate) fn drop_if_lost(&self) {
        if let Some(file) = self.open_file().filter(|file| file.is_lost()) {
            self.drop_file(&file, true);
        }
    }

    fn drop_file(&self, file: &Arc<OpenFile>, is_lost: bool) {
        if is_lost {
            file.lost.store(true, Ordering::Relaxed);
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have put a newer one there.
        if state.open.as_ref().is_some_and(|newest| Arc::ptr_eq(newest, file)) {
            state.open = None;
        }
    }

    /// Lets `read` use the file handle, or one opened for this call.
    ///
    /// # Errors
    /// `FileOpen`, or what `read` returns.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&IoStream) -> Result<R>) -> Result<R> {
        if let Some(kept) = self.open_file() {
            return read(kept.stream());
        }
        let stream = self.backend.open(&self.path, OpenMode::Read)?;
        match self.keep(stream) {
            Ok(kept) => read(kept.stream()),
            Err(stream) => read(&stream),
        }
    }

    fn open_file(&self) -> Option<Arc<OpenFile>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).open.clone()
    }

    /// Keeps a stream that was just opened, or gives it back.
    fn keep(&self, stream: IoStream) -> std::result::Result<Arc<OpenFile>, IoStream> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Slot::Undecided = state.slot {
            state.slot = DescriptorSlot::take().map_or(Slot::Unavailable, Slot::Reserved);
        }
        if let Slot::Unavailable = state.slot {
            return Err(stream);
        }
        let Some(identity) = stream.as_file().and_then(native::identity) else {
            return Err(stream);
        };
        let kept = OpenFile { stream: Some(stream), identity, lost: AtomicBool::new(false) };
        // Of two threads that opened it at once, the first one's is kept.
        Ok(state.open.get_or_insert_with(|| Arc::new(kept)).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_the_process() {
        // 0 is also what `strtol` makes of text that is no number.
        assert_eq!(limit_of(Some(0), 1024), 0);
        assert_eq!(limit_of(Some(5), 1024), 5);
        assert_eq!(limit_of(Some(i64::from(i32::MAX)), 1024), i32::MAX as usize);
        for no_limit in [None, Some(-1), Some(i64::from(i32::MAX) + 1)] {
            assert_eq!(limit_of(no_limit, 1024), 64);
            assert_eq!(limit_of(no_limit, 4096), 96);
            assert_eq!(limit_of(no_limit, libc::RLIM_INFINITY), 96);
        }
    }
}
