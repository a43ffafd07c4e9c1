//! Copying arrays and parts of them, concatenating arrays, and saving arrays to files (`b2nd.md` 6.5, 6.10, 6.12,
//! 6.13).

use super::MAX_DIM;
use super::array::{Array, ArrayBuilder, ArrayParams};
use super::geometry::Geometry;
use super::shape_access::ShapeChange;
use crate::chunk::SpecialValue;
use crate::error::{Result, err, to_failure_unless_lock};
use crate::frame::format::array_meta::B2ND_METALAYER;
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::schunk::change::InputChunk;
use crate::schunk::copy::CopyDestination;
use std::ffi::CStr;

impl Array {
    /// Makes a new array from the box from `start` to `stop`; `params` has all parameters but the shape.
    ///
    /// # Safety
    /// As [`Array::create`].
    pub(crate) unsafe fn slice(
        &self,
        params: &ArrayParams<'_>,
        start: &[i64],
        stop: &[i64],
    ) -> Result<Box<Array>> {
        self.refresh()?;
        let ndim = self.geometry().ndim();
        let mut shape = [1; MAX_DIM];
        for dim in 0..ndim {
            let extent = stop[dim].checked_sub(start[dim]);
            shape[dim] = extent.ok_or_else(|| {
                err!(InvalidParam, "`start` {start:?} to `stop` {stop:?}, expected extents that fit 64 bits")
            })?;
        }
        let params = ArrayParams { shape: &shape[..ndim], ..params.clone() };
        // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the new
        // super-chunk.
        let new = unsafe { Array::create(&params, SpecialValue::Zero) }?;
        let geometry = new.geometry();
        if geometry.nitems() == 0 {
            return Ok(new);
        }
        if ndim == 0 {
            let mut item = MallocBytes::zeroed(usize::try_from(geometry.typesize()).unwrap_or(0))?;
            self.get_box(&[], &[], &[], OutBuffer::from(&mut item[..]), false)?;
            new.set_box(&[], &[], &[], &item)?;
            return Ok(new);
        }
        // Copies one chunk of the new array at a time.
        let mut buffer = MallocBytes::zeroed(usize::try_from(geometry.chunk_nbytes()?).unwrap_or(0))?;
        let mut chunks = geometry.chunks_of_box(&[0; MAX_DIM][..ndim], geometry.shape());
        while let Some(part) = chunks.next_part() {
            let mut from = [[0; MAX_DIM]; 2];
            let mut to = [[0; MAX_DIM]; 2];
            let mut len = geometry.typesize() as usize;
            for dim in 0..ndim {
                to[0][dim] = part.start_in_box[dim];
                to[1][dim] = part.start_in_box[dim] + part.shape[dim];
                from[0][dim] = start[dim] + to[0][dim];
                from[1][dim] = start[dim] + to[1][dim];
                len *= part.shape[dim] as usize;
            }
            let (shape, buffer) = (&part.shape[..ndim], &mut buffer[..len]);
            self.get_box(&from[0][..ndim], &from[1][..ndim], shape, OutBuffer::from(&mut buffer[..]), false)?;
            new.set_box(&to[0][..ndim], &to[1][..ndim], shape, buffer)?;
        }
        Ok(new)
    }

    /// Copies the array, with its metalayers; `params` has all parameters but the shape.
    ///
    /// # Safety
    /// As [`Array::create`].
    ///
    /// # Errors
    /// Those of [`Array::create`], of reading and of writing; `Failure` when the super-chunk cannot be copied.
    pub(crate) unsafe fn copy(
        &self,
        params: &ArrayParams<'_>,
        to: &CopyDestination<'_>,
    ) -> Result<Box<Array>> {
        self.refresh()?;
        let geometry = self.geometry();
        let ndim = geometry.ndim();
        let schunk = self.schunk()?;
        let is_same =
            params.chunkshape == geometry.chunkshape() && params.blockshape == geometry.blockshape();
        if is_same {
            // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the
            // new super-chunk.
            let copy = unsafe { schunk.copy(to) }.map_err(to_failure_unless_lock)?;
            let geometry = Geometry::from_stored(
                geometry.shape(),
                params.chunkshape,
                params.blockshape,
                copy.typesize(),
            )?;
            let dtype = params.dtype.map(CStr::to_bytes);
            return Ok(ArrayBuilder::new(geometry, dtype, params.dtype_format)?.into_array(copy));
        }
        let metalayers = schunk.other_metalayers(B2ND_METALAYER)?;
        let params = ArrayParams { metalayers: &metalayers, ..params.clone() };
        let start = [0; MAX_DIM];
        // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the new
        // super-chunk.
        let new = unsafe { self.slice(&params, &start[..ndim], geometry.shape()) }?;
        schunk.copy_vlmetalayers_to(new.schunk()?).map_err(to_failure_unless_lock)?;
        Ok(new)
    }

    /// Writes the array to a file, or to a directory if the array is stored in one.
    ///
    /// # Errors
    /// `Failure` when it cannot be written, for example because the path exists.
    pub(crate) fn save(&self, path: &CStr) -> Result<()> {
        self.refresh()?;
        let schunk = self.schunk()?;
        let contiguous = schunk.storage().contiguous.get();
        let to = CopyDestination { contiguous, urlpath: Some(path), ..CopyDestination::default() };
        // SAFETY: only the super-chunk's own parameters, without pointers.
        unsafe { schunk.copy(&to) }.and_then(|copy| copy.finish_creation()).map_err(to_failure_unless_lock)
    }

