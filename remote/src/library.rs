//! The functions of the libblosc2 that the program has loaded.

use crate::callbacks;
use crate::failure::{Failure, Result};
use blosc2_core::abi::{
    BLOSC2_ERROR_PLUGIN_IO, blosc2_io, blosc2_io_cb, blosc2_schunk, blosc2x_io_fetch, blosc2x_io_release,
};
use std::ffi::{c_char, c_int};

/// The names of the library that are tried if its functions are not visible to all libraries of the process.
const NAMES: [&str; 2] = [
    if cfg!(target_os = "macos") { "libblosc2.9.dylib" } else { "libblosc2.so.9" },
    if cfg!(target_os = "macos") { "libblosc2.dylib" } else { "libblosc2.so" },
];

pub(crate) struct Library {
    register_io_cb: unsafe extern "C" fn(*const blosc2_io_cb) -> c_int,
    pub(crate) open_udio: unsafe extern "C" fn(*const c_char, *const blosc2_io) -> *mut blosc2_schunk,
    /// An extension, which C-Blosc2 does not have.
    register_io_fetch: Option<unsafe extern "C" fn(u8, blosc2x_io_fetch, blosc2x_io_release) -> c_int>,
}

impl Library {
    /// Finds the functions of a loaded library.
    ///
    /// # Errors
    /// `PluginIo` if there is none.
    pub(crate) fn find() -> Result<Library> {
        #[cfg(unix)]
        {
            use libloading::os::unix::{Library as OsLibrary, RTLD_NOW};
            let named = NAMES.iter().filter_map(|name| {
                // SAFETY: with `RTLD_NOLOAD`, no library is loaded.
                unsafe { OsLibrary::open(Some(*name), RTLD_NOW | libc::RTLD_NOLOAD) }.ok()
            });
            for library in std::iter::once(OsLibrary::this()).chain(named) {
                // SAFETY: the functions of these names have these types in all libraries of the ABI. The program keeps the library
                // loaded: it calls it.
                let found = unsafe {
                    (|| {
                        Some(Library {
                            register_io_cb: *library.get(b"blosc2_register_io_cb\0").ok()?,
                            open_udio: *library.get(b"blosc2_schunk_open_udio\0").ok()?,
                            register_io_fetch: library
                                .get(b"blosc2x_register_io_fetch\0")
                                .ok()
                                .map(|function| *function),
                        })
                    })()
                };
                if let Some(found) = found {
                    return Ok(found);
                }
            }
        }
        let text = format!(
            "no library of the process has the function `blosc2_register_io_cb`; {} is not loaded",
            NAMES[0]
        );
        Err(Failure::new(BLOSC2_ERROR_PLUGIN_IO, text))
    }

    /// Returns whether the library opens names without a local file, and fetches ranges before it reads them.
    pub(crate) fn has_extensions(&self) -> bool {
        self.register_io_fetch.is_some()
    }

    /// Registers the back-end.
    ///
    /// # Errors
    /// `PluginIo` if the id has another name.
    pub(crate) fn register(&self) -> Result<()> {
        // SAFETY: the struct lives during the call, and its functions obey the contracts of their types. C-Blosc2 keeps the pointer
        // to the name, a constant.
        let mut code = unsafe { (self.register_io_cb)(&callbacks::table()) };
        if let Some(register_io_fetch) = self.register_io_fetch
            && code == 0
        {
            // SAFETY: the functions obey the contracts of their types.
            code =
                unsafe { register_io_fetch(callbacks::ID, Some(callbacks::fetch), Some(callbacks::release)) };
        }
        if code == 0 {
            return Ok(());
        }
        Err(Failure::new(code, format!("libblosc2 does not register the back-end {}: {code}", callbacks::ID)))
    }
}
