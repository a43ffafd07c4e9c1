//! Functions on an existing array: reads, writes, selections, views, changes of the shape, serialised forms.

use std::path::Path;
use std::ptr;

use super::functions::ArrayPtr;
use super::{Array, call_creator};
use crate::support::calls::{BytesResult, with_destination};
use crate::support::super_chunk::c_path;

/// Return code of the library, and the contents of the destination after the call.
pub type ReadResult = (i32, Vec<u8>);

fn to_bytes_result((rc, dest): ReadResult) -> BytesResult {
    if rc < 0 { Err(rc) } else { Ok(dest) }
}

impl Array {
    /// Reads into a buffer of `room` bytes and passes `buffersize` as its size.
    pub fn to_cbuffer_sized(&self, room: usize, buffersize: i64) -> ReadResult {
        with_destination(room, |dest| {
            // SAFETY: the destination has at least the stated length (ensured by the caller), or is not used.
            unsafe { (self.functions.b2nd_to_cbuffer)(self.raw(), dest.as_mut_ptr().cast(), buffersize) }
        })
    }

    /// Returns all items.
    pub fn to_cbuffer(&self) -> BytesResult {
        to_bytes_result(self.to_cbuffer_sized(self.nbytes(), self.nbytes() as i64))
    }

    /// Reads a slice into a buffer of `room` bytes, which must be enough for the slice.
    pub fn get_slice_cbuffer(
        &self,
        start: &[i64],
        stop: &[i64],
        buffershape: &[i64],
        room: usize,
        buffersize: i64,
    ) -> ReadResult {
        with_destination(room, |dest| {
            // SAFETY: one limit per dimension of the array; `room` is large enough (ensured by the caller).
            unsafe {
                (self.functions.b2nd_get_slice_cbuffer)(
                    self.raw(),
                    start.as_ptr(),
                    stop.as_ptr(),
                    dest.as_mut_ptr().cast(),
                    buffershape.as_ptr(),
                    buffersize,
                )
            }
        })
    }

    /// Returns the items of a box, in a buffer of the shape of the box.
    pub fn get(&self, start: &[i64], stop: &[i64]) -> BytesResult {
        let shape: Vec<i64> = start.iter().zip(stop).map(|(start, stop)| (stop - start).max(0)).collect();
        let room = shape.iter().product::<i64>() as usize * self.typesize();
        to_bytes_result(self.get_slice_cbuffer(start, stop, &shape, room, room as i64))
    }

    pub fn set_slice_cbuffer(
        &self,
        items: &[u8],
        buffershape: &[i64],
        buffersize: i64,
        start: &[i64],
        stop: &[i64],
    ) -> i32 {
        // SAFETY: as in `get_slice_cbuffer`; the source holds all items of the slice (ensured by the caller).
        unsafe {
            (self.functions.b2nd_set_slice_cbuffer)(
                items.as_ptr().cast(),
                buffershape.as_ptr(),
                buffersize,
                start.as_ptr(),
                stop.as_ptr(),
                self.raw(),
            )
        }
    }

    /// Writes a box from a buffer of the shape of the box.
    pub fn set(&self, start: &[i64], stop: &[i64], items: &[u8]) -> i32 {
        let shape: Vec<i64> = start.iter().zip(stop).map(|(start, stop)| (stop - start).max(0)).collect();
        self.set_slice_cbuffer(items, &shape, items.len() as i64, start, stop)
    }

    pub fn get_sparse(&self, coords: &[i64], room: usize, buffersize: i64) -> ReadResult {
        with_destination(room, |dest| {
            // SAFETY: as many coordinates as passed; the buffer holds the items (ensured by the caller).
            unsafe {
                (self.functions.b2nd_get_sparse_cbuffer)(
                    self.raw(),
                    coords.len() as i64,
                    coords.as_ptr(),
                    dest.as_mut_ptr().cast(),
                    buffersize,
                )
            }
        })
    }

    pub fn get_orthogonal(
        &self,
        selection: &[Vec<i64>],
        buffershape: &[i64],
        room: usize,
        buffersize: i64,
    ) -> ReadResult {
        let mut lists: Vec<Vec<i64>> = selection.to_vec();
        let mut pointers: Vec<*mut i64> = lists.iter_mut().map(|list| list.as_mut_ptr()).collect();
        let mut sizes: Vec<i64> = selection.iter().map(|list| list.len() as i64).collect();
        let mut shape = buffershape.to_vec();
        with_destination(room, |dest| {
            // SAFETY: one list and its length per dimension; the buffer holds the items (ensured by the caller).
            unsafe {
                (self.functions.b2nd_get_orthogonal_selection)(
                    self.raw(),
                    pointers.as_mut_ptr(),
                    sizes.as_mut_ptr(),
                    dest.as_mut_ptr().cast(),
                    shape.as_mut_ptr(),
                    buffersize,
                )
            }
        })
    }

    pub fn set_orthogonal(
        &self,
        selection: &[Vec<i64>],
        items: &[u8],
        buffershape: &[i64],
        buffersize: i64,
    ) -> i32 {
        let mut lists: Vec<Vec<i64>> = selection.to_vec();
        let mut pointers: Vec<*mut i64> = lists.iter_mut().map(|list| list.as_mut_ptr()).collect();
        let mut sizes: Vec<i64> = selection.iter().map(|list| list.len() as i64).collect();
        let mut shape = buffershape.to_vec();
        // SAFETY: as in `get_orthogonal`.
        unsafe {
            (self.functions.b2nd_set_orthogonal_selection)(
                self.raw(),
                pointers.as_mut_ptr(),
                sizes.as_mut_ptr(),
                items.as_ptr().cast(),
                shape.as_mut_ptr(),
                buffersize,
            )
        }
    }

