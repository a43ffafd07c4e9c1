//! The contents of the super-chunks of these tests, which are computable so that any result can be checked; and the
//! creation of super-chunks in every kind of storage.

use std::ffi::CStr;
use std::ops::Deref;
use std::path::Path;
use std::ptr;

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, blosc2_io, blosc2_stdio_mmap};

use crate::support::calls::{Params, dparams};
use crate::support::library::Library;
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::{Store, SuperChunk, c_path};

/// Size of an item in bytes.
pub const ITEM_SIZE: usize = 4;
/// Items per chunk: five blocks, the last of them short.
pub const CHUNK_NITEMS: usize = 4_500;
/// Size of a block in bytes.
pub const BLOCKSIZE: i32 = 4_096;
/// The largest prime below a million: the period of the series.
const PERIOD: usize = 999_983;

/// Returns item `index`: a slowly increasing series with steps, compressible with every codec.
pub fn item(index: usize) -> [u8; ITEM_SIZE] {
    let index = index % PERIOD;
    ((index * 3 + index / 64 % 7) as i32).to_le_bytes()
}

/// Returns `len` items from `start` on.
pub fn items(start: usize, len: usize) -> Vec<u8> {
    (start..start + len).flat_map(item).collect()
}

/// Returns the content of chunk `nchunk`.
pub fn chunk(nchunk: usize) -> Vec<u8> {
    items(nchunk * CHUNK_NITEMS, CHUNK_NITEMS)
}

/// Returns the content of version `version` of the variable-length metalayer.
pub fn note_content(version: u64) -> Vec<u8> {
    vec![version as u8; 10 + (version % 90) as usize]
}

/// The name of that metalayer.
pub const NOTE: &str = "note";

/// How chunks are compressed and read.
#[derive(Clone, Copy, Debug)]
pub struct CodecSettings {
    pub codec: u8,
    pub delta: bool,
    /// Number of threads of the decompression context.
    pub nthreads: i16,
}

impl CodecSettings {
    pub fn params(self) -> Params {
        let filters = if self.delta { [0, 0, 0, 0, 3, 1] } else { [0, 0, 0, 0, 0, 1] };
        Params {
            codec: self.codec,
            typesize: ITEM_SIZE as i32,
            blocksize: BLOCKSIZE,
            filters,
            ..Params::default()
        }
    }
}

/// Returns BloscLZ, LZ4 and Zstandard, with and without delta, read by one thread and by four.
pub fn all_codec_settings() -> Vec<CodecSettings> {
    let mut all = Vec::new();
    for codec in [0, 1, 5] {
        for delta in [false, true] {
            for nthreads in [1, 4] {
                all.push(CodecSettings { codec, delta, nthreads });
            }
        }
    }
    all
}

/// The storage of a super-chunk, and how it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageVariant {
    Unmapped(Store),
    /// A file that is mapped into memory.
    Mapped,
}

impl StorageVariant {
    pub const ALL: [StorageVariant; 5] = [
        StorageVariant::Unmapped(Store::Memory),
        StorageVariant::Unmapped(Store::MemoryFrame),
        StorageVariant::Unmapped(Store::File),
        StorageVariant::Unmapped(Store::Directory),
        StorageVariant::Mapped,
    ];

    /// Whether chunks are returned as pointers into the super-chunk, which are valid until it changes.
    pub fn returns_chunk_pointers(self) -> bool {
        matches!(self, StorageVariant::Unmapped(Store::Memory | Store::MemoryFrame) | StorageVariant::Mapped)
    }
}

/// A super-chunk that threads share.
pub struct SharedSchunk {
    schunk: SuperChunk,
    /// The parameters and the state of the mapping; it must outlive the super-chunk.
    _mapping: Option<Box<blosc2_stdio_mmap>>,
}

// SAFETY: the tests check that threads may share it.
unsafe impl Sync for SharedSchunk {}
// SAFETY: as above.
unsafe impl Send for SharedSchunk {}

