//! Types that all systems share.

/// The properties of a file that the system reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileStat {
    /// Device, or volume, and number of the file in it.
    pub identity: (u64, u64),
    /// Length in bytes.
    pub size: u64,
    /// Number of names of the file.
    pub link_count: u64,
    /// Time of the last change of the content, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Time of the last change of the content or the properties, in seconds and nanoseconds.
    pub changed: (i64, i64),
}

/// The type of a symbol of a loaded library, and its size in bytes; 0 if unknown.
pub(crate) struct SymbolInfo {
    pub size: usize,
    pub is_function: bool,
    pub is_data: bool,
}

/// The use of a file that is mapped into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapKind {
    /// The pages of the file are read.
    Read,
    /// The pages of the file are read and written.
    Write,
    /// The pages of the file are read; changes stay in memory.
    Private,
}
