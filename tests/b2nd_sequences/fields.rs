//! The public fields of an array and its super-chunk: the values of a library, and the expected values.

use std::ffi::CString;

use super::model::Model;
use crate::support::array::Array;

/// All fields that do not depend on compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicFields {
    pub ndim: usize,
    /// shape, extshape, extchunkshape, chunkshape, blockshape: all sixteen numbers.
    pub shapes: [Vec<i64>; 5],
    /// nitems, extnitems, extchunknitems, chunknitems, blocknitems.
    pub counts: [i64; 5],
    /// The six arrays of strides, of `ndim` numbers.
    pub strides: [Vec<i64>; 6],
    pub dtype: Option<CString>,
    pub dtype_format: i8,
    pub cache: (bool, i64),
    /// typesize, chunksize, blocksize, nchunks, nbytes.
    pub schunk: [i64; 5],
}

fn widen(lengths: &[i32]) -> Vec<i64> {
    lengths.iter().map(|&length| i64::from(length)).collect()
}

/// Returns the fields of an array of a library.
pub fn actual_fields(array: &Array) -> PublicFields {
    let fields = array.fields();
    let ndim = array.ndim();
    let schunk = array.schunk();
    PublicFields {
        ndim,
        shapes: [
            fields.shape.to_vec(),
            fields.extshape.to_vec(),
            fields.extchunkshape.to_vec(),
            widen(&fields.chunkshape),
            widen(&fields.blockshape),
        ],
        counts: [
            fields.nitems,
            fields.extnitems,
            fields.extchunknitems,
            i64::from(fields.chunknitems),
            i64::from(fields.blocknitems),
        ],
        strides: [
            fields.item_array_strides,
            fields.item_chunk_strides,
            fields.item_extchunk_strides,
            fields.item_block_strides,
            fields.block_chunk_strides,
            fields.chunk_array_strides,
        ]
        .map(|strides| strides[..ndim].to_vec()),
        dtype: array.dtype(),
        dtype_format: fields.dtype_format,
        cache: (fields.chunk_cache.data.is_null(), fields.chunk_cache.nchunk),
        schunk: [
            i64::from(schunk.typesize()),
            i64::from(schunk.chunksize()),
            i64::from(schunk.blocksize()),
            schunk.nchunks(),
            schunk.nbytes(),
        ],
    }
}

/// Returns the fields by the formulas of b2nd.md 2.2 and 2.3.
pub fn expected_fields(model: &Model, dtype: Option<CString>, dtype_format: i8) -> PublicFields {
    let g = &model.geometry;
    let ndim = g.ndim();
    let filled = |lengths: &[i64]| {
        let mut all = lengths.to_vec();
        all.resize(16, 1);
        all
    };
    let (ext, extchunk) = (g.extshape(), g.extchunkshape());
    let mut strides: [Vec<i64>; 6] = std::array::from_fn(|_| vec![1; ndim]);
    for dim in (0..ndim.saturating_sub(1)).rev() {
        let next = dim + 1;
        let present = g.shape[next] != 0 && g.chunkshape[next] != 0 && g.blockshape[next] != 0;
        let factors = if present {
            [
                g.shape[next],
                g.chunkshape[next],
                extchunk[next],
                g.blockshape[next],
                extchunk[next] / g.blockshape[next],
                ext[next] * g.chunkshape[next],
            ]
        } else {
            [0; 6]
        };
        for (strides, factor) in strides.iter_mut().zip(factors) {
            strides[dim] = strides[next].wrapping_mul(factor);
        }
    }
    let product = |lengths: &[i64]| lengths.iter().product::<i64>();
    let typesize = g.typesize as i64;
    let chunk_bytes = product(&extchunk) * typesize;
    PublicFields {
        ndim,
        shapes: [
            filled(&g.shape),
            filled(&ext),
            filled(&extchunk),
            filled(&g.chunkshape),
            filled(&g.blockshape),
        ],
        counts: [
            product(&g.shape),
            product(&ext),
            product(&extchunk),
            product(&g.chunkshape),
            product(&g.blockshape),
        ],
        strides,
        dtype,
        dtype_format,
        cache: (true, -1),
        schunk: [
            typesize,
            chunk_bytes,
            product(&g.blockshape) * typesize,
            g.nchunks() as i64,
            g.nchunks() as i64 * chunk_bytes,
        ],
    }
}
