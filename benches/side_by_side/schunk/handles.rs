//! Super-chunks to measure: their stores, their data, and calls without checks of their own. Owns the files.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use blosc2::abi::{BLOSC2_STDIO_MMAP_DEFAULTS, CBool, blosc2_io, blosc2_stdio_mmap, blosc2_storage};

use crate::Bench;
use crate::calls::{Params, dparams};
use crate::datasets::Dataset;
use crate::library::Library;
use crate::support::super_chunk::scratch::Scratch;
use crate::support::super_chunk::{Store, SuperChunk, c_path};

/// Items are of 4 bytes.
pub const TYPESIZE: usize = 4;
/// Bytes of a large chunk.
pub const LARGE: usize = 256 << 10;
/// Bytes of a small chunk.
pub const SMALL: usize = 4 << 10;

/// How many small chunks there are: of a thousand the reference writes anew so much that they take two minutes.
pub fn small_chunks(bench: &Bench) -> usize {
    if bench.options.full { 1000 } else { 100 }
}

/// How a super-chunk is kept, and how its file is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    In(Store),
    /// A contiguous frame on disk, mapped; only for reading.
    Mapped,
}

impl Kept {
    pub const ALL: [Kept; 5] = [
        Kept::In(Store::Memory),
        Kept::In(Store::MemoryFrame),
        Kept::In(Store::File),
        Kept::In(Store::Directory),
        Kept::Mapped,
    ];

    /// What the report calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kept::In(Store::Memory) => "memory",
            Kept::In(Store::MemoryFrame) => "memory-frame",
            Kept::In(Store::File) => "file",
            Kept::In(Store::Directory) => "directory",
            Kept::Mapped => "mapped-file",
        }
    }
}

/// LZ4 at level 5 after shuffle.
pub fn params() -> Params {
    Params { codec: 1, clevel: 5, typesize: TYPESIZE as i32, ..Params::default() }
}

/// Generated data of that name.
pub fn data(name: &str, nbytes: usize) -> Vec<u8> {
    Dataset::load(&[name.to_string()], nbytes).remove(0).bytes
}

/// A new super-chunk whose decompression has so many threads; of blocks of `blocksize` bytes, if that is not 0.
fn create(library: &'static Library, store: Store, path: &Path, nthreads: i16, blocksize: i32) -> SuperChunk {
    let params = Params { blocksize, ..params() };
    let (mut cparams, mut dparams) = (params.cparams(), dparams(nthreads));
    let path = c_path(path);
    let mut storage = blosc2_storage {
        contiguous: CBool::from(store.contiguous()),
        urlpath: if store.on_disk() { path.as_ptr().cast_mut() } else { ptr::null_mut() },
        cparams: &mut cparams,
        dparams: &mut dparams,
        io: ptr::null_mut(),
    };
    let functions = crate::support::super_chunk::functions::Functions::of(library);
    // SAFETY: a storage whose pointers are valid during the call, which copies them.
    let raw = unsafe { (functions.blosc2_schunk_new)(&mut storage) };
    SuperChunk::from_raw(library, raw).unwrap_or_else(|| panic!("{}: no super-chunk", library.name))
}

/// A new super-chunk of these chunks. It knows their block size, which reads here and there want.
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

/// The chunks that a library makes of data.
pub fn chunks_of(library: &'static Library, data: &[u8], chunksize: usize) -> Vec<Vec<u8>> {
    let schunk = create(library, Store::Memory, Path::new("-"), 1, 0);
    data.chunks(chunksize).for_each(|part| assert!(schunk.append(part).is_ok(), "an append"));
    (0..schunk.nchunks()).map(|n| schunk.get_chunk(n).expect("a chunk")).collect()
}

