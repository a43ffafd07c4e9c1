//! Growing and shrinking arrays (`b2nd.md` 6.14): chunks come and go, and the shape in the metalayer tells which are
//! visible. A shrunk shape is published before its chunks go, a grown one after its chunks came.

use std::ops::Range;
use std::sync::Arc;

use super::MAX_DIM;
use super::array::Array;
use super::geometry::Geometry;
use super::shape_access::ShapeChange;
use crate::chunk::Special;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::err;
use crate::error::{Error, Result};
use crate::out_buffer::OutBuffer;
use crate::schunk::SuperChunk;
use crate::schunk::change::Incoming;

fn failed(error: Error) -> Error {
    match error.kind() {
        crate::ErrorKind::Lock | crate::ErrorKind::InvalidParam => error,
        _ => err!(Failure, "{error}"),
    }
}

impl Array {
    /// Gives the array another shape. With `start`, what is new or goes begins there in each dimension, in whole chunks
    /// unless it is the end.
    ///
    /// # Errors
    /// `InvalidParam` for a shape or a start that cannot be, `Failure` when chunks or metalayer cannot be changed,
    /// `Lock`, those of a refresh.
    pub(crate) fn resize(&self, new_shape: &[i64], start: Option<&[i64]>) -> Result<()> {
        self.change_shape(|change| change.resize(new_shape, start))
    }

    /// Puts items into the array, which grows by them along `axis`, from `at` on.
    ///
    /// # Errors
    /// `InvalidParam` for an axis or place that is not there, or bytes that are no whole number of rows; those of
    /// [`resize`](Self::resize) and of writing.
    pub(crate) fn insert(&self, src: &[u8], axis: usize, at: Option<i64>) -> Result<()> {
        self.change_shape(|change| change.insert(src, axis, at))
    }

