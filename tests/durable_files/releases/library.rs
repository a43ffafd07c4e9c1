//! Releases of C-Blosc2, and our library in the same form: the functions on opaque handles that all of them export. The
//! structs differ between the releases, so their fields are not used.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library as OsLibrary;

use crate::support::calls::{BytesResult, len32, with_destination};
use crate::support::library::{path_of_ours, path_of_reference};
use crate::support::super_chunk::c_path;

/// A super-chunk or an array, whose layout is unknown.
type Handle = *mut c_void;

macro_rules! functions {
    ($table:ident: $($name:ident($($arg:ty),*) -> $ret:ty;)*) => {
        /// One typed pointer per function.
        struct $table {
            $($name: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl $table {
            /// Returns `None` if a function is missing.
            fn resolve(loaded: &OsLibrary) -> Option<$table> {
                Some($table {
                    $($name: {
                        // SAFETY: every release exports the function with this type, if at all.
                        *unsafe { loaded.get::<unsafe extern "C" fn($($arg),*) -> $ret>(stringify!($name)) }.ok()?
                    },)*
                })
            }
        }
    };
}

functions! { SchunkFunctions:
    blosc2_init() -> ();
    blosc2_schunk_open(*const c_char) -> Handle;
    blosc2_schunk_free(Handle) -> c_int;
    blosc2_schunk_append_buffer(Handle, *const c_void, i32) -> i64;
    blosc2_schunk_insert_chunk(Handle, i64, *mut u8, bool) -> i64;
    blosc2_schunk_update_chunk(Handle, i64, *mut u8, bool) -> i64;
    blosc2_schunk_delete_chunk(Handle, i64) -> i64;
    blosc2_schunk_decompress_chunk(Handle, i64, *mut c_void, i32) -> c_int;
    blosc2_meta_update(Handle, *const c_char, *mut u8, i32) -> c_int;
    blosc2_vlmeta_add(Handle, *const c_char, *mut u8, i32, *mut c_void) -> c_int;
    blosc2_vlmeta_update(Handle, *const c_char, *mut u8, i32, *mut c_void) -> c_int;
    blosc2_vlmeta_delete(Handle, *const c_char) -> c_int;
    blosc2_vlmeta_get(Handle, *const c_char, *mut *mut u8, *mut i32) -> c_int;
}

functions! { ArrayFunctions:
    b2nd_open(*const c_char, *mut Handle) -> c_int;
    b2nd_free(Handle) -> c_int;
    b2nd_to_cbuffer(Handle, *mut c_void, i64) -> c_int;
    b2nd_set_slice_cbuffer(*const c_void, *const i64, i64, *const i64, *const i64, Handle) -> c_int;
    b2nd_resize(Handle, *const i64, *const i64) -> c_int;
}

/// A loaded release.
pub struct Release {
    /// The version, or `ours`.
    pub version: &'static str,
    schunk: SchunkFunctions,
    /// `None` in releases before 2.7, which have no arrays.
    array: Option<ArrayFunctions>,
}

/// The old releases that `scripts/fetch-old-releases.sh` fetches.
pub const OLD_RELEASES: [&str; 2] = ["2.6.1", "2.15.2"];

impl Release {
    fn load(version: &'static str, path: &Path) -> Release {
        // SAFETY: no release has observable initialisers (abi.md 1).
        let loaded = unsafe { OsLibrary::new(path) }
            .unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()));
        let schunk = SchunkFunctions::resolve(&loaded);
        let schunk = schunk.unwrap_or_else(|| panic!("{} lacks functions", path.display()));
        let array = ArrayFunctions::resolve(&loaded);
        // Never unloaded: the function pointers must stay valid for the rest of the process.
        std::mem::forget(loaded);
        // SAFETY: takes no argument; further calls have no effect.
        unsafe { (schunk.blosc2_init)() };
        Release { version, schunk, array }
    }

    /// Returns our library.
    pub fn ours() -> &'static Release {
        static OURS: OnceLock<Release> = OnceLock::new();
        OURS.get_or_init(|| Release::load("ours", &path_of_ours()))
    }

    /// Returns the releases of C-Blosc2 that have been fetched, and prints which ones are missing. With
    /// `BLOSC2_REQUIRE_REFERENCE=1` a missing reference, release 3.3.5, is a failure.
    pub fn all_others() -> &'static [Release] {
        static OTHERS: OnceLock<Vec<Release>> = OnceLock::new();
        OTHERS.get_or_init(|| {
            let mut found = Vec::new();
            if crate::support::both_libraries().is_some() {
                found.push(Release::load("3.3.5", &path_of_reference().expect("the reference")));
            }
            for version in OLD_RELEASES {
                let path = old_releases_directory().join(version).join("libblosc2.so");
                if path.is_file() {
                    found.push(Release::load(version, &path));
                } else {
                    // Writes to stderr directly: the test runner captures the output of the print macros.
                    use std::io::Write;
                    let why = format!("no C-Blosc2 {version} (run scripts/fetch-old-releases.sh)");
                    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
                }
            }
            found
        })
    }

    pub fn has_arrays(&self) -> bool {
        self.array.is_some()
    }

    pub fn open_schunk(&self, path: &Path) -> Option<Schunk<'_>> {
        let path = c_path(path);
        // SAFETY: a terminated path.
        let raw = unsafe { (self.schunk.blosc2_schunk_open)(path.as_ptr()) };
        (!raw.is_null()).then_some(Schunk { functions: &self.schunk, raw })
    }

    /// Opens an array; the release must have them.
    pub fn open_array(&self, path: &Path) -> Option<Array<'_>> {
        let (path, mut raw) = (c_path(path), ptr::null_mut());
        let functions = self.array.as_ref().expect("a release with arrays");
        // SAFETY: a terminated path and an out-pointer.
        let code = unsafe { (functions.b2nd_open)(path.as_ptr(), &mut raw) };
        (code == 0).then_some(Array { functions, raw })
    }
}

