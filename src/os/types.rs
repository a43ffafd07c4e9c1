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

/// The owner of a file (user and group) and its permissions, as far as the system has them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ownership {
    pub owner: (u32, u32),
    pub mode: u32,
}

/// The handle of a mapping in the C struct: that of the mapping object of Windows, NULL for memory of the process.
#[cfg(windows)]
pub(crate) type MapHandle = windows_sys::Win32::Foundation::HANDLE;
/// The handle of a mapping in the C struct: there is none.
#[cfg(not(windows))]
pub(crate) type MapHandle = [*mut std::ffi::c_void; 0];

/// The handle of a struct without a mapping.
#[cfg(windows)]
pub(crate) const NO_MAP_HANDLE: MapHandle = windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
/// The handle of a struct without a mapping.
#[cfg(not(windows))]
pub(crate) const NO_MAP_HANDLE: MapHandle = [];

/// A file that is mapped into memory.
#[derive(Clone, Copy)]
pub(crate) struct Map {
    pub addr: *mut u8,
    /// Length in bytes.
    pub len: usize,
    /// Number of bytes at the beginning, in whole pages, that are pages of the file; behind them is anonymous memory. Only
    /// maintained for [`MapKind::Private`].
    pub file_backed_len: usize,
    /// The system's handle of the mapping.
    pub handle: MapHandle,
}

/// The handler of the end of a thread; the library has one.
pub(crate) trait ThreadEnd {
    /// Runs when the thread ends. Destructors that run later may register it again.
    fn run();
}
