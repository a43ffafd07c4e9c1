//! Views of an array: the same items under a shape with fewer or more dimensions of extent 1 (`b2nd.md` 6.9).
//!
//! A view uses the chunks of its array, so only dimensions along which chunks and blocks have one item are added or
//! removed.

use super::MAX_DIM;
use super::array::{Array, ArrayBuilder};
use super::geometry::Geometry;
use super::metalayer;
use crate::error::{Result, ensure, err};
use crate::frame::format::array_meta::B2ND_METALAYER;
use crate::schunk::view::ViewSizes;

/// The shapes of a view under construction.
struct Shapes {
    ndim: usize,
    shape: [i64; MAX_DIM],
    chunkshape: [i32; MAX_DIM],
    blockshape: [i32; MAX_DIM],
}

impl Shapes {
    fn new() -> Shapes {
        Shapes { ndim: 0, shape: [1; MAX_DIM], chunkshape: [1; MAX_DIM], blockshape: [1; MAX_DIM] }
    }

    /// Adds a dimension with an extent of 1.
    fn push_unit(&mut self) -> Result<()> {
        ensure!(self.ndim != MAX_DIM, InvalidParam, "the view has more than {MAX_DIM} dimensions");
        self.ndim += 1;
        Ok(())
    }

    /// Adds dimension `dim` of the array `of`.
    fn push(&mut self, of: &Geometry, dim: usize) -> Result<()> {
        let at = self.ndim;
        self.push_unit()?;
        self.shape[at] = of.shape()[dim];
        self.chunkshape[at] = of.chunkshape()[dim];
        self.blockshape[at] = of.blockshape()[dim];
        Ok(())
    }
}

impl Array {
    /// Returns a view without the dimensions of extent 1.
    ///
    /// # Safety
    /// The array is neither freed nor borrowed mutably while the view is in use by a call. The view may be freed before
    /// or after it.
    pub(crate) unsafe fn squeeze(&self) -> Result<Box<Array>> {
        // The dimensions are chosen by the geometry before the refresh in `squeeze_index`.
        let geometry = self.geometry();
        let mut index = [false; MAX_DIM];
        for (flag, &extent) in index.iter_mut().zip(geometry.shape()) {
            *flag = extent == 1;
        }
        // SAFETY: the contract of this function: no call uses the view while the array is freed or borrowed mutably.
        unsafe { self.squeeze_index(&index[..geometry.ndim()]) }
    }

    /// Returns a view without the dimensions whose flag in `index` is set.
    ///
    /// # Safety
    /// The array is neither freed nor borrowed mutably while the view is in use by a call. The view may be freed before
    /// or after it.
    pub(crate) unsafe fn squeeze_index(&self, index: &[bool]) -> Result<Box<Array>> {
        self.refresh()?;
        self.check_viewable()?;
        let _shape_locked = self.shape_lock().lock_shared();
        let geometry = self.geometry();
        ensure!(
            index.len() >= geometry.ndim(),
            InvalidParam,
            "`index` has {} flags, expected {}",
            index.len(),
            geometry.ndim(),
        );
        let index = &index[..geometry.ndim()];
        if let Some(dim) = (0..geometry.ndim()).find(|&dim| index[dim] && geometry.shape()[dim] != 1) {
            let extent = geometry.shape()[dim];
            return Err(err!(InvalidIndex, "`index` removes dimension {dim} of extent {extent}, expected 1"));
        }
        let mut shapes = Shapes::new();
        for (dim, &goes) in index.iter().enumerate() {
            if !goes {
                shapes.push(&geometry, dim)?;
            } else if geometry.nitems() != 0 && geometry.extchunkshape()[dim] != 1 {
                let extent = geometry.extchunkshape()[dim];
                return Err(err!(
                    InvalidParam,
                    "dimension {dim} has padded chunk extent {extent}, expected 1"
                ));
            }
        }
        // SAFETY: the contract of this function: no call uses the view while the array is freed or borrowed mutably.
        unsafe { self.view(&shapes, &geometry) }
    }

    /// Returns a view with more dimensions. `axis` has a flag for each dimension of the view: `true` for a new one, of
    /// extent 1, `false` for the next dimension of the array.
    ///
    /// # Safety
    /// The array is neither freed nor borrowed mutably while the view is in use by a call. The view may be freed before
    /// or after it.
    pub(crate) unsafe fn expand_dims(&self, axis: &[bool]) -> Result<Box<Array>> {
        self.refresh()?;
        self.check_viewable()?;
        let _shape_locked = self.shape_lock().lock_shared();
        let geometry = self.geometry();
        let kept = axis.iter().filter(|&&is_new| !is_new).count();
        ensure!(
            kept == geometry.ndim(),
            InvalidParam,
            "`axis` has {kept} flags that are false, expected {}",
            geometry.ndim(),
        );
        let mut shapes = Shapes::new();
        let mut dims = 0..geometry.ndim();
        for &is_new in axis {
            let dim = if is_new { None } else { dims.next() };
            match dim {
                Some(dim) => shapes.push(&geometry, dim)?,
                None => shapes.push_unit()?,
            }
        }
        // SAFETY: the contract of this function: no call uses the view while the array is freed or borrowed mutably.
        unsafe { self.view(&shapes, &geometry) }
    }

    fn check_viewable(&self) -> Result<()> {
        if !self.schunk()?.has_only_metalayer(B2ND_METALAYER) {
            return Err(err!(InvalidParam, "the array has metalayers besides `b2nd`, expected none"));
        }
        Ok(())
    }

    /// Returns a view of the same chunks under another shape. The array has the geometry `base`, and its shape lock is
    /// held.
    ///
    /// # Safety
    /// As [`squeeze`](Self::squeeze).
    unsafe fn view(&self, shapes: &Shapes, base: &Geometry) -> Result<Box<Array>> {
        let schunk = self.schunk()?;
        let ndim = shapes.ndim;
        let (shape, chunkshape, blockshape) =
            (&shapes.shape[..ndim], &shapes.chunkshape[..ndim], &shapes.blockshape[..ndim]);
        let geometry = Geometry::new(shape, chunkshape, blockshape, schunk.typesize())?;
        let dtype = self.dtype().map(|dtype| dtype.to_bytes());
        let dtype_format = self.dtype_format();
        let meta = metalayer::serialize(shape, chunkshape, blockshape, dtype, dtype_format)?;
        let sizes = ViewSizes {
            nchunks: geometry.nchunks(),
            chunksize: geometry.chunk_nbytes()?,
            blocksize: geometry.block_nbytes()?,
        };
        let builder = ArrayBuilder::new(geometry, dtype, dtype_format)?;
        // SAFETY: the contract of this function: no call uses the view while the array, and thus the super-chunk that
        // it owns, is freed or borrowed mutably.
        let view = unsafe { schunk.create_view(&sizes, B2ND_METALAYER, &meta) }?;
        Ok(builder.into_view(view, self, base))
    }
}
