//! A libblosc2 shared object, loaded by path, with typed pointers to the chunk-level functions (abi.md 2.1-2.4, 2.9).
//! Two of them can be loaded in one process: each is loaded with local visibility and resolves its own symbols.

use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library as OsLibrary;

use blosc2::abi::{
    blosc_threads_callback, blosc2_codec, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_filter,
    blosc2_io_cb, blosc2_tuner,
};

/// An opaque context.
pub type Context = *mut blosc2_context;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// A loaded library: one typed pointer per function.
        pub struct Library {
            /// Name in messages: `ours` or `reference`.
            pub name: &'static str,
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl Library {
            /// Resolves every function; panics with the name of the function if one is missing.
            fn resolve(name: &'static str, path: &Path, loaded: &OsLibrary) -> Library {
                Library {
                    name,
                    $($name: {
                        // SAFETY: the symbol, if present, is the function of that name of the ABI, with the type
                        // stated in abi.md 2.
                        let symbol = unsafe {
                            loaded.get::<unsafe extern "C" fn($($arg),*) $(-> $ret)?>(stringify!($name))
                        };
                        *symbol.unwrap_or_else(|_| {
                            panic!("{} has no function {}", path.display(), stringify!($name))
                        })
                    },)*
                }
            }
        }
    };
}