    /// Puts items at the end of the array along `axis`.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub(crate) fn append(&self, src: &[u8], axis: usize) -> Result<()> {
        self.change_shape(|change| change.append(src, axis))
    }

    /// Takes `count` rows along `axis` out of the array, from `at` on.
    ///
    /// # Errors
    /// `InvalidParam` for an axis or rows that are not there, those of [`resize`](Self::resize).
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
        if shrunk_shape.contains(&i64::MAX) {
            return Err(err!(InvalidParam, "an array of {shrunk_shape:?} cannot be resized"));
        }
        // All that can be wrong is found before anything changes.
        let shrunk = other_shape(&old, shrunk_shape)?;
        let grown = other_shape(shrunk.as_deref().unwrap_or(&old), new_shape)?;
        if let Some(grown) = &grown {
            if old.chunkshape().contains(&0) {
                return Err(err!(InvalidParam, "chunks of {:?} hold nothing", old.chunkshape()));
            }
            if grown.nchunks() > i64::from(i32::MAX) {
                return Err(err!(InvalidParam, "{} chunks are too many", grown.nchunks()));
            }
        }
        if schunk.is_view() {
            return Err(err!(InvalidParam, "a view cannot be resized"));
        }
        // A damaged shape may promise chunks without end, which nobody should go through.
        let stored = schunk.counters().nchunks;
        if old.nchunks() > stored {
            return Err(err!(Failure, "{} chunks, {stored} are stored", old.nchunks()));
        }
        self.shrink(&old, shrunk, start)?;
        self.grow(grown, start)
    }

    fn shrink(&mut self, old: &Geometry, new: Option<Arc<Geometry>>, start: Option<&[i64]>) -> Result<()> {
        let Some(new) = new else { return Ok(()) };
        let gone = Slab::new(old, start.unwrap_or(new.shape()), old.shape(), new.shape());
        self.publish(new)?;
        let schunk = self.schunk();
        gone.each(true, |nchunk| schunk.delete_chunk(nchunk).map(|_| ()).map_err(failed))
    }

    fn grow(&mut self, new: Option<Arc<Geometry>>, start: Option<&[i64]>) -> Result<()> {
        let Some(new) = new else { return Ok(()) };
        let (array, schunk) = (self.array(), self.schunk());
        let old = array.geometry();
        // Chunks may be there already: an appended one is.
        if new.nchunks() != schunk.counters().nchunks {
            let fresh = Slab::new(&new, start.unwrap_or(old.shape()), new.shape(), old.shape());
            let zeros = zeros_chunk(schunk, &new)?;
            fresh.each(false, |nchunk| {
                schunk.insert_chunk(nchunk, Incoming::Copy(&zeros)).map(|_| ()).map_err(failed)
            })?;
        }
        self.publish(new)
    }

    fn insert(&mut self, src: &[u8], axis: usize, at: Option<i64>) -> Result<()> {
        let geometry = self.array().geometry();
        let ndim = geometry.ndim();
        if axis >= ndim {
            return Err(err!(InvalidParam, "axis {axis} of {ndim}"));
        }
        let shape = geometry.shape();
        let at = at.unwrap_or(shape[axis]);
        let mut row = i64::from(geometry.typesize());
        for (dim, &extent) in shape.iter().enumerate() {
            if dim != axis {
                row = row.checked_mul(extent).ok_or_else(|| err!(InvalidParam, "rows that are too long"))?;
            }
        }
        let len = i64::try_from(src.len()).unwrap_or(i64::MAX);
        if row <= 0 || len % row != 0 {
            return Err(err!(InvalidParam, "{len} bytes are no rows of {row}"));
        }
        let count = len / row;
        let mut new_shape = [0; MAX_DIM];
        new_shape[..ndim].copy_from_slice(shape);
        new_shape[axis] = grown(shape[axis], count)?;
        let mut start = [0; MAX_DIM];
        start[axis] = at;
        self.resize(&new_shape[..ndim], (at != shape[axis]).then_some(&start[..ndim]))?;
        let mut stop = [0; MAX_DIM];
        let mut buffershape = [0; MAX_DIM];
        stop[..ndim].copy_from_slice(shape);
        buffershape[..ndim].copy_from_slice(shape);
        stop[axis] = at + count;
        buffershape[axis] = count;
        self.steady().write_box(&start[..ndim], &stop[..ndim], &buffershape[..ndim], src)
    }

    fn append(&mut self, src: &[u8], axis: usize) -> Result<()> {
        let geometry = self.array().geometry();
        let schunk = self.schunk();
        let is_chunk =
            i64::try_from(src.len()).is_ok_and(|len| len == i64::from(schunk.counters().chunksize));
        if axis == 0 && is_chunk && is_whole_at_end(&geometry) && !schunk.is_view() {
            let mut new_shape = [0; MAX_DIM];
            let ndim = geometry.ndim();
            new_shape[..ndim].copy_from_slice(geometry.shape());
            new_shape[0] = grown(geometry.shape()[0], i64::from(geometry.chunkshape()[0]))?;
            geometry.with_shape(&new_shape[..ndim])?;
            schunk.append_buffer(Some(src), src.len()).map_err(failed)?;
            return self.resize(&new_shape[..ndim], None);
        }
        self.insert(src, axis, None)
    }

    fn delete(&mut self, axis: usize, at: i64, count: i64) -> Result<()> {
        let geometry = self.array().geometry();
        let ndim = geometry.ndim();
        if axis >= ndim {
            return Err(err!(InvalidParam, "axis {axis} of {ndim}"));
        }
        let shape = geometry.shape();
        let end = at.checked_add(count);
        if at < 0 || count < 0 || end.is_none_or(|end| end > shape[axis]) {
            return Err(err!(InvalidParam, "rows {at}+{count} of {}", shape[axis]));
        }
        let mut new_shape = [0; MAX_DIM];
        new_shape[..ndim].copy_from_slice(shape);
        new_shape[axis] -= count;
        let mut start = [0; MAX_DIM];
        start[axis] = at;
        self.resize(&new_shape[..ndim], (at != shape[axis] - count).then_some(&start[..ndim]))
    }
}

fn grown(extent: i64, count: i64) -> Result<i64> {
    extent.checked_add(count).ok_or_else(|| err!(InvalidParam, "{extent} and {count} rows"))
}

/// The geometry under another shape; `None` if it is the same.
fn other_shape(geometry: &Geometry, shape: &[i64]) -> Result<Option<Arc<Geometry>>> {
    Ok(if shape == geometry.shape() { None } else { Some(Arc::new(geometry.with_shape(shape)?)) })
}

