//! The state of a frame on disk, compared with the state that this handle has read: other handles may have changed it. A
//! child of `fork()` discards the state that belongs to its parent.

use super::disk_frame::DiskFrame;
use super::inner::LastCheck;
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::fork_count;
use crate::frame::format::header::FrameHeader;
use crate::io::ObservedStamp;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Number of attempts of a read that another handle disturbs.
const READ_ATTEMPTS: usize = 50;

/// The time after which a frame can have the same header again, after 64 commits: their number is in the header modulo 64, and
/// a commit, which makes three writes, takes more than 3 microseconds.
const MIN_TIME_OF_REPEATED_HEADER: Duration = Duration::from_micros(200);

/// The state of a frame, read before the frame is used.
pub(crate) struct FrameStatus {
    pub header: FrameHeader,
    /// Whether the frame differs from the parsed state, which must then be read again.
    pub is_stale: bool,
    /// Number of the state of the chunks. Chunks that were decoded under another number may have been replaced by
    /// another handle since, even if the length of the frame is unchanged. Two reads get the same number only if the
    /// stamp of the file proves that the file was not changed between them.
    pub generation: u64,
    /// The point in time, before the header was read, from which on another process may change the frame, so that what is
    /// read must be [confirmed](DiskFrame::confirm_unchanged); `None` with the lock, and for a frame that was not changed within
    /// the last second.
    pub unlocked_since: Option<Instant>,
}

impl DiskFrame {
    /// Returns the state of the frame, for a caller that is about to read it. The file is not opened if its stamp
    /// equals the stamp of the last check.
    pub(crate) fn status(&self) -> Result<FrameStatus> {
        if let Some(status) = self.status_in_transaction()? {
            return Ok(status);
        }
        let current = self.disk.stamp();
        let is_unlocked = self.lock.is_none() && current.as_ref().is_some_and(|current| current.is_recent);
        let unlocked_since = is_unlocked.then(Instant::now);
        if let Some(current) = &current
            && !self.force_refresh.load(Ordering::Relaxed)
            && let Some(seen) = &self.inner.read_recursive().last_check
            && seen.stamp == current.stamp
            && seen.is_whole_file
        {
            self.disk.expect_reader_check();
            return Ok(FrameStatus {
                header: seen.header.clone(),
                is_stale: false,
                generation: seen.generation,
                unlocked_since,
            });
        }
        self.status_for_stamp(current, unlocked_since)
    }

    /// Returns the state of the frame, for a caller that is about to change it: always reads the header.
    pub(crate) fn status_from_disk(&self) -> Result<FrameStatus> {
        if let Some(status) = self.status_in_transaction()? {
            return Ok(status);
        }
        let mut status = self.status_for_stamp(self.disk.stamp(), None)?;
        // Another handle may have replaced a chunk in place by one of the same length: the next table needs its checksum.
        if self.has_replaced_table(&status.header) {
            self.force_refresh.store(true, Ordering::Relaxed);
            status.is_stale = true;
        }
        Ok(status)
    }

    /// Returns the state inside a transaction of a frame with atomic changes: the files have the state before it.
    fn status_in_transaction(&self) -> Result<Option<FrameStatus>> {
        let inner = self.inner.read_recursive();
        let open = inner.staging().filter(|staging| staging.has_open_transaction());
        let Some(staging) = open else { return Ok(None) };
        let header = match staging.pending_header() {
            Some(header) => header.clone(),
            None => FrameHeader::parse(&inner.images.header, self.disk.kind())?,
        };
        let generation = self.next_generation();
        Ok(Some(FrameStatus { header, is_stale: false, generation, unlocked_since: None }))
    }

