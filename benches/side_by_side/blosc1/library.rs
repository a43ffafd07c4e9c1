//! A shared object with the functions of Blosc 1, loaded by path: ours and C-Blosc 1.21.6.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library as OsLibrary, RTLD_LOCAL, RTLD_NOW};

use crate::support::blosc1_reference;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) -> $ret:ty;)*) => {
        /// A loaded library: one typed pointer per function.
        pub struct Blosc1Library {
            name: &'static str,
            $($name: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl Blosc1Library {
            /// Resolves each function; panics with the name of the function if one is missing.
            fn resolve(name: &'static str, path: &Path, loaded: &OsLibrary) -> Blosc1Library {
                Blosc1Library {
                    name,
                    $($name: {
                        // SAFETY: the symbol, if present, is the function of that name, whose type is that of `blosc.h`.
                        let symbol = unsafe {
                            loaded.get::<unsafe extern "C" fn($($arg),*) -> $ret>(stringify!($name))
                        };
                        *symbol.unwrap_or_else(|_| panic!("{} has no function {}", path.display(), stringify!($name)))
                    },)*
                }
            }
        }
    };
}

functions! {
    blosc_init() -> ();
    blosc_set_nthreads(c_int) -> c_int;
    blosc_set_compressor(*const c_char) -> c_int;
    blosc_compress(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
    blosc_decompress(*const c_void, *mut c_void, usize) -> c_int;
    blosc_compress_ctx(
        c_int, c_int, usize, usize, *const c_void, *mut c_void, usize, *const c_char, usize, c_int) -> c_int;
    blosc_decompress_ctx(*const c_void, *mut c_void, usize, c_int) -> c_int;
    blosc_getitem(*const c_void, c_int, c_int, *mut c_void) -> c_int;
}

/// The arguments of a compression.
#[derive(Clone)]
pub struct Settings {
    pub codec: CString,
    pub clevel: u8,
    /// 0: none, 1: byte shuffle, 2: bit shuffle.
    pub shuffle: u8,
    /// Item size in bytes.
    pub typesize: usize,
    pub nthreads: i16,
    /// Whether the functions with the settings of the process are called, not those with `_ctx`.
    pub is_global: bool,
}

impl Blosc1Library {
    /// Returns `libblosc.so` of the directory of the benchmark, `target/release/deps/`, or of its parent.
    ///
    /// # Errors
    /// What to do if it was not built.
    pub fn ours() -> Result<Blosc1Library, String> {
        let executable = std::env::current_exe().map_err(|error| error.to_string())?;
        let directories = executable.ancestors().skip(1).take(2);
        let path = directories
            .map(|directory| directory.join("libblosc.so"))
            .filter(|path| path.is_file())
            .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
            .ok_or("no libblosc.so (run cargo build --release -p libblosc1-rs)")?;
        // SAFETY: the library has no initialisers that others can observe.
        let loaded = unsafe { OsLibrary::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| format!("cannot load {}: {error}", path.display()))?;
        // Never unloaded: the function pointers must stay valid for the rest of the process.
        Ok(Blosc1Library::initialised("ours", &path, Box::leak(Box::new(loaded))))
    }

    /// Returns the library that `scripts/fetch-blosc1.sh` fetched.
    ///
    /// # Errors
    /// What to do if it was not fetched.
    pub fn reference() -> Result<Blosc1Library, String> {
        let loaded = blosc1_reference::open(Path::new(env!("CARGO_MANIFEST_DIR")))?;
        Ok(Blosc1Library::initialised("reference", Path::new("C-Blosc 1"), loaded))
    }

    fn initialised(name: &'static str, path: &Path, loaded: &'static OsLibrary) -> Blosc1Library {
        let library = Blosc1Library::resolve(name, path, loaded);
        // SAFETY: takes no argument.
        unsafe { (library.blosc_init)() };
        library
    }

    /// Sets what the functions without `_ctx` read.
    pub fn apply(&self, settings: &Settings) {
        // SAFETY: the name ends with NUL.
        unsafe {
            (self.blosc_set_nthreads)(c_int::from(settings.nthreads));
            assert!((self.blosc_set_compressor)(settings.codec.as_ptr()) >= 0, "{}: no codec", self.name);
        }
    }

    /// Compresses `src` into `dest`. Returns the length of the chunk in bytes.
    ///
    /// # Panics
    /// If the library returns no chunk.
    pub fn compress(&self, settings: &Settings, src: &[u8], dest: &mut [u8]) -> usize {
        let Settings { clevel, shuffle, typesize, nthreads, .. } = *settings;
        let (clevel, shuffle) = (c_int::from(clevel), c_int::from(shuffle));
        let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
        // SAFETY: buffers of the given lengths, and a name that ends with NUL.
        let cbytes = unsafe {
            match settings.is_global {
                true => (self.blosc_compress)(clevel, shuffle, typesize, src.len(), from, to, dest.len()),
                false => (self.blosc_compress_ctx)(
                    clevel,
                    shuffle,
                    typesize,
                    src.len(),
                    from,
                    to,
                    dest.len(),
                    CStr::as_ptr(&settings.codec),
                    0,
                    c_int::from(nthreads),
                ),
            }
        };
        assert!(cbytes > 0, "{}: compression gives {cbytes}", self.name);
        cbytes as usize
    }

    /// Decompresses `chunk`, a whole chunk of a library, into `dest`, which has the length of the content.
    ///
    /// # Panics
    /// If the library returns another length.
    pub fn decompress(&self, settings: &Settings, chunk: &[u8], dest: &mut [u8]) {
        let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
        // SAFETY: a whole chunk, and a buffer of the given length.
        let nbytes = unsafe {
            match settings.is_global {
                true => (self.blosc_decompress)(from, to, dest.len()),
                false => (self.blosc_decompress_ctx)(from, to, dest.len(), c_int::from(settings.nthreads)),
            }
        };
        assert!(nbytes as usize == dest.len(), "{}: decompression gives {nbytes}", self.name);
    }

    /// Reads `count` items of `chunk` from item `start` on into `dest`, which has their length.
    ///
    /// # Panics
    /// If the library returns another length.
    pub fn getitem(&self, chunk: &[u8], start: i32, count: usize, dest: &mut [u8]) {
        let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
        // SAFETY: a whole chunk, and a buffer with room for the items.
        let nbytes = unsafe { (self.blosc_getitem)(from, start, count as c_int, to) };
        assert!(nbytes as usize == dest.len(), "{}: items {start} + {count}: {nbytes}", self.name);
    }
}
