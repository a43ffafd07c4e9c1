//! The functions of this library and of the reference, and calls of them that check the bytes behind destinations.

use super::blosc1_reference;
use blosc::capi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Defines [`Library`] with a pointer to each function, and how both libraries get them.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of one library.
        #[derive(Clone, Copy)]
        pub struct Library {
            pub name: &'static str,
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        /// Returns this library.
        pub fn ours() -> Library {
            Library { name: OURS, $($name: capi::$name,)* }
        }

        /// Returns the functions of a shared object.
        ///
        /// # Safety
        /// It has functions of these names and types.
        unsafe fn resolve(library: &'static libloading::os::unix::Library) -> Library {
            // SAFETY: the condition of this function.
            unsafe {
                Library {
                    name: "the reference",
                    $($name: *library.get(stringify!($name).as_bytes()).expect("a function"),)*
                }
            }
        }
    };
}

functions! {
    blosc_init();
    blosc_destroy();
    blosc_compress(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
    blosc_compress_ctx(
        c_int, c_int, usize, usize, *const c_void, *mut c_void, usize, *const c_char, usize, c_int) -> c_int;
    blosc_decompress(*const c_void, *mut c_void, usize) -> c_int;
    blosc_decompress_ctx(*const c_void, *mut c_void, usize, c_int) -> c_int;
    blosc_getitem(*const c_void, c_int, c_int, *mut c_void) -> c_int;
    blosc_get_nthreads() -> c_int;
    blosc_set_nthreads(c_int) -> c_int;
    blosc_get_compressor() -> *const c_char;
    blosc_set_compressor(*const c_char) -> c_int;
    blosc_compcode_to_compname(c_int, *mut *const c_char) -> c_int;
    blosc_compname_to_compcode(*const c_char) -> c_int;
    blosc_list_compressors() -> *const c_char;
    blosc_get_version_string() -> *const c_char;
    blosc_get_complib_info(*const c_char, *mut *mut c_char, *mut *mut c_char) -> c_int;
    blosc_free_resources() -> c_int;
    blosc_cbuffer_sizes(*const c_void, *mut usize, *mut usize, *mut usize);
    blosc_cbuffer_validate(*const c_void, usize, *mut usize) -> c_int;
    blosc_cbuffer_metainfo(*const c_void, *mut usize, *mut c_int);
    blosc_cbuffer_versions(*const c_void, *mut c_int, *mut c_int);
    blosc_cbuffer_complib(*const c_void) -> *const c_char;
    blosc_get_blocksize() -> c_int;
    blosc_set_blocksize(usize);
    blosc_set_splitmode(c_int);
}

/// The name of this library.
const OURS: &str = "ours";

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
        unsafe { (library.blosc_set_splitmode)(FORWARD_COMPAT_SPLIT) };
    }
    guard
}

/// Loads the reference; `None`, with a message, if it was not fetched.
///
/// # Panics
/// If it was not fetched and `BLOSC2_REQUIRE_REFERENCE` is set.
pub fn load_reference() -> Option<Library> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let library = match blosc1_reference::open(&root) {
        Ok(library) => library,
        Err(message) => {
            assert!(std::env::var_os("BLOSC2_REQUIRE_REFERENCE").is_none(), "{message}");
            eprintln!("SKIPPED: {message}");
            return None;
        }
    };
    // SAFETY: a library with the functions of the header.
    Some(unsafe { resolve(library) })
}

/// Returns both libraries, and a guard of the settings.
pub fn libraries() -> Option<([Library; 2], MutexGuard<'static, ()>)> {
    let libraries = [ours(), load_reference()?];
    let guard = lock_settings(&libraries);
    Some((libraries, guard))
}

impl Library {
    /// Returns whether this is the library under test.
    pub fn is_ours(&self) -> bool {
        self.name == OURS
    }

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
            (self.blosc_compress_ctx)(
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
        if self.is_ours() {
            assert_canaries(&dest);
        }
        dest.truncate(usize::try_from(rc).map_err(|_| rc)?);
        Ok(dest)
    }

    /// Decompresses a chunk into `len` bytes. Returns the content, or the code of the error.
    pub fn decompress(&self, chunk: &[u8], len: usize, nthreads: c_int) -> Result<Vec<u8>, c_int> {
        let mut dest = vec![CANARY; len + CANARIES];
        // SAFETY: a chunk whose length is that of its header or longer, and a buffer of that length.
        let rc = unsafe {
            (self.blosc_decompress_ctx)(chunk.as_ptr().cast(), dest.as_mut_ptr().cast(), len, nthreads)
        };
        assert_canaries(&dest);
        dest.truncate(usize::try_from(rc).map_err(|_| rc)?);
        Ok(dest)
    }

    /// Reads items of a chunk, which have at most `len` bytes. Returns their bytes, or the code of the error.
    pub fn getitem(&self, chunk: &[u8], start: c_int, nitems: c_int, len: usize) -> Result<Vec<u8>, c_int> {
        let mut dest = vec![CANARY; len + CANARIES];
        // SAFETY: as in `decompress`.
        let rc =
            unsafe { (self.blosc_getitem)(chunk.as_ptr().cast(), start, nitems, dest.as_mut_ptr().cast()) };
        assert_canaries(&dest);
        dest.truncate(usize::try_from(rc).map_err(|_| rc)?);
        Ok(dest)
    }

    /// Returns the results of the functions that read the header of a chunk; `cbytes` is the length for
    /// `blosc_cbuffer_validate`.
    pub fn information(&self, chunk: &[u8], cbytes: usize) -> Information {
        let mut found = Information::default();
        let start = chunk.as_ptr().cast();
        let [nbytes, stored_cbytes, blocksize] = &mut found.sizes;
        // SAFETY: at least 16 bytes, and places for the results.
        unsafe {
            (self.blosc_cbuffer_sizes)(start, nbytes, stored_cbytes, blocksize);
            found.validated = (self.blosc_cbuffer_validate)(start, cbytes, &mut found.validated_nbytes);
            (self.blosc_cbuffer_metainfo)(start, &mut found.typesize, &mut found.flags);
            (self.blosc_cbuffer_versions)(start, &mut found.versions[0], &mut found.versions[1]);
            let complib = (self.blosc_cbuffer_complib)(start);
            found.complib = (!complib.is_null()).then(|| CStr::from_ptr(complib));
        }
        found
    }
}

/// What the functions that read a header return, or store at places that were 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Information {
    sizes: [usize; 3],
    validated: c_int,
    validated_nbytes: usize,
    typesize: usize,
    flags: c_int,
    versions: [c_int; 2],
    complib: Option<&'static CStr>,
}

fn assert_canaries(dest: &[u8]) {
    assert!(dest.ends_with(&[CANARY; CANARIES]), "bytes behind the destination have changed");
}
