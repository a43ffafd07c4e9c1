//! The functions of this library and of the reference, and drawn contents.

use blosc::capi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

type CompressCtx = unsafe extern "C" fn(
    c_int,
    c_int,
    usize,
    usize,
    *const c_void,
    *mut c_void,
    usize,
    *const c_char,
    usize,
    c_int,
) -> c_int;

/// The functions that are compared.
pub struct Library {
    pub name: &'static str,
    pub compress_ctx: CompressCtx,
    pub decompress_ctx: unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int) -> c_int,
    pub getitem: unsafe extern "C" fn(*const c_void, c_int, c_int, *mut c_void) -> c_int,
    pub cbuffer_sizes: unsafe extern "C" fn(*const c_void, *mut usize, *mut usize, *mut usize),
    pub cbuffer_validate: unsafe extern "C" fn(*const c_void, usize, *mut usize) -> c_int,
    pub cbuffer_metainfo: unsafe extern "C" fn(*const c_void, *mut usize, *mut c_int),
    pub set_splitmode: unsafe extern "C" fn(c_int),
}

/// The codecs of Blosc 1.
pub const CODECS: [&CStr; 6] = [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd"];

/// The byte behind destinations, which must not change.
const CANARY: u8 = 0xA5;
/// Number of these bytes.
const CANARIES: usize = 64;

/// The default split mode (`blosc_set_splitmode`).
pub const FORWARD_COMPAT_SPLIT: i32 = 4;

/// Waits until no other test depends on the split mode, a setting of the process, and sets it to its default.
pub fn lock_settings(libraries: &[Library]) -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    for library in libraries {
        // SAFETY: a setting.
        unsafe { (library.set_splitmode)(FORWARD_COMPAT_SPLIT) };
    }
    guard
}

/// Returns this library.
pub fn ours() -> Library {
    Library {
        name: "ours",
        compress_ctx: capi::blosc_compress_ctx,
        decompress_ctx: capi::blosc_decompress_ctx,
        getitem: capi::blosc_getitem,
        cbuffer_sizes: capi::blosc_cbuffer_sizes,
        cbuffer_validate: capi::blosc_cbuffer_validate,
        cbuffer_metainfo: capi::blosc_cbuffer_metainfo,
        set_splitmode: capi::blosc_set_splitmode,
    }
}

/// Loads the reference; `None`, with a message, if it was not fetched.
///
/// # Panics
/// If it was not fetched and `BLOSC2_REQUIRE_REFERENCE` is set.
pub fn load_reference() -> Option<Library> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reference-blosc1");
    let mut files: Vec<_> =
        std::fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().contains(".so."));
    if files.is_empty() {
        assert!(
            std::env::var_os("BLOSC2_REQUIRE_REFERENCE").is_none(),
            "scripts/fetch-blosc1.sh was not run"
        );
        eprintln!("SKIPPED: C-Blosc 1 was not fetched (scripts/fetch-blosc1.sh)");
        return None;
    }
    // The codecs first: the library finds them by their names once they are loaded.
    files.sort_by_key(|path| path.to_string_lossy().contains("libblosc"));
    let mut last = None;
    for path in files {
        // SAFETY: C libraries without requirements for their initialisation.
        let library = unsafe { libloading::Library::new(&path) }.expect("a library");
        last = Some(Box::leak(Box::new(library)));
    }
    let library: &libloading::Library = last?;
    // SAFETY: the types of the functions of the header.
    unsafe {
        Some(Library {
            name: "the reference",
            compress_ctx: *library.get(b"blosc_compress_ctx").expect("a function"),
            decompress_ctx: *library.get(b"blosc_decompress_ctx").expect("a function"),
            getitem: *library.get(b"blosc_getitem").expect("a function"),
            cbuffer_sizes: *library.get(b"blosc_cbuffer_sizes").expect("a function"),
            cbuffer_validate: *library.get(b"blosc_cbuffer_validate").expect("a function"),
            cbuffer_metainfo: *library.get(b"blosc_cbuffer_metainfo").expect("a function"),
            set_splitmode: *library.get(b"blosc_set_splitmode").expect("a function"),
        })
    }
}

