//! Growing and shrinking arrays (`b2nd.md` 6.14): chunks are inserted and deleted, and the shape in the metalayer
//! defines which chunks are visible. A smaller shape is published before chunks are deleted, a larger one after chunks
//! are inserted.

use std::ops::Range;
use std::sync::Arc;

use super::MAX_DIM;
use super::array::Array;
use super::geometry::Geometry;
use super::shape_access::ShapeChange;
use crate::chunk::SpecialValue;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Error, ErrorKind, Result, ensure, err, to_failure_unless_lock};
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::schunk::SuperChunk;
use crate::schunk::change::InputChunk;

fn to_failure_unless_lock_or_param(error: Error) -> Error {
    if error.kind() == ErrorKind::InvalidParam { error } else { to_failure_unless_lock(error) }
}

impl Array {
    /// Changes the shape of the array. With `start`, the inserted or deleted items begin there in each dimension; they
    /// must be whole chunks, unless they are at the end.
    ///
    /// # Errors
    /// `InvalidParam` for an invalid shape or start, `Failure` when chunks or metalayer cannot be changed, `Lock`,
    /// those of a refresh.
    pub(crate) fn resize(&self, new_shape: &[i64], start: Option<&[i64]>) -> Result<()> {
        self.change_shape(|change| change.resize(new_shape, start))
    }

    /// Inserts items into the array along `axis`, before position `at` or at the end.
    ///
    /// # Errors
    /// `InvalidParam` for an axis or position out of range, or a number of bytes that is not a whole number of rows;
    /// those of [`resize`](Self::resize) and of writing.
    pub(crate) fn insert(&self, src: &[u8], axis: usize, at: Option<i64>) -> Result<()> {
        self.change_shape(|change| change.insert(src, axis, at))
    }

    pub(crate) fn append(&self, src: &[u8], axis: usize) -> Result<()> {
        self.change_shape(|change| change.append(src, axis))
    }

    /// Deletes `count` rows along `axis` from the array, from `at` on.
    ///
    /// # Errors
    /// `InvalidParam` for an axis or rows out of range, those of [`resize`](Self::resize).
    pub(crate) fn delete(&self, axis: usize, at: i64, count: i64) -> Result<()> {
        self.change_shape(|change| change.delete(axis, at, count))
    }
}