    /// Appends `other` along `axis` to this array, or with `copy` to a copy of it. Returns the copy.
    ///
    /// # Safety
    /// As [`Array::create`].
    ///
    /// # Errors
    /// `InvalidParam` for arrays of different item sizes or incompatible shapes, those of copying, resizing and
    /// writing.
    pub(crate) unsafe fn concatenate(
        &self,
        other: &Array,
        axis: usize,
        copy: Option<(&ArrayParams<'_>, &CopyDestination<'_>)>,
    ) -> Result<Option<Box<Array>>> {
        if let Some((params, to)) = copy {
            self.refresh()?;
            other.refresh()?;
            // All arguments are checked before the copy is made.
            concatenated_shape(&self.geometry(), &other.geometry(), axis)?;
            // SAFETY: the contract of this function: the pointers in the parameters stay valid as long as the
            // new super-chunk.
            let made = unsafe { self.copy(params, to) }?;
            made.extend(other, axis)?;
            return Ok(Some(made));
        }
        self.extend(other, axis).map(|()| None)
    }

    /// Appends the items of `other` to the array along `axis`.
    fn extend(&self, other: &Array, axis: usize) -> Result<()> {
        self.change_shape_with(other, |change| {
            other.refresh()?;
            let (mine, theirs) = (self.geometry(), other.geometry());
            let shape = concatenated_shape(&mine, &theirs, axis)?;
            change.resize(&shape[..mine.ndim()], None)?;
            copy_chunks_of(change, other, &theirs, axis, mine.shape()[axis])
        })
    }
}

fn concatenated_shape(mine: &Geometry, theirs: &Geometry, axis: usize) -> Result<[i64; MAX_DIM]> {
    let ndim = mine.ndim();
    let fits = axis < ndim
        && mine.typesize() == theirs.typesize()
        && theirs.ndim() == ndim
        && (0..ndim).all(|dim| dim == axis || mine.shape()[dim] == theirs.shape()[dim]);
    if !fits {
        let shapes = (mine.shape(), theirs.shape());
        return Err(err!(
            InvalidParam,
            "shapes {shapes:?} with items of {} and {} bytes cannot be concatenated along axis {axis}",
            mine.typesize(),
            theirs.typesize()
        ));
    }
    let mut shape = [0; MAX_DIM];
    shape[..ndim].copy_from_slice(mine.shape());
    let (first, second) = (mine.shape()[axis], theirs.shape()[axis]);
    shape[axis] = first.checked_add(second).ok_or_else(|| {
        err!(InvalidParam, "extents {first} and {second} along axis {axis}, expected a sum below 2^63")
    })?;
    Ok(shape)
}

/// Copies all chunks of `other`, which had the geometry `theirs` when it was last refreshed, to `offset` along `axis`.
fn copy_chunks_of(
    change: &mut ShapeChange<'_>,
    other: &Array,
    theirs: &Geometry,
    axis: usize,
    offset: i64,
) -> Result<()> {
    let new = change.array().geometry();
    let ndim = new.ndim();
    let chunk = i64::from(new.chunkshape()[axis]);
    let is_aligned = theirs.chunkshape() == new.chunkshape()
        && theirs.blockshape() == new.blockshape()
        && offset.checked_rem(chunk) == Some(0);
    let len = if is_aligned { 0 } else { usize::try_from(theirs.chunk_nbytes()?).unwrap_or(0) };
    let mut buffer = MallocBytes::zeroed(len)?;
    let mut chunks = theirs.chunks_of_box(&[0; MAX_DIM][..ndim], theirs.shape());
    while let Some(part) = chunks.next_part() {
        if is_aligned {
            let mut number = 0;
            let mut rest = part.number;
            let mut stride = 1;
            for dim in (0..ndim).rev() {
                let along = theirs.chunks_along(dim).max(1);
                let place = rest % along + if dim == axis { offset / chunk } else { 0 };
                number += place * stride;
                stride *= new.chunks_along(dim);
                rest /= along;
            }
            let chunk = other.schunk()?.copy_of_chunk(part.number).map_err(to_failure_unless_lock)?;
            let kept = change.schunk().update_chunk(number, InputChunk::Take(&mut Some(chunk)));
            kept.map_err(to_failure_unless_lock)?;
            continue;
        }
        let mut from = [[0; MAX_DIM]; 2];
        let mut to = [[0; MAX_DIM]; 2];
        let mut len = theirs.typesize() as usize;
        for dim in 0..ndim {
            let shift = if dim == axis { offset } else { 0 };
            from[0][dim] = part.start_in_box[dim];
            from[1][dim] = part.start_in_box[dim] + part.shape[dim];
            to[0][dim] = from[0][dim] + shift;
            to[1][dim] = from[1][dim] + shift;
            len *= part.shape[dim] as usize;
        }
        let (shape, buffer) = (&part.shape[..ndim], &mut buffer[..len]);
        other.get_box(&from[0][..ndim], &from[1][..ndim], shape, OutBuffer::from(&mut buffer[..]), false)?;
        change.shape_locked().write_box(&to[0][..ndim], &to[1][..ndim], shape, buffer)?;
    }
    Ok(())
}