impl Library {
    /// Compresses `src`; `arguments` are level, shuffle and item size. Returns the chunk, empty if it does not fit, or the
    /// code of the error.
    pub fn compress(
        &self,
        (clevel, doshuffle, typesize): (c_int, c_int, usize),
        src: &[u8],
        destsize: usize,
        codec: &CStr,
        blocksize: usize,
        nthreads: c_int,
    ) -> Result<Vec<u8>, c_int> {
        let mut dest = vec![CANARY; destsize + CANARIES];
        // SAFETY: buffers of these lengths.
        let rc = unsafe {
            (self.compress_ctx)(
                clevel,
                doshuffle,
                typesize,
                src.len(),
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                destsize,
                codec.as_ptr(),
                blocksize,
                nthreads,
            )
        };
        // The reference may write beyond a short destination (blosc1.md 12.1).
        if self.name == "ours" {
            assert_canaries(&dest);
        }
        dest.truncate(usize::try_from(rc).map_err(|_| rc)?);
        Ok(dest)
    }

    /// Decompresses a chunk into `len` bytes. Returns the content, or the code of the error.
    pub fn decompress(&self, chunk: &[u8], len: usize, nthreads: c_int) -> Result<Vec<u8>, c_int> {
        let mut dest = vec![CANARY; len + CANARIES];
        // SAFETY: a chunk whose length is that of its header or longer, and a buffer of that length.
        let rc =
            unsafe { (self.decompress_ctx)(chunk.as_ptr().cast(), dest.as_mut_ptr().cast(), len, nthreads) };
        assert_canaries(&dest);
        dest.truncate(usize::try_from(rc).map_err(|_| rc)?);
        Ok(dest)
    }

    /// Reads items of a chunk, which have at most `len` bytes. Returns their bytes, or the code of the error.
    pub fn getitem(&self, chunk: &[u8], start: c_int, nitems: c_int, len: usize) -> Result<Vec<u8>, c_int> {
        let mut dest = vec![CANARY; len + CANARIES];
        // SAFETY: as in `decompress`.
        let rc = unsafe { (self.getitem)(chunk.as_ptr().cast(), start, nitems, dest.as_mut_ptr().cast()) };
        assert_canaries(&dest);
        dest.truncate(usize::try_from(rc).map_err(|_| rc)?);
        Ok(dest)
    }

    /// Returns the results of the functions that read the header of a chunk.
    pub fn information(&self, chunk: &[u8]) -> ([usize; 3], c_int, usize, usize, c_int) {
        let (mut sizes, mut nbytes, mut typesize, mut flags) = ([7; 3], 7, 7, 7);
        let chunk_start = chunk.as_ptr().cast();
        let [a, b, c] = &mut sizes;
        // SAFETY: a chunk, and places for the results.
        let validated = unsafe {
            (self.cbuffer_sizes)(chunk_start, a, b, c);
            (self.cbuffer_metainfo)(chunk_start, &mut typesize, &mut flags);
            (self.cbuffer_validate)(chunk_start, chunk.len(), &mut nbytes)
        };
        (sizes, validated, nbytes, typesize, flags)
    }
}

fn assert_canaries(dest: &[u8]) {
    assert!(dest.ends_with(&[CANARY; CANARIES]), "bytes behind the destination have changed");
}

/// A generator of pseudo-random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// Returns `len` bytes: noise, one value, numbers, words, or small values.
    pub fn content(&mut self, len: usize) -> Vec<u8> {
        match self.below(5) {
            0 => (0..len).map(|_| self.next() as u8).collect(),
            1 => vec![self.next() as u8; len],
            2 => {
                let step = 1 + self.below(50) as u32;
                (0..len.div_ceil(4) as u32).flat_map(|i| (i * step).to_le_bytes()).take(len).collect()
            }
            3 => {
                let words: Vec<Vec<u8>> = (0..16)
                    .map(|_| {
                        let len = 1 + self.below(12);
                        (0..len).map(|_| self.next() as u8).collect()
                    })
                    .collect();
                let mut bytes = Vec::with_capacity(len + 16);
                while bytes.len() < len {
                    bytes.extend_from_slice(&words[self.below(16)]);
                }
                bytes.truncate(len);
                bytes
            }
            _ => (0..len).map(|_| (self.next() % 11 % 5) as u8).collect(),
        }
    }
}