/// Opens a frame on disk.
pub fn open(library: &'static Library, kept: Kept, path: &Path) -> SuperChunk {
    let opened = match kept {
        Kept::In(_) => SuperChunk::open(library, path),
        Kept::Mapped => {
            // SAFETY: any length may be asked for; the library frees it with the super-chunk.
            let place: *mut blosc2_stdio_mmap =
                unsafe { libc::malloc(size_of::<blosc2_stdio_mmap>()) }.cast();
            assert!(!place.is_null());
            // SAFETY: fresh memory of that size.
            unsafe {
                place.write(blosc2_stdio_mmap { needs_free: CBool::TRUE, ..BLOSC2_STDIO_MMAP_DEFAULTS })
            };
            let io = blosc2_io { id: 1, name: c"filesystem_mmap".as_ptr(), params: place.cast() };
            let functions = crate::support::super_chunk::functions::Functions::of(library);
            let path = c_path(path);
            // SAFETY: a terminated path; the parameters are a `malloc` block that the library is to free.
            let raw = unsafe { (functions.blosc2_schunk_open_udio)(path.as_ptr(), &io) };
            SuperChunk::from_raw(library, raw)
        }
    };
    opened.unwrap_or_else(|| panic!("{}: cannot open {}", library.name, path.display()))
}

/// The two libraries' super-chunks of the same chunks. Frames on disk are written once, by the reference.
pub fn pair(
    (ours, reference): (&'static Library, &'static Library),
    kept: Kept,
    scratch: &Scratch,
    nthreads: i16,
    chunks: &[Vec<u8>],
) -> [SuperChunk; 2] {
    match kept {
        Kept::In(store) if !store.on_disk() => {
            [ours, reference].map(|library| create_with(library, store, Path::new("-"), nthreads, chunks))
        }
        _ => {
            let path = written(reference, kept, scratch, chunks);
            [ours, reference].map(|library| {
                with_threads(library, nthreads);
                let schunk = open(library, kept, &path);
                with_threads(library, 1);
                schunk
            })
        }
    }
}

/// The number of threads of what is opened from now on.
fn with_threads(library: &Library, nthreads: i16) {
    // SAFETY: a number of threads.
    unsafe { (library.blosc2_set_nthreads)(nthreads) };
}

/// A frame on disk with these chunks; where.
pub fn written(
    library: &'static Library,
    kept: Kept,
    scratch: &Scratch,
    chunks: &[Vec<u8>],
) -> std::path::PathBuf {
    let store = if let Kept::In(store) = kept { store } else { Store::File };
    let path = scratch.fresh();
    drop(create_with(library, store, &path, 1, chunks));
    path
}

/// Decompresses a chunk; its size.
pub fn decompress(schunk: &SuperChunk, nchunk: i64, dest: &mut [u8]) -> i32 {
    // SAFETY: a destination of its stated length.
    unsafe {
        (schunk.functions.blosc2_schunk_decompress_chunk)(
            schunk.raw(),
            nchunk,
            dest.as_mut_ptr().cast(),
            dest.len() as i32,
        )
    }
}

/// Reads as many items from `start` on as fit into `dest`.
pub fn slice(schunk: &SuperChunk, start: i64, dest: &mut [u8]) {
    let stop = start + (dest.len() / TYPESIZE) as i64;
    // SAFETY: room for the items.
    let rc = unsafe {
        (schunk.functions.blosc2_schunk_get_slice_buffer)(schunk.raw(), start, stop, dest.as_mut_ptr().cast())
    };
    assert_eq!(rc, 0, "{}: items {start}..{stop}", schunk.library.name);
}

/// Reads items here and there.
pub fn sparse(schunk: &SuperChunk, coords: &[i64], dest: &mut [u8]) {
    assert_eq!(dest.len(), coords.len() * TYPESIZE);
    // SAFETY: room for the items.
    let rc = unsafe {
        (schunk.functions.blosc2_schunk_get_sparse_buffer)(
            schunk.raw(),
            coords.len() as i64,
            coords.as_ptr(),
            dest.as_mut_ptr().cast::<c_void>(),
        )
    };
    assert!(rc >= 0, "{}: items here and there: {rc}", schunk.library.name);
}