/// The directory with one folder per old release.
fn old_releases_directory() -> PathBuf {
    std::env::var_os("BLOSC2_OLD_RELEASES")
        .map_or_else(|| crate::support::root().join("reference/releases"), PathBuf::from)
}

/// Converts a metalayer name to a C string.
fn c_name(name: &str) -> CString {
    CString::new(name).expect("a name without NUL")
}

/// A super-chunk that is freed when dropped. Codes that count are returned as they are.
pub struct Schunk<'a> {
    functions: &'a SchunkFunctions,
    raw: Handle,
}

impl Schunk<'_> {
    pub fn append(&self, bytes: &[u8]) -> i64 {
        // SAFETY: a source of its stated length.
        unsafe { (self.functions.blosc2_schunk_append_buffer)(self.raw, bytes.as_ptr().cast(), len32(bytes)) }
    }

    pub fn insert(&self, nchunk: i64, chunk: &[u8]) -> i64 {
        // SAFETY: a chunk that is copied and not written to.
        unsafe {
            (self.functions.blosc2_schunk_insert_chunk)(self.raw, nchunk, chunk.as_ptr().cast_mut(), true)
        }
    }

    pub fn update(&self, nchunk: i64, chunk: &[u8]) -> i64 {
        // SAFETY: as in `insert`.
        unsafe {
            (self.functions.blosc2_schunk_update_chunk)(self.raw, nchunk, chunk.as_ptr().cast_mut(), true)
        }
    }

    pub fn delete(&self, nchunk: i64) -> i64 {
        // SAFETY: a live super-chunk.
        unsafe { (self.functions.blosc2_schunk_delete_chunk)(self.raw, nchunk) }
    }

    pub fn decompress(&self, nchunk: i64, nbytes: usize) -> BytesResult {
        let (code, mut dest) = with_destination(nbytes, |dest| {
            // SAFETY: a destination of its stated length.
            unsafe {
                (self.functions.blosc2_schunk_decompress_chunk)(
                    self.raw,
                    nchunk,
                    dest.as_mut_ptr().cast(),
                    len32(dest),
                )
            }
        });
        dest.truncate(usize::try_from(code).map_err(|_| code)?);
        Ok(dest)
    }

    pub fn meta_update(&self, name: &str, bytes: &[u8]) -> i32 {
        let name = c_name(name);
        // SAFETY: a terminated name and a content of its stated length, which is copied.
        unsafe {
            (self.functions.blosc2_meta_update)(
                self.raw,
                name.as_ptr(),
                bytes.as_ptr().cast_mut(),
                len32(bytes),
            )
        }
    }

    /// Adds a variable-length metalayer, or updates it.
    pub fn vlmeta_set(&self, name: &str, bytes: &[u8], is_new: bool) -> i32 {
        let function = match is_new {
            true => self.functions.blosc2_vlmeta_add,
            false => self.functions.blosc2_vlmeta_update,
        };
        let name = c_name(name);
        // SAFETY: as in `meta_update`; without parameters the library takes its defaults.
        unsafe { function(self.raw, name.as_ptr(), bytes.as_ptr().cast_mut(), len32(bytes), ptr::null_mut()) }
    }

    pub fn vlmeta_delete(&self, name: &str) -> i32 {
        let name = c_name(name);
        // SAFETY: a terminated name.
        unsafe { (self.functions.blosc2_vlmeta_delete)(self.raw, name.as_ptr()) }
    }

    pub fn vlmeta_get(&self, name: &str) -> BytesResult {
        let (name, mut content, mut len) = (c_name(name), ptr::null_mut(), 0);
        // SAFETY: valid out-pointers; the caller frees the content, which has `len` bytes.
        unsafe {
            let code = (self.functions.blosc2_vlmeta_get)(self.raw, name.as_ptr(), &mut content, &mut len);
            if code < 0 {
                return Err(code);
            }
            let bytes = std::slice::from_raw_parts(content, len as usize).to_vec();
            libc::free(content.cast());
            Ok(bytes)
        }
    }
}