impl Deref for SharedSchunk {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        &self.schunk
    }
}

fn mmap_params(mode: &'static CStr) -> Box<blosc2_stdio_mmap> {
    Box::new(blosc2_stdio_mmap {
        mode: mode.as_ptr(),
        // Small, so that the mapping moves as the file grows.
        initial_mapping_size: 1,
        ..BLOSC2_STDIO_MMAP_DEFAULTS
    })
}

/// Sets another number of threads for reading by replacing the context, as C programs do.
pub fn set_read_threads(schunk: &SuperChunk, nthreads: i16) {
    let mut dparams = dparams(nthreads);
    dparams.schunk = schunk.raw().cast();
    // SAFETY: a live super-chunk that no other thread uses yet; its old context is freed once.
    unsafe {
        let dctx = (schunk.library.blosc2_create_dctx)(dparams);
        assert!(!dctx.is_null());
        (schunk.library.blosc2_free_ctx)((*schunk.raw()).dctx);
        (*schunk.raw()).dctx = dctx;
    }
}

/// Creates a super-chunk with `nchunks` chunks and the metalayers, for several threads. A mapped one can be changed
/// if `writable`.
pub fn create_filled(
    library: &'static Library,
    variant: StorageVariant,
    path: &Path,
    settings: CodecSettings,
    nchunks: usize,
    writable: bool,
) -> SharedSchunk {
    let store = match variant {
        StorageVariant::Unmapped(store) => store,
        StorageVariant::Mapped => Store::File,
    };
    let schunk = SuperChunk::create(library, store, path, &settings.params());
    assert_eq!(schunk.meta_add("fixed", b"metalayer"), 0);
    for n in 0..nchunks {
        assert_eq!(schunk.append(&chunk(n)), Ok(n as i64 + 1));
    }
    assert_eq!(schunk.vlmeta_add("other", &note_content(3)), 0);
    assert_eq!(schunk.vlmeta_add(NOTE, &note_content(0)), 1);
    let shared = if variant == StorageVariant::Mapped {
        drop(schunk);
        map(library, path, if writable { c"r+" } else { c"r" })
    } else {
        SharedSchunk { schunk, _mapping: None }
    };
    set_read_threads(&shared, settings.nthreads);
    shared
}

/// Opens a super-chunk on disk.
pub fn open(library: &'static Library, path: &Path) -> SharedSchunk {
    let schunk = SuperChunk::open(library, path).expect("a super-chunk");
    SharedSchunk { schunk, _mapping: None }
}

/// Opens a file that is mapped into memory with that mode.
pub fn map(library: &'static Library, path: &Path, mode: &'static CStr) -> SharedSchunk {
    let mut params = mmap_params(mode);
    let io =
        blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params: ptr::from_mut(&mut *params).cast() };
    let path = c_path(path);
    // SAFETY: a terminated path, and parameters that outlive the super-chunk.
    let raw = unsafe { (Functions::of(library).blosc2_schunk_open_udio)(path.as_ptr(), &io) };
    let schunk = SuperChunk::from_raw(library, raw).expect("a mapped super-chunk");
    SharedSchunk { schunk, _mapping: Some(params) }
}

/// Returns how long threads work on one kind of super-chunk; the environment sets it in seconds.
pub fn duration() -> std::time::Duration {
    match std::env::var("BLOSC2_CONCURRENCY_SECONDS") {
        Ok(text) => std::time::Duration::from_secs(text.trim().parse().expect("a number of seconds")),
        Err(_) => std::time::Duration::from_millis(600),
    }
}

/// Prints a line to the terminal in long runs, bypassing the capture of the test runner.
pub fn print_in_long_runs(text: &str) {
    use std::io::Write;
    let is_long = std::env::vars().any(|(name, _)| name.starts_with("BLOSC2_CONCURRENCY_"));
    if is_long {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}
