//! The cached read handle of a frame on disk (`frame.md` 5.4).

use super::stream::StreamKind;
use super::{Backend, FileVersion, IoStream, OpenMode, native};
use crate::environment;
use crate::error::Result;
use crate::fork_count::PerProcessLock;
use crate::os;
use once_cell::race::OnceBox;
use std::ffi::CStr;
use std::fs::File;
use std::mem;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Opens the file of a frame at the first read and keeps it open, within a limit for the whole process:
/// `BLOSC_MAX_CACHED_READERS`, by default the smaller of 96 and 1/16 of the descriptors that the process may have.
/// Beyond the limit, and with other back-ends than plain files, every read opens and closes the file.
///
/// Threads may read at the same time; no lock is held during a read.
pub(crate) struct CachedReader {
    backend: Backend,
    state: PerProcessLock<ReaderState>,
    /// Whether [`drop_if_lost`](Self::drop_if_lost) is to compare the descriptor.
    must_check: AtomicBool,
}

#[derive(Clone, Default)]
struct ReaderState {
    file: Option<Arc<OpenFile>>,
    slot: CacheSlot,
    /// The file that is read while none is kept open, if a replacement must be detected then.
    unkept: Option<FileVersion>,
}

/// Whether this reader may keep its handle; decided when it first opens the file.
#[derive(Clone, Default)]
enum CacheSlot {
    #[default]
    Undecided,
    Reserved(#[allow(dead_code)] DescriptorSlot),
    Unavailable,
}

struct OpenFile {
    /// `None` only inside `drop`.
    stream: Option<IoStream>,
    identity: (u64, u64),
    /// The program closed the descriptor; its number may be in use for another file, so it must not be closed here.
    is_descriptor_lost: AtomicBool,
}

impl OpenFile {
    fn stream(&self) -> &IoStream {
        self.stream.as_ref().expect("only `drop` takes the stream")
    }

    /// Returns whether the descriptor was closed, or now belongs to another file.
    fn is_lost(&self) -> bool {
        !self.stream().as_file().is_some_and(|file| os::has_identity(file, self.identity))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if *self.is_descriptor_lost.get_mut()
            && let Some(IoStream(StreamKind::Native(file))) = self.stream.take()
        {
            mem::forget(file);
        }
    }
}

/// A file that is open for reading: it stays open until the handle is dropped.
pub(crate) enum ReadHandle {
    /// The cached handle of a frame.
    #[allow(private_interfaces, reason = "only this module makes and uses it")]
    Kept(Arc<OpenFile>),
    /// A handle that is closed on drop.
    Single(IoStream),
}

impl Deref for ReadHandle {
    type Target = IoStream;

    #[inline]
    fn deref(&self) -> &IoStream {
        match self {
            ReadHandle::Kept(file) => file.stream(),
            ReadHandle::Single(stream) => stream,
        }
    }
}

/// One of the limited number of cached descriptors; released on drop.
struct DescriptorSlot;

static SLOTS_TAKEN: AtomicUsize = AtomicUsize::new(0);

impl DescriptorSlot {
    fn try_acquire() -> Option<DescriptorSlot> {
        static LIMIT: OnceBox<usize> = OnceBox::new();
        let limit = *LIMIT.get_or_init(|| Box::new(read_max_cached_readers()));
        SLOTS_TAKEN
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| (taken < limit).then_some(taken + 1))
            .ok()
            .map(|_| DescriptorSlot)
    }
}

/// A child of a fork has the descriptors of its parent.
impl Clone for DescriptorSlot {
    fn clone(&self) -> Self {
        SLOTS_TAKEN.fetch_add(1, Ordering::Relaxed);
        DescriptorSlot
    }
}