    fn status_for_stamp(
        &self,
        current: Option<ObservedStamp>,
        unlocked_since: Option<Instant>,
    ) -> Result<FrameStatus> {
        let disk = &self.disk;
        if disk.was_replaced(current.as_ref()) {
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        let (image, header) = disk.read_header_with_image()?;
        let forced = self.force_refresh.load(Ordering::Relaxed);
        let is_stale = forced
            || header.frame_len != self.len()
            || self.has_newer_commit(&image, &header)
            // The new file of an atomic change can have the same header, and refer to another chunk file.
            || (disk.directory().is_some() && self.has_replaced_table(&header));
        let Some(ObservedStamp { stamp, is_settled, .. }) = current else {
            // Only files of the library's own back-ends can be changed by other handles.
            let generation = if disk.backend.is_native() { self.next_generation() } else { 0 };
            return Ok(FrameStatus { header, is_stale, generation, unlocked_since });
        };
        let known = self
            .inner
            .read_recursive()
            .last_check
            .as_ref()
            .filter(|seen| seen.stamp == stamp)
            .map(|seen| seen.generation);
        if let Some(generation) = known {
            return Ok(FrameStatus { header, is_stale, generation, unlocked_since });
        }
        let generation = self.next_generation();
        if is_settled && !is_stale {
            let ends_with_frame = disk.base.checked_add(header.frame_len) == Some(stamp.size);
            let is_whole_file = ends_with_frame || disk.directory().is_some();
            self.inner.write().last_check =
                Some(LastCheck { stamp, header: header.clone(), generation, is_whole_file });
        }
        Ok(FrameStatus { header, is_stale, generation, unlocked_since })
    }

    /// Returns whether the header, which is in the file as `image`, is that of a commit which this handle has not read,
    /// although it gives the same length.
    fn has_newer_commit(&self, image: &[u8], header: &FrameHeader) -> bool {
        let inner = self.inner.read_recursive();
        if inner.images.header.starts_with(image) {
            return false;
        }
        FrameHeader::parse(&inner.images.header, header.kind).is_ok_and(|known| {
            (header.gap.is_some() || header.has_checksums || known.has_checksums) && known != *header
        })
    }

    /// Returns whether a frame with that header has another table than the parsed state.
    pub(in crate::frame) fn has_replaced_table(&self, header: &FrameHeader) -> bool {
        header.has_checksums
            && self.inner.read_recursive().index.checksums.is_some()
            && self.has_other_root(header)
    }

    /// Returns whether the file, which has that header now, has another root of the checksums than the parsed state:
    /// another handle without the lock has replaced a chunk by one of the same length.
    fn has_other_root(&self, header: &FrameHeader) -> bool {
        let (known, end) = {
            let inner = self.inner.read_recursive();
            (inner.images.trailer.last_chunk::<16>().copied(), inner.layout.frame_len)
        };
        // The file may have been cut since: a mapping of it must not be read behind its end.
        if header.frame_len != end {
            return true;
        }
        let mut found = [0; 16];
        self.disk.read(end.saturating_sub(16), &mut found).is_ok() && known != Some(found)
    }

    /// Returns whether another handle has changed the frame, so that its header differs from `header`. Frames with a
    /// lock, and those of other back-ends than native files, count as unchanged.
    pub(crate) fn has_changed_since(&self, header: &FrameHeader) -> bool {
        if !self.is_native() || self.lock.is_some() || self.has_open_transaction() {
            return false;
        }
        if self.disk.was_replaced(self.disk.stamp().as_ref()) {
            self.force_refresh.store(true, Ordering::Relaxed);
            return true;
        }
        self.disk.read_header().is_ok_and(|current| current != *header)
    }

    /// Returns the result of a read of one part. An error is another one if another handle has changed the frame since
    /// `header` was read: then the bytes may be of another chunk. Readers without the lock repeat such a read.
    ///
    /// # Errors
    /// `FileRead`; the error of the read.
    #[inline]
    pub(crate) fn explain_error<R>(&self, header: &FrameHeader, read: Result<R>) -> Result<R> {
        if read.is_err() && self.has_changed_since(header) { Err(self.changed_read()) } else { read }
    }

    /// Returns the result of a read with a check, unless another handle has changed the frame since `header` was read.
    ///
    /// # Errors
    /// `FileRead`; the error of the read.
    #[inline]
    pub(super) fn confirm_check<R>(&self, header: &FrameHeader, checked: Result<R>) -> Result<R> {
        if checked.as_ref().is_err_and(|error| error.kind() == ErrorKind::Data)
            && self.disk.read_header().is_ok_and(|header| self.has_other_root(&header))
        {
            self.force_refresh.store(true, Ordering::Relaxed);
            return Err(self.changed_read());
        }
        self.explain_error(header, checked)
    }

    /// Returns the result of reads without the lock, after which the frame must still have that header, which was read
    /// after the time `since`.
    pub(crate) fn confirm_unchanged<R>(
        &self,
        header: &FrameHeader,
        since: Instant,
        read: Result<R>,
    ) -> Result<R> {
        if read.is_err() || !self.is_native() {
            return read;
        }
        let disk = &self.disk;
        // The open file of a contiguous frame keeps its content when the name is given to another file.
        let was_replaced = disk.directory().is_some() && disk.names_other_file();
        let has_same_header = !was_replaced && disk.read_header().is_ok_and(|current| current == *header);
        let can_be_repeated = since.elapsed() > MIN_TIME_OF_REPEATED_HEADER;
        if has_same_header && !(can_be_repeated && self.has_replaced_table(header)) {
            return read;
        }
        if was_replaced || has_same_header {
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        Err(self.changed_read())
    }

    /// Counts a read that failed because another handle has changed the frame. Returns its error.
    pub(super) fn changed_read(&self) -> Error {
        self.changed_reads.fetch_add(1, Ordering::Relaxed);
        err!(FileRead, "another handle has changed the frame while it was read")
    }

    /// In a child of `fork()`, discards the state that belongs to the changes of its parent: transactions and brackets
    /// that are open there, and changes that are not committed. The child then reads the frame again. Does nothing in
    /// the process that did this last.
    #[inline]
    pub(crate) fn discard_inherited_state(&self) {
        if self.is_state_of_parent() {
            self.discard_state_of_parent();
        }
    }

    #[cold]
    fn discard_state_of_parent(&self) {
        if self.is_native() {
            self.inner.begin_in_child(self.disk.kind());
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        // Release: a thread that skips this sees the new state.
        self.process.store(fork_count::current(), Ordering::Release);
    }

    /// Returns a [generation](FrameStatus::generation) that was not returned before.
    fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Calls `read` again, a limited number of times, while it fails because another handle has changed `frame` in the
    /// meantime. Without a frame, calls it once.
    pub(crate) fn retry_changed_reads<R>(
        frame: Option<&DiskFrame>,
        mut read: impl FnMut() -> Result<R>,
    ) -> Result<R> {
        let changed_reads = || frame.map(|frame| frame.changed_reads.load(Ordering::Relaxed));
        let mut repetitions = 1..READ_ATTEMPTS;
        loop {
            let before = changed_reads();
            let result = read();
            if result.is_ok() || changed_reads() == before || repetitions.next().is_none() {
                return result;
            }
        }
    }
}
