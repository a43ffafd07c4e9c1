//! The state of a frame on disk, compared with the state that this handle has read: other handles may have changed it.

use super::frame::{Frame, LastCheck};
use crate::error::Result;
use crate::frame::format::header::FrameHeader;
use crate::io::ObservedStamp;
use std::sync::atomic::Ordering;

/// Number of attempts of a read that another handle disturbs.
const READ_ATTEMPTS: usize = 50;

/// The state of a frame, read before the frame is used.
pub(crate) struct FrameStatus {
    /// The current header.
    pub header: FrameHeader,
    /// Whether the frame differs from the parsed state, which must then be read again.
    pub is_stale: bool,
    /// Number of the state of the chunks. Chunks that were decoded under another number may have been replaced by
    /// another handle since, even if the length of the frame is unchanged. Two reads get the same number only if the
    /// stamp of the file proves that the file was not changed between them.
    pub generation: u64,
}

impl Frame {
    /// Returns the state of the frame, for a caller that is about to read it. The file is not opened if its stamp
    /// equals the stamp of the last check.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, and the errors of parsing the header.
    pub(crate) fn status(&self) -> Result<FrameStatus> {
        if let Some(status) = self.status_in_transaction()? {
            return Ok(status);
        }
        let current = self.disk.as_ref().and_then(|disk| disk.stamp());
        let must_check = self.lock.is_none() && current.as_ref().is_some_and(|current| current.is_recent);
        self.must_check_reads.store(must_check, Ordering::Relaxed);
        if let Some(current) = &current
            && !self.force_refresh.load(Ordering::Relaxed)
            && let Some(seen) = &self.inner.read_recursive().last_check
            && seen.stamp == current.stamp
            && seen.is_whole_file
        {
            return Ok(FrameStatus {
                header: seen.header.clone(),
                is_stale: false,
                generation: seen.generation,
            });
        }
        self.status_for_stamp(current)
    }

    /// Returns the state of the frame, for a caller that is about to change it: always reads the header.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub(crate) fn status_from_disk(&self) -> Result<FrameStatus> {
        if let Some(status) = self.status_in_transaction()? {
            return Ok(status);
        }
        let mut status = self.status_for_stamp(self.disk.as_ref().and_then(|disk| disk.stamp()))?;
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
        let open = inner.staging.as_ref().filter(|staging| staging.has_open_transaction());
        let Some(staging) = open else { return Ok(None) };
        let header = match staging.pending_header() {
            Some(header) => header.clone(),
            None => FrameHeader::parse(&inner.images.header, self.kind())?,
        };
        Ok(Some(FrameStatus { header, is_stale: false, generation: self.next_generation() }))
    }

    fn status_for_stamp(&self, current: Option<ObservedStamp>) -> Result<FrameStatus> {
        let Some(disk) = &self.disk else {
            return Ok(FrameStatus { header: self.read_header()?, is_stale: false, generation: 0 });
        };
        if disk.was_replaced(current.as_ref()) {
            self.force_refresh.store(true, Ordering::Relaxed);
        }
        let header = disk.read_header()?;
        let forced = self.force_refresh.load(Ordering::Relaxed);
        let is_stale = forced
            || header.frame_len != self.len()
            || self.has_newer_commit(&header)
            // The new file of an atomic change can have the same header, and refer to another chunk file.
            || (disk.directory.is_some() && self.has_replaced_table(&header));
        let Some(ObservedStamp { stamp, is_settled, .. }) = current else {
            // Only files of the library's own back-ends can be changed by other handles.
            let generation = if disk.backend.is_native() { self.next_generation() } else { 0 };
            return Ok(FrameStatus { header, is_stale, generation });
        };
        let known = self
            .inner
            .read_recursive()
            .last_check
            .as_ref()
            .filter(|seen| seen.stamp == stamp)
            .map(|seen| seen.generation);
        if let Some(generation) = known {
            return Ok(FrameStatus { header, is_stale, generation });
        }
        let generation = self.next_generation();
        if is_settled && !is_stale {
            let is_whole_file = disk.base.checked_add(header.frame_len) == Some(stamp.size);
            self.inner.write().last_check =
                Some(LastCheck { stamp, header: header.clone(), generation, is_whole_file });
        }
        Ok(FrameStatus { header, is_stale, generation })
    }

    /// Returns whether the header is that of a commit which this handle has not read, although it gives the same
    /// length.
    fn has_newer_commit(&self, header: &FrameHeader) -> bool {
        let is_known = || FrameHeader::parse(&self.inner.read_recursive().images.header, header.kind);
        is_known().is_ok_and(|known| {
            (header.gap.is_some() || header.has_checksums || known.has_checksums) && known != *header
        })
    }

    /// Returns whether a read without the lock must be checked: the frame was changed a short time ago, so that it may
    /// be changed again.
    pub(in crate::frame) fn must_check_reads(&self) -> bool {
        self.must_check_reads.load(Ordering::Relaxed)
    }

    /// Returns whether another handle has changed the frame, so that its header differs from `header`. Frames with a
    /// lock, and those of other back-ends than native files, count as unchanged.
    pub(crate) fn has_changed_since(&self, header: &FrameHeader) -> bool {
        let Some(disk) = self.disk.as_ref().filter(|disk| disk.backend.is_native()) else { return false };
        if self.lock.is_some() || self.has_open_transaction() {
            return false;
        }
        if disk.was_replaced(disk.stamp().as_ref()) {
            self.force_refresh.store(true, Ordering::Relaxed);
            return true;
        }
        self.read_header().is_ok_and(|current| current != *header)
    }

    /// Counts a read that failed because another handle has changed the frame.
    pub(in crate::frame) fn count_changed_read(&self) {
        self.changed_reads.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of reads that failed because another handle had changed the frame meanwhile.
    pub(crate) fn changed_reads(&self) -> u64 {
        self.changed_reads.load(Ordering::Relaxed)
    }

    /// Returns a [generation](FrameStatus::generation) that was not returned before.
    fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Calls `read` again, a limited number of times, while it fails because another handle has changed the frame in
    /// the meantime.
    ///
    /// # Errors
    /// Those of the last call.
    pub(crate) fn retry_changed_reads<R>(&self, mut read: impl FnMut() -> Result<R>) -> Result<R> {
        for _ in 1..READ_ATTEMPTS {
            let before = self.changed_reads();
            let result = read();
            if result.is_ok() || self.changed_reads() == before {
                return result;
            }
        }
        read()
    }
}
