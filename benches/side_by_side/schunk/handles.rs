//! Super-chunks to measure: their stores, data and files, and thin wrappers of the calls that are timed.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_io, blosc2_stdio_mmap, blosc2_storage};

use crate::Bench;
use crate::calls::{Params, dparams};
use crate::datasets::Dataset;
use crate::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, c_path};

/// The item size in bytes.
pub const TYPESIZE: usize = 4;
/// The size of a large chunk in bytes.
pub const LARGE_CHUNKSIZE: usize = 256 << 10;
/// The size of a small chunk in bytes.
pub const SMALL_CHUNKSIZE: usize = 4 << 10;

/// Returns the number of small chunks. 1000 take two minutes, since the reference rewrites large parts of the frame;
/// quick mode uses 100.
pub fn small_chunk_count(bench: &Bench) -> usize {
    if bench.options.full { 1000 } else { 100 }
}

/// The store of a super-chunk, and how its file is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StorageVariant {
    In(Store),
    /// A contiguous frame on disk that is mapped into memory; read-only.
    Mapped,
}

impl StorageVariant {
    pub const ALL: [StorageVariant; 5] = [
        StorageVariant::In(Store::Memory),
        StorageVariant::In(Store::MemoryFrame),
        StorageVariant::In(Store::File),
        StorageVariant::In(Store::Directory),
        StorageVariant::Mapped,
    ];

    /// Returns the name in the report.
    pub fn name(self) -> &'static str {
        match self {
            StorageVariant::In(Store::Memory) => "memory",
            StorageVariant::In(Store::MemoryFrame) => "memory-frame",
            StorageVariant::In(Store::File) => "file",
            StorageVariant::In(Store::Directory) => "directory",
            StorageVariant::Mapped => "mapped-file",
        }
    }
}

/// Returns the compression parameters: LZ4 at level 5 after shuffle.
pub fn params() -> Params {
    Params { codec: 1, clevel: 5, typesize: TYPESIZE as i32, ..Params::default() }
}

/// Returns `nbytes` bytes of the generated data set `name`.
pub fn dataset_bytes(name: &str, nbytes: usize) -> Vec<u8> {
    Dataset::load(&[name.to_string()], nbytes).remove(0).bytes
}

/// Creates a super-chunk with `nthreads` threads for decompression and blocks of `blocksize` bytes (0: the library
/// chooses).
fn create(library: &'static Library, store: Store, path: &Path, nthreads: i16, blocksize: i32) -> SuperChunk {
    let params = Params { blocksize, ..params() };
    let (mut cparams, mut dparams) = (params.cparams(), dparams(nthreads));
    let path = c_path(path);
    let mut storage = blosc2_storage {
        contiguous: CBool::from(store.is_contiguous()),
        urlpath: if store.is_on_disk() { path.as_ptr().cast_mut() } else { ptr::null_mut() },
        cparams: &mut cparams,
        dparams: &mut dparams,
        io: ptr::null_mut(),
    };
    let functions = crate::support::super_chunk::functions::Functions::of(library);
    // SAFETY: the pointers of `storage` are valid during the call, which copies what they point at.
    let raw = unsafe { (functions.blosc2_schunk_new)(&mut storage) };
    SuperChunk::from_raw(library, raw).unwrap_or_else(|| panic!("{}: no super-chunk", library.name))
}

/// Creates a super-chunk from these chunks. Its block size is that of the chunks: reads of scattered items need it.
pub fn create_with(
    library: &'static Library,
    store: Store,
    path: &Path,
    nthreads: i16,
    chunks: &[Vec<u8>],
) -> SuperChunk {
    let field = |chunk: &Vec<u8>| i32::from_le_bytes(chunk[8..12].try_into().expect("four bytes"));
    let schunk = create(library, store, path, nthreads, chunks.first().map_or(0, field));
    for chunk in chunks {
        schunk.append_chunk(chunk).expect("a chunk to be appended");
    }
    schunk
}

/// Returns the chunks into which the library compresses `data`, `chunksize` uncompressed bytes each.
pub fn compress_chunks(library: &'static Library, data: &[u8], chunksize: usize) -> Vec<Vec<u8>> {
    let schunk = create(library, Store::Memory, Path::new("-"), 1, 0);
    data.chunks(chunksize).for_each(|part| assert!(schunk.append(part).is_ok(), "an append"));
    (0..schunk.nchunks()).map(|n| schunk.get_chunk(n).expect("a chunk")).collect()
}

