//! The undo journal of a commit that is longer than a sector (`frame.md` 2.12, scheme B): a file beside the frame with
//! the bytes before and after the commit.
//!
//! The journal is written, and at the level `Power` on disk, before the first byte of the frame is overwritten, and is
//! removed after the commit. The writer holds the lock of the journal file as long as it exists. A handle that finds a
//! journal without a lock restores the old bytes: the writer has died. It does so only if each sector of the frame has
//! the old or the new bytes; otherwise a program that does not know the journal has rewritten the frame.

use super::disk::Disk;
use super::old_bytes::OldBytes;
use crate::error::{ErrorKind, Result, err};
use crate::fallible;
use crate::io::{OpenMode, WriteUnit, replacement};
use crate::os::{self, FileStat};
use crate::trace;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a journal.
const MAGIC: &[u8; 8] = b"b2undo\x01\0";
/// Length of the fields before the bytes: magic, offset of the frame, length of the bytes, checksum.
const HEAD_LEN: usize = 8 + 8 + 8 + 4;
/// Upper limit, in bytes, for the bytes of a journal: header and trailer of a frame without chunks.
const MAX_LEN: u64 = 1 << 31;
/// The unit that a write changes completely or not at all.
const SECTOR_LEN: usize = crate::frame::store::durability::SECTOR_LEN as usize;

/// A journal while its commit is made. Dropping it removes the file.
pub(in crate::frame) struct Journal {
    /// Empty if the file is kept.
    path: PathBuf,
    /// Holds the lock.
    file: File,
    is_synced: bool,
}

struct JournalRecord<'a> {
    /// Offset of the frame in its file, in bytes.
    base: u64,
    old: &'a [u8],
    new: &'a [u8],
}

impl Journal {
    /// Writes the journal of a commit that replaces `old`, the first bytes of the frame, by `new`.
    pub(in crate::frame) fn create(
        disk: &Disk,
        old: &OldBytes,
        new: &[u8],
        is_synced: bool,
    ) -> Result<Journal> {
        let mut old = fallible::copy_of(old.in_memory().unwrap_or_default())?;
        // Bytes behind the end of the file are restored as zeros, which no reader reads.
        old.resize(new.len(), 0);
        let bytes = JournalRecord { base: disk.base, old: &old, new }.to_bytes()?;
        let path = journal_path(disk)?;
        let name = path.as_path();
        let failed = |error| err!(FileOpen, "cannot write {}: {error}", name.display());
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(name);
        let mut file = options.map_err(failed)?;
        file.try_lock().map_err(|error| err!(FileOpen, "{} is in use: {error}", name.display()))?;
        let written = file.set_len(0).and_then(|()| file.write_all(&bytes));
        let written = written.and_then(|()| if is_synced { file.sync_all() } else { Ok(()) }).map_err(failed);
        let journal = Journal { path, file, is_synced };
        written?;
        if is_synced {
            replacement::sync_directory(&journal.path)?;
        }
        Ok(journal)
    }

    /// Leaves the file for the next handle: the commit has failed, and so has restoring the old bytes.
    pub(in crate::frame) fn keep(mut self) {
        self.path = PathBuf::new();
        // A child that was forked since the journal was made has the open file, too, and with it the lock.
        if let Err(error) = os::unlock_file(&self.file) {
            trace::warning(|| format!("a journal stays locked: {error}"));
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        let removed = fs::remove_file(&self.path);
        if let Err(error) = removed {
            trace::warning(|| format!("the journal {} stays: {error}", self.path.display()));
        } else if self.is_synced
            && let Err(error) = replacement::sync_directory(&self.path)
        {
            trace::warning(|| format!("the removal of a journal: {error}"));
        }
    }
}

impl JournalRecord<'_> {
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let (base, len) = (self.base.to_le_bytes(), (self.old.len() as u64).to_le_bytes());
        let checksum = checksum(&[MAGIC, &base, &len, self.old, self.new]).to_le_bytes();
        fallible::concat(&[MAGIC, &base, &len, &checksum, self.old, self.new])
    }

    /// Parses a journal; `None` for one that is not complete.
    fn parse(bytes: &[u8]) -> Option<JournalRecord<'_>> {
        let (head, content) = bytes.split_at_checked(HEAD_LEN)?;
        let fields = &head[..HEAD_LEN - 4];
        let u64_at = |at: usize| Some(u64::from_le_bytes(fields.get(at..at + 8)?.try_into().ok()?));
        let len = u64_at(16).filter(|&len| len <= MAX_LEN)? as usize;
        let checksum = u32::from_le_bytes(head[HEAD_LEN - 4..].try_into().ok()?);
        let is_complete = fields.starts_with(MAGIC)
            && content.len() == 2 * len
            && self::checksum(&[fields, content]) == checksum;
        let (old, new) = content.split_at_checked(len).filter(|_| is_complete)?;
        Some(JournalRecord { base: u64_at(8)?, old, new })
    }

    /// Returns whether each sector of `found` has the old or the new bytes.
    fn explains(&self, found: &[u8]) -> bool {
        let first = SECTOR_LEN - (self.base % SECTOR_LEN as u64) as usize;
        let mut start = 0;
        while start < self.old.len() {
            let end = if start == 0 { first } else { start + SECTOR_LEN }.min(self.old.len());
            let sector = found.get(start..end);
            if sector != Some(&self.old[start..end]) && sector != Some(&self.new[start..end]) {
                return false;
            }
            start = end;
        }
        true
    }
}

