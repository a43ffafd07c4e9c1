//! The log of the calls that changed files, which `capi-tests/fault_injection.c` writes.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A call that succeeded. Files and directories have the inode numbers that they had at the time of the call.
#[derive(Clone, Debug)]
pub enum Event {
    Write {
        inode: u64,
        at: u64,
        bytes: Vec<u8>,
    },
    SetLen {
        inode: u64,
        len: u64,
    },
    Create {
        path: PathBuf,
        inode: u64,
    },
    MakeDirectory {
        path: PathBuf,
        inode: u64,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    /// Exchanges the targets of two entries.
    Exchange {
        first: PathBuf,
        second: PathBuf,
    },
    Link {
        path: PathBuf,
        inode: u64,
    },
    Remove {
        path: PathBuf,
    },
    Sync {
        inode: u64,
    },
    SyncAll,
    /// The number of operations that have returned.
    Mark(u64),
}

/// The length in bytes of `struct record_header`.
const HEADER_LEN: usize = 40;

/// Returns the events of a log. The values of the first field are those of `enum record`.
pub fn parse(mut log: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while !log.is_empty() {
        let header = take(&mut log, HEADER_LEN);
        let word = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let long = |at: usize| u64::from_ne_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let (inode, value) = (long(16), long(24));
        let path = as_path(take(&mut log, word(4) as usize));
        let to = as_path(take(&mut log, word(8) as usize));
        let bytes = take(&mut log, long(32) as usize).to_vec();
        events.push(match word(0) {
            1 => Event::Write { inode, at: value, bytes },
            2 => Event::SetLen { inode, len: value },
            3 => Event::Create { path, inode },
            4 => Event::MakeDirectory { path, inode },
            5 => Event::Rename { from: path, to },
            6 => Event::Link { path, inode },
            7 => Event::Remove { path },
            8 | 9 => Event::Sync { inode },
            10 => Event::SyncAll,
            11 => Event::Mark(value),
            12 => Event::Exchange { first: path, second: to },
            other => panic!("a record of kind {other}"),
        });
    }
    events
}

/// Returns the first `len` bytes and removes them from `bytes`.
fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (first, rest) = bytes.split_at(len);
    *bytes = rest;
    first
}

fn as_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The last component of a path, for messages.
fn name(path: &Path) -> impl fmt::Display {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Write { inode, at, bytes } => {
                write!(f, "write {at}..{} of file {inode}", at + bytes.len() as u64)
            }
            Event::SetLen { inode, len } => write!(f, "set length {len} of file {inode}"),
            Event::Create { path, inode } => write!(f, "create {} as file {inode}", name(path)),
            Event::MakeDirectory { path, inode } => write!(f, "mkdir {} as {inode}", name(path)),
            Event::Rename { from, to } => write!(f, "rename {} to {}", name(from), name(to)),
            Event::Exchange { first, second } => write!(f, "exchange {} and {}", name(first), name(second)),
            Event::Link { path, inode } => write!(f, "link {} to file {inode}", name(path)),
            Event::Remove { path } => write!(f, "remove {}", name(path)),
            Event::Sync { inode } => write!(f, "synchronise {inode}"),
            Event::SyncAll => write!(f, "synchronise everything"),
            Event::Mark(value) => write!(f, "{value} operations have returned"),
        }
    }
}