/// What is not at the end has to begin and end with chunks.
fn check_start(geometry: &Geometry, new_shape: &[i64], start: &[i64]) -> Result<()> {
    for dim in 0..geometry.ndim() {
        let (shape, new, start) = (geometry.shape()[dim], new_shape[dim], start[dim]);
        let wrong = || err!(InvalidParam, "dimension {dim} of {shape} items to {new} from {start} on");
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
        // What goes has to be there.
        if new < shape && start + (shape - new) > shape {
            return Err(wrong());
        }
    }
    Ok(())
}

/// The chunks that begin inside of what a grid has in one shape but not in another.
struct Slab {
    ndim: usize,
    /// Chunks of the grid along each dimension.
    along: [i64; MAX_DIM],
    /// Those of them that begin inside, in any of the dimensions.
    inside: [Range<i64>; MAX_DIM],
}

impl Slab {
    fn new(geometry: &Geometry, start: &[i64], longer: &[i64], shorter: &[i64]) -> Slab {
        let ndim = geometry.ndim();
        let mut slab = Slab { ndim, along: [1; MAX_DIM], inside: [const { 0..0 }; MAX_DIM] };
        for dim in 0..ndim {
            let chunk = i64::from(geometry.chunkshape()[dim]).max(1);
            let len = longer[dim] - shorter[dim];
            slab.along[dim] = geometry.chunks_along(dim);
            if len > 0 {
                let end = start[dim].saturating_add(len);
                let first_from = |at: i64| at / chunk + i64::from(at % chunk != 0);
                slab.inside[dim] = first_from(start[dim])..first_from(end);
            }
        }
        slab
    }

    /// Runs `then` on the number of each of the chunks, in ascending order, or in descending.
    fn each(&self, descending: bool, mut then: impl FnMut(i64) -> Result<()>) -> Result<()> {
        self.each_from(0, 0, false, descending, &mut then)
    }

    /// As [`each`](Self::each), of those that come after `number` rows of the dimensions before `dim`; all of them if one of
    /// these is inside.
    fn each_from(
        &self,
        dim: usize,
        number: i64,
        is_inside: bool,
        descending: bool,
        then: &mut impl FnMut(i64) -> Result<()>,
    ) -> Result<()> {
        let Some(inside) = self.inside[..self.ndim].get(dim) else {
            return if is_inside { then(number) } else { Ok(()) };
        };
        let along = self.along[dim];
        let can_be = is_inside || self.inside[dim + 1..self.ndim].iter().any(|inside| !inside.is_empty());
        let range = if can_be { 0..along } else { inside.start.min(along)..inside.end.min(along) };
        let mut step = |at: i64| {
            let is_inside = is_inside || inside.contains(&at);
            self.each_from(dim + 1, number * along + at, is_inside, descending, then)
        };
        if descending { range.rev().try_for_each(step) } else { range.into_iter().try_for_each(&mut step) }
    }
}

/// A chunk of zeros as the array has them.
fn zeros_chunk(schunk: &SuperChunk, geometry: &Geometry) -> Result<Vec<u8>> {
    let chunksize = usize::try_from(geometry.chunk_nbytes()?).unwrap_or(0);
    let mut chunk = vec![0; EXTENDED_HEADER_LENGTH];
    let made = schunk.with_new_context(|context| {
        context.special_chunk(Special::Zero, chunksize, &[], OutBuffer::from(&mut chunk[..]))
    });
    made.map_err(failed)?;
    Ok(chunk)
}

/// Whether a buffer of a chunk's size is the next chunk of the array, byte for byte.
fn is_whole_at_end(geometry: &Geometry) -> bool {
    let (shape, chunk, block) = (geometry.shape(), geometry.chunkshape(), geometry.blockshape());
    let divides = |whole: i64, part: i32| whole.checked_rem(i64::from(part)) == Some(0);
    geometry.ndim() > 0
        && divides(shape[0], chunk[0])
        && divides(i64::from(chunk[0]), block[0])
        && (1..geometry.ndim()).all(|dim| chunk[dim] == block[dim] && shape[dim] == i64::from(chunk[dim]))
}