/// Returns the Adler-32 of `parts`, one after the other.
fn checksum(parts: &[&[u8]]) -> u32 {
    let mut checksum = simd_adler32::Adler32::new();
    parts.iter().for_each(|part| checksum.write(part));
    checksum.finish()
}

fn journal_path(disk: &Disk) -> Result<PathBuf> {
    fallible::path(&[disk.path().to_bytes(), b".b2undo"])
}

/// Undoes a commit whose writer has died, if there is a journal of one. Other errors than the lack of memory are only
/// traced: the frame is then read as it is.
pub(in crate::frame) fn recover(disk: &Disk) -> Result<()> {
    if !disk.backend.is_native() {
        return Ok(());
    }
    let path = journal_path(disk)?;
    if !path.exists() {
        return Ok(());
    }
    match undo(disk, &path) {
        Err(error) if error.kind() == ErrorKind::MemoryAlloc => Err(error),
        Err(error) => {
            trace::warning(|| format!("the journal {}: {error}", path.display()));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn undo(disk: &Disk, path: &Path) -> Result<()> {
    let failed = |error| err!(FileOpen, "cannot read the journal: {error}");
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    if file.try_lock().is_err() {
        // The writer is making the commit.
        return Ok(());
    }
    let identity = |file: &File| FileStat::of(file).map(|found| found.identity);
    if identity(&file) != File::open(path).ok().as_ref().and_then(identity) {
        // The writer has removed this journal in the meantime, and perhaps made another one.
        return Ok(());
    }
    let len = file.metadata().map_err(failed)?.len().min((HEAD_LEN as u64).saturating_add(2 * MAX_LEN));
    let mut bytes = fallible::filled(0, usize::try_from(len).unwrap_or(usize::MAX))?;
    file.read_exact(&mut bytes).map_err(failed)?;
    // Without a complete journal, the commit has not begun.
    if let Some(record) = JournalRecord::parse(&bytes) {
        let stream = disk.backend.open(disk.path(), OpenMode::Update)?;
        let mut found = stream.read_vec_at(record.base, record.old.len() as u64)?;
        found.resize(record.old.len(), 0);
        if found != record.new && found != record.old && record.explains(&found) {
            stream.write_at(record.base, record.old, WriteUnit::Bytes)?;
        }
        // The bytes of the frame must not be lost once the journal is.
        stream.sync_data()?;
    }
    fs::remove_file(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_round_trip(base in any::<u64>(), old in prop::collection::vec(any::<u8>(), 0..2000)) {
            let new: Vec<u8> = old.iter().map(|byte| byte.wrapping_add(1)).collect();
            let bytes = JournalRecord { base, old: &old, new: &new }.to_bytes().unwrap();
            let parsed = JournalRecord::parse(&bytes).unwrap();
            prop_assert_eq!((parsed.base, parsed.old, parsed.new), (base, &old[..], &new[..]));
        }

        #[test]
        fn incomplete_records_are_rejected(len in 0..1500usize, cut in 1..1500usize) {
            let bytes = JournalRecord { base: 7, old: &vec![1; len], new: &vec![2; len] }.to_bytes().unwrap();
            let cut = cut.min(bytes.len());
            prop_assert!(JournalRecord::parse(&bytes[..bytes.len() - cut]).is_none());
        }

        #[test]
        fn sectors_of_both_states_are_explained(base in 0..2000u64, mask in any::<u64>()) {
            let (old, new) = (vec![1u8; 3000], vec![2u8; 3000]);
            let record = JournalRecord { base, old: &old, new: &new };
            let sector = |at: usize| (base + at as u64) / 512 - base / 512;
            let mut found: Vec<u8> =
                (0..3000).map(|at| if mask >> sector(at) & 1 == 0 { old[at] } else { new[at] }).collect();
            prop_assert!(record.explains(&found));
            found[1500] = 3;
            prop_assert!(!record.explains(&found));
        }
    }
}