impl ShapeChange<'_> {
    /// As [`Array::resize`].
    pub(super) fn resize(&mut self, new_shape: &[i64], start: Option<&[i64]>) -> Result<()> {
        let (array, schunk) = (self.array(), self.schunk());
        let old = array.geometry();
        let ndim = old.ndim();
        if let Some(start) = start {
            check_start(&old, new_shape, start)?;
        }
        let mut shrunk_shape = [1; MAX_DIM];
        for dim in 0..ndim {
            shrunk_shape[dim] = old.shape()[dim].min(new_shape[dim]);
        }
        let shrunk_shape = &shrunk_shape[..ndim];
        ensure!(
            !shrunk_shape.contains(&i64::MAX),
            InvalidParam,
            "the smaller extents are {shrunk_shape:?}, expected less than {} in each dimension",
            i64::MAX,
        );
        // All arguments are checked before the first change.
        let shrunk = geometry_if_reshaped(&old, shrunk_shape)?;
        let grown = geometry_if_reshaped(shrunk.as_deref().unwrap_or(&old), new_shape)?;
        if let Some(grown) = &grown {
            if old.chunkshape().contains(&0) {
                let chunkshape = old.chunkshape();
                return Err(err!(InvalidParam, "chunk shape {chunkshape:?}, expected extents of at least 1"));
            }
            ensure!(
                grown.nchunks() <= i64::from(i32::MAX),
                InvalidParam,
                "`new_shape` has {} chunks, expected at most {}",
                grown.nchunks(),
                i32::MAX,
            );
        }
        ensure!(!schunk.is_view(), InvalidParam, "a view cannot be resized");
        // A damaged shape may have an almost unlimited number of chunks, over which no loop may run.
        let stored = schunk.counters().nchunks;
        ensure!(
            old.nchunks() <= stored,
            Failure,
            "the shape of the array has {} chunks, but the super-chunk has {stored}",
            old.nchunks(),
        );
        self.shrink(&old, shrunk, start)?;
        self.grow(grown, start)
    }

    fn shrink(&mut self, old: &Geometry, new: Option<Arc<Geometry>>, start: Option<&[i64]>) -> Result<()> {
        let Some(new) = new else { return Ok(()) };
        let deleted = ResizedChunks::new(old, start.unwrap_or(new.shape()), old.shape(), new.shape());
        self.publish(new)?;
        let schunk = self.schunk();
        deleted.for_each(true, |nchunk| {
            schunk.delete_chunk(nchunk).map(|_| ()).map_err(to_failure_unless_lock_or_param)
        })
    }

    fn grow(&mut self, new: Option<Arc<Geometry>>, start: Option<&[i64]>) -> Result<()> {
        let Some(new) = new else { return Ok(()) };
        let (array, schunk) = (self.array(), self.schunk());
        let old = array.geometry();
        // The chunks may be there already: `append` stores a whole chunk before it changes the shape.
        if new.nchunks() != schunk.counters().nchunks {
            let inserted = ResizedChunks::new(&new, start.unwrap_or(old.shape()), new.shape(), old.shape());
            let zeros = make_zero_chunk(schunk, &new)?;
            inserted.for_each(false, |nchunk| {
                schunk
                    .insert_chunk(nchunk, InputChunk::Copy(&zeros))
                    .map(|_| ())
                    .map_err(to_failure_unless_lock_or_param)
            })?;
        }
        self.publish(new)
    }

    fn insert(&mut self, src: &[u8], axis: usize, at: Option<i64>) -> Result<()> {
        let geometry = self.array().geometry();
        let ndim = geometry.ndim();
        ensure!(axis < ndim, InvalidParam, "`axis` is {axis}, expected less than {ndim}");
        let shape = geometry.shape();
        let at = at.unwrap_or(shape[axis]);
        let mut row = i64::from(geometry.typesize());
        for (dim, &extent) in shape.iter().enumerate() {
            if dim != axis {
                row = row.checked_mul(extent).ok_or_else(|| {
                    err!(InvalidParam, "shape {shape:?}, expected rows along axis {axis} below 2^63 bytes")
                })?;
            }
        }
        let len = i64::try_from(src.len()).unwrap_or(i64::MAX);
        ensure!(
            row > 0 && len % row == 0,
            InvalidParam,
            "the buffer has {len} bytes, expected a multiple of the size of a row, {row} bytes",
        );
        let count = len / row;
        let mut new_shape = [0; MAX_DIM];
        new_shape[..ndim].copy_from_slice(shape);
        new_shape[axis] = grow_extent(shape[axis], count)?;
        let mut start = [0; MAX_DIM];
        start[axis] = at;
        self.resize(&new_shape[..ndim], (at != shape[axis]).then_some(&start[..ndim]))?;
        let mut stop = [0; MAX_DIM];
        let mut buffershape = [0; MAX_DIM];
        stop[..ndim].copy_from_slice(shape);
        buffershape[..ndim].copy_from_slice(shape);
        stop[axis] = at + count;
        buffershape[axis] = count;
        self.shape_locked().write_box(&start[..ndim], &stop[..ndim], &buffershape[..ndim], src)
    }

    fn append(&mut self, src: &[u8], axis: usize) -> Result<()> {
        let geometry = self.array().geometry();
        let schunk = self.schunk();
        let is_chunk = geometry.chunk_nbytes().is_ok_and(|nbytes| usize::try_from(nbytes) == Ok(src.len()));
        if axis == 0 && is_chunk && can_append_as_chunk(&geometry) && !schunk.is_view() {
            let mut new_shape = [0; MAX_DIM];
            let ndim = geometry.ndim();
            new_shape[..ndim].copy_from_slice(geometry.shape());
            new_shape[0] = grow_extent(geometry.shape()[0], i64::from(geometry.chunkshape()[0]))?;
            geometry.with_shape(&new_shape[..ndim])?;
            schunk.append_buffer(Some(src), src.len()).map_err(to_failure_unless_lock_or_param)?;
            return self.resize(&new_shape[..ndim], None);
        }
        self.insert(src, axis, None)
    }

    fn delete(&mut self, axis: usize, at: i64, count: i64) -> Result<()> {
        let geometry = self.array().geometry();
        let ndim = geometry.ndim();
        ensure!(axis < ndim, InvalidParam, "`axis` is {axis}, expected less than {ndim}");
        let shape = geometry.shape();
        let end = at.checked_add(count);
        ensure!(
            at >= 0 && count >= 0 && end.is_some_and(|end| end <= shape[axis]),
            InvalidParam,
            "{count} rows from row {at} on, expected rows inside the extent {} of axis {axis}",
            shape[axis],
        );
        let mut new_shape = [0; MAX_DIM];
        new_shape[..ndim].copy_from_slice(shape);
        new_shape[axis] -= count;
        let mut start = [0; MAX_DIM];
        start[axis] = at;
        self.resize(&new_shape[..ndim], (at != shape[axis] - count).then_some(&start[..ndim]))
    }
}

fn grow_extent(extent: i64, count: i64) -> Result<i64> {
    extent
        .checked_add(count)
        .ok_or_else(|| err!(InvalidParam, "extent {extent} plus {count} rows, expected less than 2^63"))
}

/// Returns the geometry with another shape; `None` if the shape is the same.
fn geometry_if_reshaped(geometry: &Geometry, shape: &[i64]) -> Result<Option<Arc<Geometry>>> {
    Ok(if shape == geometry.shape() { None } else { Some(Arc::new(geometry.with_shape(shape)?)) })
}