functions! {
    blosc2_init();
    blosc2_destroy();
    blosc2_free_resources() -> c_int;
    blosc2_error_string(c_int) -> *const c_char;
    blosc2_get_version_string() -> *const c_char;
    blosc2_list_compressors() -> *const c_char;
    blosc2_compcode_to_compname(c_int, *mut *const c_char) -> c_int;
    blosc2_compname_to_compcode(*const c_char) -> c_int;
    blosc2_get_complib_info(*const c_char, *mut *mut c_char, *mut *mut c_char) -> c_int;
    blosc2_get_nthreads() -> i16;
    blosc2_set_nthreads(i16) -> i16;
    blosc1_get_compressor() -> *const c_char;
    blosc1_set_compressor(*const c_char) -> c_int;
    blosc2_set_delta(c_int);
    blosc1_get_blocksize() -> c_int;
    blosc1_set_blocksize(usize);
    blosc1_set_splitmode(c_int);
    blosc2_register_codec(*mut blosc2_codec) -> c_int;
    blosc2_register_filter(*mut blosc2_filter) -> c_int;
    blosc2_register_tuner(*mut blosc2_tuner) -> c_int;
    blosc2_set_threads_callback(blosc_threads_callback, *mut c_void);
    blosc2_get_blosc2_cparams_defaults() -> blosc2_cparams;
    blosc2_get_blosc2_dparams_defaults() -> blosc2_dparams;
    blosc1_compress(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
    blosc1_decompress(*const c_void, *mut c_void, usize) -> c_int;
    blosc1_getitem(*const c_void, c_int, c_int, *mut c_void) -> c_int;
    blosc2_compress(c_int, c_int, i32, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_decompress(*const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_getitem(*const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc1_cbuffer_sizes(*const c_void, *mut usize, *mut usize, *mut usize);
    blosc2_cbuffer_sizes(*const c_void, *mut i32, *mut i32, *mut i32) -> c_int;
    blosc1_cbuffer_validate(*const c_void, usize, *mut usize) -> c_int;
    blosc1_cbuffer_metainfo(*const c_void, *mut usize, *mut c_int);
    blosc2_cbuffer_versions(*const c_void, *mut c_int, *mut c_int);
    blosc2_cbuffer_complib(*const c_void) -> *const c_char;
    blosc2_chunk_zeros(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_nans(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_uninit(blosc2_cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_repeatval(blosc2_cparams, i32, *mut c_void, i32, *const c_void) -> c_int;
    blosc2_vlchunk_get_nblocks(*const c_void, i32, *mut i32) -> c_int;
    blosc2_create_cctx(blosc2_cparams) -> Context;
    blosc2_create_dctx(blosc2_dparams) -> Context;
    blosc2_free_ctx(Context);
    blosc2_ctx_get_cparams(Context, *mut blosc2_cparams) -> c_int;
    blosc2_ctx_get_dparams(Context, *mut blosc2_dparams) -> c_int;
    blosc2_set_maskout(Context, *mut u8, c_int) -> c_int;
    blosc2_compress_ctx(Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_decompress_ctx(Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_getitem_ctx(Context, *const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc2_getitem_bytes_ctx(Context, *const c_void, i32, i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vlcompress_ctx(Context, *const *const c_void, *const i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vldecompress_ctx(Context, *const c_void, i32, *mut *mut c_void, *mut i32, i32) -> c_int;
    blosc2_vldecompress_block_ctx(Context, *const c_void, i32, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_shuffle(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_unshuffle(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_bitshuffle(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_bitunshuffle(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_unidim_to_multidim(u8, *mut i64, i64, *mut i64);
    blosc2_multidim_to_unidim(*const i64, i8, *const i64, *mut i64);
    blosc2_register_io_cb(*const blosc2_io_cb) -> c_int;
    blosc2_get_io_cb(u8) -> *mut blosc2_io_cb;
    blosc2_stdio_open(*const c_char, *const c_char, *mut c_void) -> *mut c_void;
    blosc2_stdio_close(*mut c_void) -> c_int;
    blosc2_stdio_size(*mut c_void) -> i64;
    blosc2_stdio_write(*const c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_read(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_truncate(*mut c_void, i64) -> c_int;
    blosc2_stdio_destroy(*mut c_void) -> c_int;
    blosc2_stdio_mmap_open(*const c_char, *const c_char, *mut c_void) -> *mut c_void;
    blosc2_stdio_mmap_close(*mut c_void) -> c_int;
    blosc2_stdio_mmap_size(*mut c_void) -> i64;
    blosc2_stdio_mmap_write(*const c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_mmap_read(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_mmap_truncate(*mut c_void, i64) -> c_int;
    blosc2_stdio_mmap_destroy(*mut c_void) -> c_int;
    blosc2_remove_dir(*const c_char) -> c_int;
    blosc2_remove_urlpath(*const c_char) -> c_int;
    blosc2_rename_urlpath(*mut c_char, *mut c_char) -> c_int;
    b2nd_serialize_meta(i8, *const i64, *const i32, *const i32, *const c_char, i8, *mut *mut u8) -> c_int;
    b2nd_deserialize_meta(
        *const u8, i32, *mut i8, *mut i64, *mut i32, *mut i32, *mut *mut c_char, *mut i8) -> c_int;
    b2nd_copy_buffer(
        i8, u8, *const c_void, *const i64, *const i64, *const i64,
        *mut c_void, *const i64, *const i64) -> c_int;
    b2nd_copy_buffer2(
        i8, i32, *const c_void, *const i64, *const i64, *const i64,
        *mut c_void, *const i64, *const i64) -> c_int;
}

impl Library {
    fn load(name: &'static str, path: &Path) -> Library {
        // SAFETY: neither library has observable initialisers (abi.md 1).
        let loaded = unsafe { OsLibrary::new(path) }
            .unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()));
        let library = Library::resolve(name, path, &loaded);
        // Never unloaded: the function pointers must stay valid for the rest of the process.
        std::mem::forget(loaded);
        library
    }

    /// Returns the library that cargo built for this test run. `BLOSC2_UNDER_TEST` selects another shared object,
    /// which serves to test the tests: with the reference on both sides, its known defects are excluded on both.
    pub fn ours() -> &'static Library {
        static OURS: OnceLock<Library> = OnceLock::new();
        OURS.get_or_init(|| {
            let library = Library::load(name_of_ours(), &path_of_ours());
            // SAFETY: takes no argument; called once, before any other function of the library.
            unsafe { (library.blosc2_init)() };
            library
        })
    }

    /// As [`Library::ours`], without `blosc2_init()`: for child processes that test the state before the first call.
    pub fn ours_uninitialised() -> Library {
        Library::load(name_of_ours(), &path_of_ours())
    }

    /// Returns whether this is the reference, in either role.
    pub fn is_reference(&self) -> bool {
        self.name == "reference"
    }

    /// Returns the reference library, if it has been fetched.
    pub fn reference() -> Option<&'static Library> {
        static REFERENCE: OnceLock<Option<Library>> = OnceLock::new();
        REFERENCE
            .get_or_init(|| {
                let library = Library::load("reference", &path_of_reference()?);
                // SAFETY: as in `ours`.
                unsafe { (library.blosc2_init)() };
                Some(library)
            })
            .as_ref()
    }

    /// As [`Library::reference`], without `blosc2_init()`.
    pub fn reference_uninitialised() -> Option<Library> {
        Some(Library::load("reference", &path_of_reference()?))
    }
}

/// The file of the library that Cargo builds.
const FILE_NAME: &str = if cfg!(windows) { "blosc2.dll" } else { "libblosc2.so" };

/// The path of the library in the directory of the test executable, `target/<profile>/deps/`, or in its parent.
pub fn path_of_ours() -> PathBuf {
    if let Some(path) = std::env::var_os("BLOSC2_UNDER_TEST") {
        return PathBuf::from(path);
    }
    let executable = std::env::current_exe().expect("path of the test executable");
    executable
        .ancestors()
        .skip(1)
        .take(2)
        .map(|directory| directory.join(FILE_NAME))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("no {FILE_NAME} beside {}", executable.display()))
}

/// The file named by `BLOSC2_REFERENCE`, none if that is empty; or the file that `scripts/fetch-reference.sh` fetched.
pub fn path_of_reference() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("BLOSC2_REFERENCE") {
        if path.is_empty() {
            return None;
        }
        let path = PathBuf::from(path);
        assert!(path.is_file(), "BLOSC2_REFERENCE names no file: {}", path.display());
        return Some(path);
    }
    let path = super::root().join("reference/blosc2/lib/libblosc2.so");
    path.is_file().then_some(path)
}

/// Returns whether the library called `name` (`ours` or `reference`) has the plugins of a cargo feature. Our library
/// was built with the features of this test, unless `BLOSC2_UNDER_TEST` names another one: then `BLOSC2_FEATURES`
/// lists its features, separated by commas.
pub fn has_feature(name: &str, feature: &str) -> bool {
    if name == "reference" {
        return true;
    }
    match std::env::var("BLOSC2_FEATURES") {
        Ok(features) => features.split(',').any(|one| one == feature),
        Err(_) => match feature {
            "ndlz" => cfg!(feature = "ndlz"),
            "zfp" => cfg!(feature = "zfp"),
            "plugin-filters" => cfg!(feature = "plugin-filters"),
            _ => panic!("the package has no feature {feature}"),
        },
    }
}

fn name_of_ours() -> &'static str {
    if path_of_reference().is_some_and(|path| path == path_of_ours()) { "reference" } else { "ours" }
}
