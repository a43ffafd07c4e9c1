//! A back-end of the program: its callbacks, called according to the contract of `frame.md` 5.2. Their results are
//! checked against the requested sizes, and not trusted further.

use super::backend_registry::FetchCallbacks;
use super::borrowed_bytes::BorrowedBytes;
use super::source::FilePart;
use super::{OpenMode, WriteUnit, errno};
use crate::abi::{blosc2_io_cb, blosc2x_io_range};
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::held_locks::{self, LockMode};
use parking_lot::{RwLock, RwLockWriteGuard};
use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull, null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The callbacks and their parameters.
pub(super) struct UserBackend {
    callbacks: blosc2_io_cb,
    fetch: Option<FetchCallbacks>,
    params: *mut c_void,
    destroyed: AtomicBool,
    /// For a zero-copy back-end, whose callback `read` stores the address of its own memory instead of filling a
    /// buffer: locked shared while the bytes are read, and exclusively while a stream changes.
    change_lock: RwLock<()>,
}

// SAFETY: function pointers, which may be called from any thread by the contract of a back-end, and a pointer that is
// only passed to them.
unsafe impl Send for UserBackend {}
// SAFETY: the callbacks may be called from any thread by the contract of a back-end; the only fields that change are
// atomic or a lock.
unsafe impl Sync for UserBackend {}

/// What the program holds for ranges that were fetched. Released when it is dropped.
struct HeldRanges {
    backend: Arc<UserBackend>,
    release: unsafe extern "C" fn(*mut c_void, *mut c_void),
    held: NonNull<c_void>,
}

// SAFETY: the pointer is only passed to the callback, which may be called from any thread.
unsafe impl Send for HeldRanges {}

/// A stream that the program opened. Closed when it is dropped.
pub(super) struct UserStream {
    backend: Arc<UserBackend>,
    handle: NonNull<c_void>,
    closed: bool,
}

// SAFETY: the handle is only passed to the callbacks, which may be called from any thread.
unsafe impl Send for UserStream {}
// SAFETY: shared streams only pass the handle to the callbacks, which may be called from several threads at a time.
unsafe impl Sync for UserStream {}

/// Converts a length or a position to the type of the callbacks.
fn to_i64(number: u64) -> Result<i64> {
    i64::try_from(number)
        .map_err(|_| err!(InvalidParam, "{number} exceeds the maximum file position {}", i64::MAX))
}

impl UserBackend {
    /// # Safety
    /// The callbacks obey the contracts of their types and may be called for the lifetime of the back-end; `params` is
    /// valid for them until `destroy`. Bytes whose address `read` stores neither move nor change until the file is
    /// changed, and only this back-end and its clones change the file while the bytes are in use.
    pub(super) unsafe fn new(
        callbacks: blosc2_io_cb,
        fetch: Option<FetchCallbacks>,
        params: *mut c_void,
    ) -> Self {
        UserBackend {
            callbacks,
            fetch,
            params,
            destroyed: AtomicBool::new(false),
            change_lock: RwLock::new(()),
        }
    }

    pub(super) fn id(&self) -> u8 {
        self.callbacks.id
    }

    pub(super) fn is_zero_copy(&self) -> bool {
        !self.callbacks.is_allocation_necessary.get()
    }

    pub(super) fn open(self: &Arc<Self>, path: &CStr, mode: OpenMode) -> Result<UserStream> {
        let open = self
            .callbacks
            .open
            .ok_or_else(|| err!(FileOpen, "back-end {} has no function `open`", self.id()))?;
        if self.destroyed.load(Ordering::Acquire) {
            return Err(err!(FileOpen, "the parameters of back-end {} were destroyed", self.id()));
        }
        // Creating a file changes it.
        let _exclusive = if mode == OpenMode::Create { self.lock_for_change() } else { None };
        // SAFETY: the caller of `new` guarantees the contract of the callback; its parameters were not destroyed.
        let handle = unsafe { open(path.as_ptr(), mode.as_c_str().as_ptr(), self.params) };
        let handle = NonNull::new(handle).ok_or_else(|| {
            err!(FileOpen, "`open` of back-end {} returned NULL for {path:?}, mode {mode:?}", self.id())
        })?;
        Ok(UserStream { backend: self.clone(), handle, closed: false })
    }

    pub(super) fn can_fetch(&self) -> bool {
        self.fetch.is_some()
    }

