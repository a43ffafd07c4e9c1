//! The initial setup of a sequence: geometry, store, back-end, parameters. It depends on the seed alone.

use std::ffi::CString;

use super::geometry::Geometry;
use crate::support::array::ArraySpec;
use crate::support::calls::Params;
use crate::support::random::Random;
use crate::support::super_chunk::Store;

/// The back-end of a file (frame.md 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Native,
    /// With the lock of the frame.
    Locking,
    /// Contiguous frames only.
    Mapped,
    /// A user-defined back-end that fills buffers.
    UserReadsIntoBuffer,
    /// A user-defined back-end that returns pointers.
    UserReturnsPointer,
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Setup {
    pub spec: ArraySpec,
    pub backend: Backend,
    /// `blosc2_set_nthreads`, which applies to opened handles.
    pub global_threads: i16,
}

/// Upper limits of the size of an array with its padding in bytes, and of the number of chunks and of blocks of a
/// chunk.
const MAX_ARRAY_BYTES: i64 = 1 << 16;
const MAX_PARTS: i64 = 200;

/// Returns whether an array is small enough for these tests.
pub fn is_small(geometry: &Geometry) -> bool {
    let count = |lengths: &[i64]| lengths.iter().fold(1i64, |product, &n| product.saturating_mul(n.max(1)));
    let chunk = count(&geometry.extchunkshape()).saturating_mul(geometry.typesize as i64);
    count(&geometry.chunk_grid()) <= MAX_PARTS
        && count(&geometry.block_grid()) <= MAX_PARTS
        && count(&geometry.chunk_grid()).saturating_mul(chunk) <= MAX_ARRAY_BYTES
}

impl Setup {
    pub fn draw(random: &mut Random) -> Setup {
        let typesize = match random.below(10) {
            0 => 1 + random.below(300) as i32,
            1 => *random.pick(&[255, 256, 300]),
            2 => *random.pick(&[3, 7, 12, 16]),
            _ => *random.pick(&[1, 1, 2, 4, 4, 4, 8, 8]),
        };
        let store = *random.pick(&Store::ALL);
        let backend = match random.below(8) {
            _ if !store.is_on_disk() => Backend::Native,
            0 => Backend::UserReadsIntoBuffer,
            1 => Backend::UserReturnsPointer,
            2 => Backend::Locking,
            3 if store == Store::File => Backend::Mapped,
            _ => Backend::Native,
        };
        let ndim = match random.below(12) {
            0 => 0,
            1 => 5 + random.below(2),
            2 => 7 + random.below(10),
            _ => 1 + random.below(4),
        };
        let (shape, chunk, block) = draw_shapes(random, ndim, typesize);
        let narrow = |lengths: Vec<i64>| lengths.into_iter().map(|length| length as i32).collect();
        let spec = ArraySpec {
            shape,
            chunkshape: narrow(chunk),
            blockshape: narrow(block),
            params: draw_params(random, typesize),
            auto: None,
            dthreads: *random.pick(&[1, 1, 2]),
            dtype: draw_dtype(random),
            dtype_format: *random.pick(&[0, 0, 0, 1, 127]),
            metalayers: draw_metalayers(random),
            store,
            path: Default::default(),
        };
        Setup { spec, backend, global_threads: *random.pick(&[1, 1, 2]) }
    }
}

fn draw_dtype(random: &mut Random) -> Option<CString> {
    let text =
        *random.pick(&[None, Some("<i4"), Some("|u1"), Some(""), Some("[('a', '<f8'), ('b', '|S3')]")]);
    text.map(|text| CString::new(text).expect("no NUL"))
}

fn draw_metalayers(random: &mut Random) -> Vec<(CString, Vec<u8>)> {
    let count = *random.pick(&[0, 0, 0, 1, 2, 14]);
    (0..count)
        .map(|number| {
            let len = random.below(40);
            (CString::new(format!("layer {number}")).expect("no NUL"), random.bytes(len))
        })
        .collect()
}

/// Partitions of `shape`: chunks may be longer than the array, blocks longer than the chunks.
pub fn draw_partitions(random: &mut Random, shape: &[i64], typesize: i32) -> (Vec<i64>, Vec<i64>) {
    loop {
        let mut chunk = Vec::new();
        let mut block = Vec::new();
        for &length in shape {
            let most = (length + 1).clamp(1, 12) as usize;
            let part = 1 + random.below(most) as i64;
            let part = if random.one_in(3) { length.clamp(1, 12) } else { part };
            chunk.push(part);
            block.push(match random.below(4) {
                0 => part,
                1 => 1,
                _ => {
                    let longer = usize::from(random.one_in(4));
                    1 + random.below(part as usize + longer) as i64
                }
            });
        }
        let geometry = Geometry {
            shape: shape.to_vec(),
            chunkshape: chunk.clone(),
            blockshape: block.clone(),
            typesize: typesize as usize,
        };
        if is_small(&geometry) {
            return (chunk, block);
        }
        if shape.len() > 3 || random.one_in(4) {
            // Fine partitions of large arrays are rarely drawn.
            let geometry = Geometry { blockshape: chunk.clone(), ..geometry };
            if is_small(&geometry) {
                return (chunk.clone(), chunk);
            }
        }
        let whole: Vec<i64> = shape.iter().map(|&length| length.max(1)).collect();
        if random.one_in(20) {
            return (whole.clone(), whole);
        }
    }
}

fn draw_shapes(random: &mut Random, ndim: usize, typesize: i32) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
    let most = match ndim {
        0 | 1 => 60,
        2 => 16,
        3 => 9,
        4 => 6,
        _ => 3,
    };
    let mut shape: Vec<i64> = (0..ndim).map(|_| 1 + random.below(most) as i64).collect();
    let items = |shape: &[i64]| shape.iter().product::<i64>() * i64::from(typesize);
    while items(&shape) > MAX_ARRAY_BYTES / 4 {
        let dim = random.below(ndim);
        shape[dim] = (shape[dim] / 2).max(1);
    }
    if random.one_in(10) && ndim > 0 {
        shape[random.below(ndim)] = 0;
    }
    let (mut chunk, mut block) = draw_partitions(random, &shape, typesize);
    if random.one_in(3)
        && let Some(dim) = shape.iter().position(|&length| length == 0)
    {
        // A placeholder (b2nd.md 2.1).
        chunk[dim] = 0;
        block[dim] = random.below(3) as i64;
    }
    (shape, chunk, block)
}

/// Draws compression parameters; all are lossless.
pub fn draw_params(random: &mut Random, typesize: i32) -> Params {
    let filters =
        *random.pick(&[[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0]]);
    Params {
        codec: *random.pick(&[0, 0, 1, 1, 2, 4, 5]),
        codec_meta: 0,
        clevel: *random.pick(&[0, 1, 5, 5, 9]),
        use_dict: false,
        typesize,
        nthreads: *random.pick(&[1, 1, 2]),
        // Overridden (b2nd.md 6.1).
        blocksize: *random.pick(&[0, 0, 1, 12_345]),
        splitmode: *random.pick(&[1, 2, 3, 4, 4]),
        filters,
        filters_meta: [0; 6],
    }
}

/// Draws a dimension, sometimes the one after the last.
pub fn draw_axis(random: &mut Random, ndim: usize) -> usize {
    let behind = usize::from(random.one_in(10) || ndim == 0);
    random.below(ndim + behind)
}