impl Drop for Schunk<'_> {
    fn drop(&mut self) {
        // SAFETY: a live super-chunk, freed once.
        unsafe { (self.functions.blosc2_schunk_free)(self.raw) };
    }
}

/// An array that is freed when dropped.
pub struct Array<'a> {
    functions: &'a ArrayFunctions,
    raw: Handle,
}

impl Array<'_> {
    /// Returns all items, which have `nbytes` bytes.
    pub fn items(&self, nbytes: usize) -> BytesResult {
        let (code, dest) = with_destination(nbytes, |dest| {
            // SAFETY: a destination of its stated length.
            unsafe { (self.functions.b2nd_to_cbuffer)(self.raw, dest.as_mut_ptr().cast(), dest.len() as i64) }
        });
        if code < 0 { Err(code) } else { Ok(dest) }
    }

    /// Writes a box; `items` has its size.
    pub fn set(&self, start: &[i64; 2], stop: &[i64; 2], items: &[u8]) -> i32 {
        let shape = [stop[0] - start[0], stop[1] - start[1]];
        // SAFETY: two numbers in each list, as the arrays of these tests have two dimensions.
        unsafe {
            (self.functions.b2nd_set_slice_cbuffer)(
                items.as_ptr().cast(),
                shape.as_ptr(),
                items.len() as i64,
                start.as_ptr(),
                stop.as_ptr(),
                self.raw,
            )
        }
    }

    pub fn resize(&self, shape: &[i64; 2]) -> i32 {
        // SAFETY: as in `set`; without a start, items are added or removed at the end.
        unsafe { (self.functions.b2nd_resize)(self.raw, shape.as_ptr(), ptr::null()) }
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: a live array, freed once.
        unsafe { (self.functions.b2nd_free)(self.raw) };
    }
}