impl Drop for DescriptorSlot {
    fn drop(&mut self) {
        SLOTS_TAKEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the maximum number of cached handles of the process.
fn read_max_cached_readers() -> usize {
    let requested = environment::var(c"BLOSC_MAX_CACHED_READERS").filter(|value| !value.is_empty());
    let requested = requested.and_then(|_| environment::var_as_i64(c"BLOSC_MAX_CACHED_READERS"));
    max_cached_readers(requested, os::max_open_files())
}

/// Returns the requested limit if it is valid (0 to `i32::MAX`), otherwise the limit for that number of descriptors.
fn max_cached_readers(requested: Option<i64>, descriptors: Option<u64>) -> usize {
    const DEFAULT_MAX_READERS: u64 = 96;
    match requested.and_then(|requested| i32::try_from(requested).ok()).map(usize::try_from) {
        Some(Ok(requested)) => requested,
        _ => descriptors.map_or(DEFAULT_MAX_READERS, |count| (count / 16).min(DEFAULT_MAX_READERS)) as usize,
    }
}

impl CachedReader {
    /// Creates a reader that keeps its handle if the limit allows. Opens nothing yet.
    pub(crate) fn new(backend: Backend) -> Self {
        let slot = if backend.is_native() { CacheSlot::Undecided } else { CacheSlot::Unavailable };
        CachedReader {
            backend,
            state: PerProcessLock::new(ReaderState { slot, ..ReaderState::default() }),
            must_check: AtomicBool::new(true),
        }
    }

    /// Creates a reader that opens the file for every read, like a reader beyond the limit.
    #[cfg(test)]
    pub(crate) fn uncached(backend: Backend) -> Self {
        CachedReader {
            backend,
            state: PerProcessLock::new(ReaderState {
                slot: CacheSlot::Unavailable,
                ..ReaderState::default()
            }),
            must_check: AtomicBool::new(true),
        }
    }

    /// Drops the handle if the program closed it, or if the path now names another file; `there` is the current
    /// version of the path. Returns true in these cases: everything read before came from another file. A path that
    /// names no file is not such a case: the old file can still be read.
    pub(crate) fn revalidate(&self, there: Option<FileVersion>) -> bool {
        let Some(kept) = self.open_file() else { return self.revalidate_unkept(there) };
        self.must_check.store(false, Ordering::Relaxed);
        let is_lost = kept.is_lost();
        if !is_lost && there.is_none_or(|there| there.identity == kept.identity) {
            return false;
        }
        self.drop_file(&kept, is_lost);
        self.revalidate_unkept(there);
        true
    }

    /// Returns whether the version `there` of the path is another file than the one that was read.
    pub(crate) fn is_other_file(&self, there: FileVersion) -> bool {
        match self.open_file() {
            Some(kept) => there.identity != kept.identity,
            None => self.revalidate_unkept(Some(there)),
        }
    }

    /// Lets the next [`drop_if_lost`](Self::drop_if_lost) compare the descriptor.
    pub(crate) fn expect_check(&self) {
        self.must_check.store(true, Ordering::Relaxed);
    }

    /// Drops the handle if the program closed its descriptor. The descriptor is compared once after each
    /// [`expect_check`](Self::expect_check), by [`revalidate`](Self::revalidate) or by this function.
    pub(crate) fn drop_if_lost(&self) {
        if !self.must_check.swap(false, Ordering::Relaxed) {
            return;
        }
        if let Some(file) = self.open_file().filter(|file| file.is_lost()) {
            self.drop_file(&file, true);
        }
    }

    /// As [`revalidate`](Self::revalidate), without an open handle.
    fn revalidate_unkept(&self, there: Option<FileVersion>) -> bool {
        let is_changed =
            |unkept: &Option<FileVersion>| unkept.is_some() && there.is_some() && *unkept != there;
        if !is_changed(&self.state.read().unkept) {
            return false;
        }
        self.set_unkept(there);
        true
    }

    /// Sets the file that is read while none is kept open; `None` if a replacement need not be detected then. The file
    /// must not be changed in place: each change counts as a replacement.
    pub(crate) fn set_unkept(&self, unkept: Option<FileVersion>) {
        self.state.write().unkept = unkept;
    }

    /// Continues with the file `new`, by which this handle of the frame has replaced the file; `None` if the file was
    /// overwritten. Without a free descriptor the reader remembers which file it is, so that a later replacement is
    /// detected all the same.
    pub(crate) fn replace_open_file(&self, new: Option<File>) {
        self.close();
        let Some(new) = new else { return };
        let version = FileVersion::of_open_file(&new);
        // The stream is closed if it is not kept.
        let _ = self.cache_stream(IoStream(StreamKind::Native(new)));
        self.set_unkept(version);
    }

    /// Closes the kept handle; the next read opens the file again.
    pub(crate) fn close(&self) {
        if let Some(file) = self.open_file() {
            let is_lost = file.is_lost();
            self.drop_file(&file, is_lost);
        }
    }

    fn drop_file(&self, file: &Arc<OpenFile>, is_lost: bool) {
        if is_lost {
            file.is_descriptor_lost.store(true, Ordering::Relaxed);
        }
        let mut state = self.state.write();
        // Another thread may have opened a newer file already.
        if state.file.as_ref().is_some_and(|newest| Arc::ptr_eq(newest, file)) {
            state.file = None;
        }
    }

    /// Returns the cached handle, or opens the file at `path`.
    ///
    /// # Errors
    /// `FileOpen`.
    pub(crate) fn open(&self, path: &CStr) -> Result<ReadHandle> {
        if let Some(kept) = self.open_file() {
            return Ok(ReadHandle::Kept(kept));
        }
        let stream = self.backend.open(path, OpenMode::Read)?;
        Ok(self.cache_stream(stream).map_or_else(ReadHandle::Single, ReadHandle::Kept))
    }

    fn open_file(&self) -> Option<Arc<OpenFile>> {
        self.state.read().file.clone()
    }

    /// Caches a stream that was just opened, or returns it as the error.
    fn cache_stream(&self, stream: IoStream) -> std::result::Result<Arc<OpenFile>, IoStream> {
        let mut state = self.state.write();
        if let CacheSlot::Undecided = state.slot {
            state.slot = DescriptorSlot::try_acquire().map_or(CacheSlot::Unavailable, CacheSlot::Reserved);
        }
        if let CacheSlot::Unavailable = state.slot {
            return Err(stream);
        }
        let Some(identity) = stream.as_file().and_then(native::identity) else {
            return Err(stream);
        };
        let kept = OpenFile { stream: Some(stream), identity, is_descriptor_lost: AtomicBool::new(false) };
        // If two threads opened the file at the same time, the handle of the first is kept.
        Ok(state.file.get_or_insert_with(|| Arc::new(kept)).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_cached_readers_is_requested_or_derived_limit() {
        // 0 is also the result of `strtol` for text that is not a number.
        assert_eq!(max_cached_readers(Some(0), Some(1024)), 0);
        assert_eq!(max_cached_readers(Some(5), Some(1024)), 5);
        assert_eq!(max_cached_readers(Some(i64::from(i32::MAX)), Some(1024)), i32::MAX as usize);
        for no_limit in [None, Some(-1), Some(i64::from(i32::MAX) + 1)] {
            assert_eq!(max_cached_readers(no_limit, Some(1024)), 64);
            assert_eq!(max_cached_readers(no_limit, Some(4096)), 96);
            assert_eq!(max_cached_readers(no_limit, None), 96);
        }
    }
}
