//! Making super-chunks, and the library's copy of their storage (`schunk.md` 5).

use super::access_lock::WriteGuard;
use super::c_struct::metalayer_kind::MetalayerKind;
use super::storage::{Storage, malloc_value};
use super::{OwnedSuperChunk, SuperChunk};
use crate::abi::{CBool, blosc2_storage};
use crate::error::Result;
use crate::fallible;
use crate::frame::format::plan::TargetState;
use crate::frame::store::{Destination, Frame};
use crate::io::{Backend, paths};
use crate::malloc::MallocBytes;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::Ordering;

/// The tuner that the environment variable `BTUNE_TRADEOFF` selects.
const BTUNE: i32 = crate::abi::BLOSC_BTUNE;

impl SuperChunk {
    /// Sets the storage parameters of a super-chunk that is being made.
    ///
    /// # Safety
    /// No other code uses the super-chunk.
    pub(super) unsafe fn set_storage(&self, storage: &Storage<'_>) -> Result<()> {
        let empty = blosc2_storage {
            contiguous: CBool::from(storage.contiguous),
            urlpath: ptr::null_mut(),
            cparams: ptr::null_mut(),
            dparams: ptr::null_mut(),
            io: ptr::null_mut(),
        };
        let place = malloc_value(empty)?;
        // From here on, dropping the super-chunk frees the storage and the blocks that it points at.
        // SAFETY: by the contract of this function no other code uses the super-chunk; `malloc_value` has made
        // `place`.
        unsafe {
            (*self.as_ptr()).storage = place;
            if let Some(path) = storage.urlpath {
                (*place).urlpath = MallocBytes::copy_of(path.to_bytes_with_nul())?.into_raw().cast();
            }
            (*place).cparams = malloc_value(*storage.cparams)?;
            (*(*place).cparams).schunk = self.as_ptr().cast();
            (*place).dparams = malloc_value(*storage.dparams)?;
            (*(*place).dparams).schunk = self.as_ptr().cast();
            (*place).io = malloc_value(*storage.io)?;
        }
        Ok(())
    }

    /// Makes a super-chunk in memory, or at the path of the storage, which must not exist.
    ///
    /// # Safety
    /// Pointers in the parameters are valid as the ABI requires, for as long as the super-chunk lives.
    ///
    /// # Errors
    /// `InvalidParam` for parameters of which no context can be made, `FileOpen` for a path that is taken, `PluginIo`
    /// for an unknown back-end, those of writing the frame.
    pub(crate) unsafe fn create(storage: &Storage<'_>) -> Result<OwnedSuperChunk> {
        let path = storage.urlpath.map(paths::strip_scheme);
        let has_frame = storage.contiguous || path.is_some();
        // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the
        // super-chunk.
        let backend = if has_frame { Some(unsafe { Backend::resolve(storage.io) }?) } else { None };
        let mut cparams = *storage.cparams;
        let use_dict = cparams.use_dict != 0;
        if crate::environment::is_set(c"BTUNE_TRADEOFF") {
            cparams.tuner_id = BTUNE;
        }
        if cparams.tuner_id == BTUNE {
            cparams.use_dict = 0;
        }
        let storage = Storage { urlpath: path, cparams: &cparams, ..*storage };
        let schunk = SuperChunk::with_storage(backend.clone(), &storage, None)?;
        let s = schunk.as_ptr();
        // SAFETY: no other code has access to the super-chunk yet, and its storage is complete.
        let (cparams, dparams) = unsafe {
            schunk.set_coding(&cparams);
            (*s).chunksize = -1;
            (*s).use_dict = u8::from(use_dict);
            (*s).tuner_params = cparams.tuner_params;
            (*s).tuner_id = cparams.tuner_id;
            (*(*(*s).storage).cparams, *(*(*s).storage).dparams)
        };
        // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the
        // super-chunk. No other code has access to the super-chunk, which `with_storage` has just made.
        unsafe { schunk.make_contexts(&cparams, &dparams) }?;
        if has_frame {
            // SAFETY: no other code has access to the super-chunk: this function made it and has not returned it.
            unsafe { schunk.create_frame(storage.contiguous, path, backend) }?;
        }
        Ok(schunk)
    }

    /// Makes the frame of a super-chunk without chunks.
    ///
    /// # Safety
    /// No other code uses the super-chunk.
    unsafe fn create_frame(
        &self,
        contiguous: bool,
        path: Option<&CStr>,
        backend: Option<Backend>,
    ) -> Result<()> {
        let access = WriteGuard::lock(self)?;
        let locked = access.lock_proof();
        let target = TargetState {
            header: locked.frame_header(&locked.counters()),
            metalayers: &fallible::collect(locked.metalayers(MetalayerKind::Fixed))?,
            vlmetalayers: &fallible::collect(locked.metalayers(MetalayerKind::Variable))?,
        };
        let frame = match (path, backend) {
            (Some(path), Some(backend)) => {
                if contiguous {
                    Frame::create(Destination::File(path, backend), &target)?
                } else {
                    let path = paths::strip_trailing_slash(path)?;
                    Frame::create(Destination::Directory(&path, backend), &target)?
                }
            }
            _ => Frame::create(Destination::Memory, &target)?,
        };
        drop(access);
        self.removes_files.store(path.is_some(), Ordering::Relaxed);
        // SAFETY: by the contract of this function no other code uses the super-chunk.
        unsafe { self.set_frame(frame) };
        Ok(())
    }
}