    /// Makes the program fetch ranges of files, which it holds while the result lives.
    pub(super) fn fetch(self: &Arc<Self>, parts: &[FilePart]) -> Result<Box<dyn Send>> {
        let Some(FetchCallbacks { fetch, release }) = self.fetch.filter(|_| !parts.is_empty()) else {
            return Ok(Box::new(()));
        };
        let mut names = fallible::vec_with_capacity(parts.len())?;
        for part in parts {
            names.push(fallible::c_string(&[part.file.as_bytes()])?);
        }
        let mut ranges = fallible::vec_with_capacity(parts.len())?;
        for (part, name) in parts.iter().zip(&names) {
            let [start, stop] =
                [part.range.start, part.range.end].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
            ranges.push(blosc2x_io_range { urlpath: name.as_ptr(), start, stop });
        }
        // SAFETY: the caller of `new` guarantees the contract of the callback; the names live during the call.
        let held = unsafe { fetch(ranges.as_ptr(), ranges.len() as i64, self.params) };
        let held = NonNull::new(held).ok_or_else(|| {
            err!(FileRead, "`fetch` of back-end {} returned NULL for {} ranges", self.id(), parts.len())
        })?;
        Ok(Box::new(HeldRanges { backend: self.clone(), release, held }))
    }

    /// Returns the key of `change_lock` in [`held_locks`].
    fn lock_key(&self) -> usize {
        ptr::from_ref(&self.change_lock).addr()
    }

    /// Waits until no bytes are borrowed and blocks reads by other threads, if the back-end is zero-copy. Returns
    /// `None` otherwise, and inside a change by the same thread (in a callback of the program), which holds the lock
    /// already.
    fn lock_for_change(&self) -> Option<ChangeGuard<'_>> {
        if !self.is_zero_copy() || held_locks::find(self.lock_key()) == Some(LockMode::Exclusive) {
            return None;
        }
        let lock = self.change_lock.write();
        held_locks::add(self.lock_key(), LockMode::Exclusive);
        Some(ChangeGuard { backend: self, _lock: lock })
    }

    /// Empties a file in place of removing it, since a back-end has no callback for removal (`frame.md` 3.2).
    pub(super) fn remove(self: &Arc<Self>, path: &CStr) -> Result<()> {
        errno::clear();
        let stream = match self.open(path, OpenMode::Create) {
            Ok(stream) => stream,
            Err(_) if errno::is_not_found() => return Ok(()),
            Err(error) => return Err(error),
        };
        if self.callbacks.truncate.is_some() {
            stream.truncate(0)?;
        }
        ensure!(stream.close() == 0, FileRemove, "`close` of back-end {} failed for {path:?}", self.id());
        Ok(())
    }

    pub(super) fn destroy(&self) -> Result<()> {
        let Some(destroy) = self.callbacks.destroy else { return Ok(()) };
        if self.destroyed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        // SAFETY: as in `open`; `destroyed` ensures that this is the only call.
        match unsafe { destroy(self.params) } {
            code if code < 0 => Err(err!(PluginIo, "`destroy` of back-end {} returned {code}", self.id())),
            _ => Ok(()),
        }
    }
}

/// A change of a file of a zero-copy back-end. The callback that makes the change may call the library, which then
/// reads without locking `change_lock`.
struct ChangeGuard<'a> {
    backend: &'a UserBackend,
    _lock: RwLockWriteGuard<'a, ()>,
}

impl Drop for ChangeGuard<'_> {
    fn drop(&mut self) {
        held_locks::remove(self.backend.lock_key(), LockMode::Exclusive);
    }
}

impl Drop for HeldRanges {
    fn drop(&mut self) {
        // SAFETY: the caller of `UserBackend::new` guarantees the contract of the callback; `fetch` returned the pointer, which
        // is not used again.
        unsafe { (self.release)(self.held.as_ptr(), self.backend.params) }
    }
}

impl UserStream {
    fn callbacks(&self) -> &blosc2_io_cb {
        &self.backend.callbacks
    }

    pub(super) fn is_zero_copy(&self) -> bool {
        self.backend.is_zero_copy()
    }

    /// Calls `read` for `len` bytes; `place` points at their destination, or the callback stores their address there.
    /// Returns the number of bytes.
    ///
    /// # Safety
    /// Unless the back-end is zero-copy, `len` bytes can be written at `place`.
    unsafe fn read(&self, position: u64, len: usize, place: &mut *mut c_void) -> Result<usize> {
        let id = self.backend.id();
        let read =
            self.callbacks().read.ok_or_else(|| err!(FileRead, "back-end {id} has no function `read`"))?;
        let (asked, at) = (to_i64(len as u64)?, to_i64(position)?);
        // SAFETY: the caller of `UserBackend::new` guarantees the contract of the callback; the handle is open, and the
        // caller guarantees that `place` is a buffer of that length, or the callback may overwrite it.
        let got = unsafe { read(place, 1, asked, at, self.handle.as_ptr()) };
        usize::try_from(got).ok().filter(|&got| got <= len).ok_or_else(|| {
            err!(FileRead, "`read` of back-end {id} returned {got}, expected 0 to {len}, at {position}")
        })
    }