/// Opens a frame on disk.
pub fn open(library: &'static Library, variant: StorageVariant, path: &Path) -> SuperChunk {
    let opened = match variant {
        StorageVariant::In(_) => SuperChunk::open(library, path),
        StorageVariant::Mapped => {
            // SAFETY: `malloc` accepts any size; the library frees the block with the super-chunk.
            let place: *mut blosc2_stdio_mmap =
                unsafe { libc::malloc(size_of::<blosc2_stdio_mmap>()) }.cast();
            assert!(!place.is_null());
            // SAFETY: `place` is a new allocation of that size, and not NULL.
            unsafe {
                place.write(blosc2_stdio_mmap { needs_free: CBool::TRUE, ..BLOSC2_STDIO_MMAP_DEFAULTS })
            };
            let io = blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params: place.cast() };
            let functions = crate::support::super_chunk::functions::Functions::of(library);
            let path = c_path(path);
            // SAFETY: the path is NUL-terminated; the parameters are a `malloc` block, which the library frees
            // (`needs_free`).
            let raw = unsafe { (functions.blosc2_schunk_open_udio)(path.as_ptr(), &io) };
            SuperChunk::from_raw(library, raw)
        }
    };
    opened.unwrap_or_else(|| panic!("{}: cannot open {}", library.name, path.display()))
}

/// Returns a super-chunk of each library with the same chunks. A frame on disk is written once, by the reference, and
/// opened by both.
pub fn open_pair(
    (ours, reference): (&'static Library, &'static Library),
    variant: StorageVariant,
    scratch: &ScratchDir,
    nthreads: i16,
    chunks: &[Vec<u8>],
) -> [SuperChunk; 2] {
    match variant {
        StorageVariant::In(store) if !store.is_on_disk() => {
            [ours, reference].map(|library| create_with(library, store, Path::new("-"), nthreads, chunks))
        }
        _ => {
            let path = write_frame(reference, variant, scratch, chunks);
            [ours, reference].map(|library| {
                set_open_threads(library, nthreads);
                let schunk = open(library, variant, &path);
                set_open_threads(library, 1);
                schunk
            })
        }
    }
}

/// Sets the number of threads of super-chunks that are opened later.
fn set_open_threads(library: &Library, nthreads: i16) {
    // SAFETY: the function takes any number and no pointer.
    unsafe { (library.blosc2_set_nthreads)(nthreads) };
}

/// Writes a frame with these chunks to disk. Returns its path.
pub fn write_frame(
    library: &'static Library,
    variant: StorageVariant,
    scratch: &ScratchDir,
    chunks: &[Vec<u8>],
) -> std::path::PathBuf {
    let store = if let StorageVariant::In(store) = variant { store } else { Store::File };
    let path = scratch.new_path();
    drop(create_with(library, store, &path, 1, chunks));
    path
}

/// Decompresses a chunk. Returns its size in bytes or an error code.
pub fn decompress(schunk: &SuperChunk, nchunk: i64, dest: &mut [u8]) -> i32 {
    // SAFETY: `dest` is valid for writes of `dest.len()` bytes.
    unsafe {
        (schunk.functions.blosc2_schunk_decompress_chunk)(
            schunk.raw(),
            nchunk,
            dest.as_mut_ptr().cast(),
            dest.len() as i32,
        )
    }
}

/// Reads the items from `start` on that fill `dest`.
pub fn get_slice(schunk: &SuperChunk, start: i64, dest: &mut [u8]) {
    let stop = start + (dest.len() / TYPESIZE) as i64;
    // SAFETY: `dest` has space for the items.
    let rc = unsafe {
        (schunk.functions.blosc2_schunk_get_slice_buffer)(schunk.raw(), start, stop, dest.as_mut_ptr().cast())
    };
    assert_eq!(rc, 0, "{}: items {start}..{stop}", schunk.library.name);
}

/// Reads the items at `coords`.
pub fn get_sparse(schunk: &SuperChunk, coords: &[i64], dest: &mut [u8]) {
    assert_eq!(dest.len(), coords.len() * TYPESIZE);
    // SAFETY: `dest` has space for the items.
    let rc = unsafe {
        (schunk.functions.blosc2_schunk_get_sparse_buffer)(
            schunk.raw(),
            coords.len() as i64,
            coords.as_ptr(),
            dest.as_mut_ptr().cast::<c_void>(),
        )
    };
    assert!(rc >= 0, "{}: get_sparse_buffer gives {rc}", schunk.library.name);
}