/// Checks `start`: inserted or deleted items that are not at the end must begin and end at chunk boundaries.
fn check_start(geometry: &Geometry, new_shape: &[i64], start: &[i64]) -> Result<()> {
    for dim in 0..geometry.ndim() {
        let (shape, new, start) = (geometry.shape()[dim], new_shape[dim], start[dim]);
        let wrong = || {
            err!(
                InvalidParam,
                "dimension {dim}, extent {shape} to {new} with `start` {start}: expected a start inside the \
                 extent, and whole chunks except at the end"
            )
        };
        if start < 0 || start > shape || new < 0 {
            return Err(wrong());
        }
        let is_inside = (new > shape && start != shape) || (new < shape && start + (shape - new) != shape);
        let chunk = i64::from(geometry.chunkshape()[dim]);
        let is_whole = |items: i64| items.checked_rem(chunk) == Some(0);
        let change = new.checked_sub(shape).ok_or_else(wrong)?;
        if is_inside && !(is_whole(start) && is_whole(change)) {
            return Err(wrong());
        }
        // The deleted items have to be inside the shape.
        if new < shape && start + (shape - new) > shape {
            return Err(wrong());
        }
    }
    Ok(())
}

/// The chunks of a grid that begin in the items by which the longer of two shapes exceeds the shorter one.
struct ResizedChunks {
    ndim: usize,
    /// Number of chunks of the grid along each dimension.
    chunks_along: [i64; MAX_DIM],
    /// Indices, along each dimension, of the chunks that begin in these items. A chunk of the grid is one of
    /// these chunks if its index is in the range of any dimension.
    chunk_ranges: [Range<i64>; MAX_DIM],
}

impl ResizedChunks {
    fn new(geometry: &Geometry, start: &[i64], longer: &[i64], shorter: &[i64]) -> ResizedChunks {
        let ndim = geometry.ndim();
        let mut chunks =
            ResizedChunks { ndim, chunks_along: [1; MAX_DIM], chunk_ranges: [const { 0..0 }; MAX_DIM] };
        for dim in 0..ndim {
            let chunk = i64::from(geometry.chunkshape()[dim]).max(1);
            let len = longer[dim] - shorter[dim];
            chunks.chunks_along[dim] = geometry.chunks_along(dim);
            if len > 0 {
                let end = start[dim].saturating_add(len);
                let first_from = |at: i64| at / chunk + i64::from(at % chunk != 0);
                chunks.chunk_ranges[dim] = first_from(start[dim])..first_from(end);
            }
        }
        chunks
    }

    /// Calls `then` with the number of each of the chunks, in ascending or descending order.
    fn for_each(&self, descending: bool, mut then: impl FnMut(i64) -> Result<()>) -> Result<()> {
        self.for_each_from(0, 0, false, descending, &mut then)
    }

    /// As [`for_each`](Self::for_each), for the chunks whose index over the dimensions before `dim`, in C order, is
    /// `number`. With `is_inside`, all chunks of the grid with that index are included.
    fn for_each_from(
        &self,
        dim: usize,
        number: i64,
        is_inside: bool,
        descending: bool,
        then: &mut impl FnMut(i64) -> Result<()>,
    ) -> Result<()> {
        let Some(inside) = self.chunk_ranges[..self.ndim].get(dim) else {
            return if is_inside { then(number) } else { Ok(()) };
        };
        let along = self.chunks_along[dim];
        let can_be =
            is_inside || self.chunk_ranges[dim + 1..self.ndim].iter().any(|inside| !inside.is_empty());
        let range = if can_be { 0..along } else { inside.start.min(along)..inside.end.min(along) };
        let mut step = |at: i64| {
            let is_inside = is_inside || inside.contains(&at);
            self.for_each_from(dim + 1, number * along + at, is_inside, descending, then)
        };
        if descending { range.rev().try_for_each(step) } else { range.into_iter().try_for_each(&mut step) }
    }
}

/// Returns a special chunk of zeros with the chunk size of the array.
fn make_zero_chunk(schunk: &SuperChunk, geometry: &Geometry) -> Result<Vec<u8>> {
    let chunksize = usize::try_from(geometry.chunk_nbytes()?).unwrap_or(0);
    let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH)?;
    let made = schunk.with_new_context(|context| {
        context.compress_special_chunk(SpecialValue::Zero, chunksize, &[], OutBuffer::from(&mut chunk[..]))
    });
    made.map_err(to_failure_unless_lock_or_param)?;
    Ok(chunk)
}

/// Returns whether a buffer of the size of a chunk, appended along the first dimension, is a whole chunk with the same
/// order of bytes.
fn can_append_as_chunk(geometry: &Geometry) -> bool {
    let (shape, chunk, block) = (geometry.shape(), geometry.chunkshape(), geometry.blockshape());
    let divides = |whole: i64, part: i32| whole.checked_rem(i64::from(part)) == Some(0);
    geometry.ndim() > 0
        && divides(shape[0], chunk[0])
        && divides(i64::from(chunk[0]), block[0])
        && (1..geometry.ndim()).all(|dim| chunk[dim] == block[dim] && shape[dim] == i64::from(chunk[dim]))
}