    pub(super) fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        if self.is_zero_copy() {
            let bytes = self.borrow_at(position, dest.len())?;
            dest[..bytes.len()].copy_from_slice(&bytes);
            return Ok(bytes.len());
        }
        // SAFETY: the place is `dest`.
        unsafe { self.read(position, dest.len(), &mut dest.as_mut_ptr().cast()) }
    }

    /// Returns the bytes from `position` on, at most `len` or as many as the file has, in memory of the back-end.
    ///
    /// # Errors
    /// `FileRead`, always for a back-end that is not zero-copy.
    pub(super) fn borrow_at(&self, position: u64, len: usize) -> Result<BorrowedBytes<'_>> {
        ensure!(self.is_zero_copy(), FileRead, "back-end {} does not return pointers", self.backend.id());
        // Recursive, since a thread may hold the bytes of several reads.
        let is_inside_change = held_locks::find(self.backend.lock_key()) == Some(LockMode::Exclusive);
        let guard = (!is_inside_change).then(|| self.backend.change_lock.read_recursive());
        let mut place = null_mut();
        // SAFETY: the back-end is zero-copy.
        let got = unsafe { self.read(position, len, &mut place) }?;
        if got == 0 {
            return Ok(BorrowedBytes::new(&[], guard));
        }
        ensure!(!place.is_null(), FileRead, "`read` of back-end {} set no pointer", self.backend.id());
        // SAFETY: the caller of `UserBackend::new` guarantees that the back-end returns that number of bytes and that
        // they stay unchanged until the file is changed. Changes through this back-end wait for the guard.
        let bytes = unsafe { std::slice::from_raw_parts(place.cast(), got) };
        Ok(BorrowedBytes::new(bytes, guard))
    }

    pub(super) fn write_at(&self, position: u64, bytes: &[u8], unit: WriteUnit) -> Result<()> {
        let id = self.backend.id();
        let write =
            self.callbacks().write.ok_or_else(|| err!(FileWrite, "back-end {id} has no function `write`"))?;
        let (len, at) = (to_i64(bytes.len() as u64)?, to_i64(position)?);
        let (size, nitems, ptr) = match unit {
            WriteUnit::Bytes => (1, len, bytes.as_ptr()),
            WriteUnit::Item if len == 0 => (0, 1, null()),
            WriteUnit::Item => (len, 1, bytes.as_ptr()),
        };
        let _exclusive = self.backend.lock_for_change();
        // SAFETY: the caller of `UserBackend::new` guarantees the contract of the callback; the handle is open, there
        // are `size * nitems` bytes at `ptr`, and no thread reads bytes borrowed from the back-end.
        let written = unsafe { write(ptr.cast(), size, nitems, at, self.handle.as_ptr()) };
        // For an item of no bytes, some back-ends return 0 and others 1.
        if written != nitems && len > 0 {
            return Err(err!(
                FileWrite,
                "`write` of back-end {id} returned {written}, expected {nitems} items of {size} bytes"
            ));
        }
        Ok(())
    }

    pub(super) fn truncate(&self, len: u64) -> Result<()> {
        let id = self.backend.id();
        let truncate = self
            .callbacks()
            .truncate
            .ok_or_else(|| err!(FileTruncate, "back-end {id} has no function `truncate`"))?;
        let len = to_i64(len)?;
        let _exclusive = self.backend.lock_for_change();
        // SAFETY: the caller of `UserBackend::new` guarantees the contract of the callback; the handle is open, and no
        // thread reads bytes borrowed from the back-end.
        match unsafe { truncate(self.handle.as_ptr(), len) } {
            0 => Ok(()),
            code => Err(err!(FileTruncate, "`truncate` of back-end {id} to {len} bytes returned {code}")),
        }
    }

    pub(super) fn size(&self) -> Result<u64> {
        let id = self.backend.id();
        let size =
            self.callbacks().size.ok_or_else(|| err!(FileRead, "back-end {id} has no function `size`"))?;
        // SAFETY: the caller of `UserBackend::new` guarantees the contract of the callback; the handle is open.
        let size = unsafe { size(self.handle.as_ptr()) };
        u64::try_from(size)
            .map_err(|_| err!(FileRead, "`size` of back-end {id} returned {size}, expected 0 or more"))
    }

    /// Closes the stream. Returns the result of the callback.
    fn close(mut self) -> i32 {
        self.close_once()
    }

    fn close_once(&mut self) -> i32 {
        let close = self.callbacks().close.filter(|_| !self.closed);
        self.closed = true;
        // SAFETY: the caller of `UserBackend::new` guarantees the contract of the callback; the handle is open, and is
        // not used again.
        close.map_or(0, |close| unsafe { close(self.handle.as_ptr()) })
    }
}

impl Drop for UserStream {
    fn drop(&mut self) {
        // The result is ignored, as in the reference (`abi.md` 4.1).
        self.close_once();
    }
}