    pub fn resize(&self, shape: &[i64], start: Option<&[i64]>) -> i32 {
        let start = start.map_or(ptr::null(), |start| start.as_ptr());
        // SAFETY: one extent per dimension of the array (ensured by the caller).
        unsafe { (self.functions.b2nd_resize)(self.raw(), shape.as_ptr(), start) }
    }

    pub fn insert(&self, items: &[u8], axis: i8, start: i64) -> i32 {
        // SAFETY: a buffer of its stated length.
        unsafe {
            (self.functions.b2nd_insert)(self.raw(), items.as_ptr().cast(), items.len() as i64, axis, start)
        }
    }

    pub fn append(&self, items: &[u8], axis: i8) -> i32 {
        // SAFETY: a buffer of its stated length.
        unsafe { (self.functions.b2nd_append)(self.raw(), items.as_ptr().cast(), items.len() as i64, axis) }
    }

    pub fn delete(&self, axis: i8, start: i64, len: i64) -> i32 {
        // SAFETY: a live array.
        unsafe { (self.functions.b2nd_delete)(self.raw(), axis, start, len) }
    }

    /// Appends another array to this one.
    pub fn extend(&self, other: &Array, axis: i8) -> i32 {
        let mut out: ArrayPtr = ptr::null_mut();
        // SAFETY: live arrays; without a copy no context is needed.
        let rc = unsafe {
            (self.functions.b2nd_concatenate)(ptr::null_mut(), self.raw(), other.raw(), axis, false, &mut out)
        };
        assert!(rc < 0 || ptr::eq(out, self.raw()), "{}: another array", self.library.name);
        rc
    }

    pub fn refresh(&self) -> i32 {
        // SAFETY: a live array.
        unsafe { (self.functions.b2nd_refresh)(self.raw()) }
    }

    /// Returns a view without the dimensions of extent 1; it must not outlive this array.
    pub fn squeeze(&self) -> (i32, Option<Array>) {
        // SAFETY: a live array and an out-pointer.
        call_creator(self.library, |f, out| unsafe { (f.b2nd_squeeze)(self.raw(), out) })
    }

    /// As [`Array::squeeze`], with one flag per dimension.
    pub fn squeeze_index(&self, index: &[bool]) -> (i32, Option<Array>) {
        // SAFETY: as in `squeeze`.
        call_creator(self.library, |f, out| unsafe {
            (f.b2nd_squeeze_index)(self.raw(), out, index.as_ptr())
        })
    }

    /// Returns a view with added dimensions of extent 1, with one flag per dimension of the result. It must not
    /// outlive this array.
    pub fn expand_dims(&self, axis: &[bool]) -> (i32, Option<Array>) {
        // SAFETY: as in `squeeze`.
        call_creator(self.library, |f, out| unsafe {
            (f.b2nd_expand_dims)(self.raw(), out, axis.as_ptr(), axis.len() as u8)
        })
    }

    /// Returns the frame, and whether it was allocated by this call.
    pub fn to_cframe(&self) -> Result<(Vec<u8>, bool), i32> {
        let (mut frame, mut len, mut needs_free) = (ptr::null_mut(), 0, false);
        // SAFETY: valid out-pointers; the caller frees the result if the library says so.
        unsafe {
            let rc = (self.functions.b2nd_to_cframe)(self.raw(), &mut frame, &mut len, &mut needs_free);
            if rc < 0 {
                return Err(rc);
            }
            let bytes = std::slice::from_raw_parts(frame, len as usize).to_vec();
            if needs_free {
                libc::free(frame.cast());
            }
            Ok((bytes, needs_free))
        }
    }

    pub fn save(&self, path: &Path) -> i32 {
        let path = c_path(path);
        // SAFETY: a terminated path.
        unsafe { (self.functions.b2nd_save)(self.raw(), path.as_ptr().cast_mut()) }
    }

    pub fn save_append(&self, path: &Path) -> i64 {
        let path = c_path(path);
        // SAFETY: a terminated path.
        unsafe { (self.functions.b2nd_save_append)(self.raw(), path.as_ptr()) }
    }

    /// Returns the numbers of the chunks that a box intersects.
    pub fn slice_nchunks(&self, start: &[i64], stop: &[i64]) -> Result<Vec<i64>, i64> {
        let (mut start, mut stop, mut numbers) = (start.to_vec(), stop.to_vec(), ptr::null_mut());
        let schunk = self.schunk();
        // SAFETY: one limit per dimension of the array (ensured by the caller), and an out-pointer.
        unsafe {
            let rc = (schunk.functions.blosc2_get_slice_nchunks)(
                schunk.raw(),
                start.as_mut_ptr(),
                stop.as_mut_ptr(),
                &mut numbers,
            );
            if rc < 0 {
                return Err(rc);
            }
            let found =
                if rc == 0 { Vec::new() } else { std::slice::from_raw_parts(numbers, rc as usize).to_vec() };
            libc::free(numbers.cast());
            Ok(found)
        }
    }
}
