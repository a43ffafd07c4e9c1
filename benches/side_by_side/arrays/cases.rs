//! The arrays that are measured: shapes, item types and data. The data are the same in every run.

use crate::datasets::SplitMix64;
use crate::library::Library;
use crate::support::array::{Array, ArraySpec};

/// The type and the content of the items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    /// A smooth field, as in weather data or simulations.
    F32,
    F64,
    /// Integers that follow the same smooth field, with a little noise.
    I32,
    I64,
}

/// An array to measure.
pub struct ArrayCase {
    pub name: &'static str,
    shape: &'static [i64],
    chunkshape: &'static [i32],
    blockshape: &'static [i32],
    items: ItemKind,
}

pub const CASES: [ArrayCase; 5] = [
    ArrayCase {
        name: "2-d f32",
        shape: &[1600, 1500],
        chunkshape: &[400, 500],
        blockshape: &[50, 250],
        items: ItemKind::F32,
    },
    ArrayCase {
        name: "2-d i64",
        shape: &[1024, 1024],
        chunkshape: &[256, 512],
        blockshape: &[64, 128],
        items: ItemKind::I64,
    },
    ArrayCase {
        name: "3-d f32",
        shape: &[160, 160, 160],
        chunkshape: &[80, 80, 80],
        blockshape: &[20, 20, 40],
        items: ItemKind::F32,
    },
    // No chunk extent divides the shape, and no block extent divides the chunk: both are padded.
    ArrayCase {
        name: "3-d i32 padded",
        shape: &[150, 130, 170],
        chunkshape: &[64, 50, 60],
        blockshape: &[16, 25, 32],
        items: ItemKind::I32,
    },
    ArrayCase {
        name: "4-d f64",
        shape: &[32, 32, 32, 32],
        chunkshape: &[16, 16, 32, 32],
        blockshape: &[8, 8, 8, 16],
        items: ItemKind::F64,
    },
];

impl ArrayCase {
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    pub fn shape(&self) -> &'static [i64] {
        self.shape
    }

    pub fn blockshape(&self) -> &'static [i32] {
        self.blockshape
    }

    pub fn typesize(&self) -> usize {
        match self.items {
            ItemKind::F32 | ItemKind::I32 => 4,
            ItemKind::F64 | ItemKind::I64 => 8,
        }
    }

    /// Returns the parameters of the array: in memory, LZ4 at level 5 after shuffle.
    pub fn spec(&self, nthreads: i16) -> ArraySpec {
        let mut spec = ArraySpec::new(self.shape, self.chunkshape, self.blockshape, self.typesize() as i32);
        spec.params.codec = 1;
        spec.params.nthreads = nthreads;
        spec.dthreads = nthreads;
        spec
    }

    /// Returns the same parameters with other chunk and block shapes: the target of a copy that rechunks.
    pub fn rechunked_spec(&self, nthreads: i16) -> ArraySpec {
        let mut spec = self.spec(nthreads);
        for (chunk, block) in spec.chunkshape.iter_mut().zip(&mut spec.blockshape) {
            *chunk = (*chunk / 2).max(1);
            *block = (*block).min(*chunk);
        }
        spec
    }

    /// Returns the items in C order.
    pub fn data(&self) -> Vec<u8> {
        let mut random = SplitMix64::new(21);
        let mut at = vec![0usize; self.ndim()];
        let count = self.shape.iter().product::<i64>() as usize;
        let mut bytes = Vec::with_capacity(count * self.typesize());
        let wave = |dim: usize, wave: fn(f64) -> f64, times: f64| -> Vec<f64> {
            let extent = self.shape[dim];
            (0..extent).map(|n| wave(times * n as f64 / extent as f64 + dim as f64)).collect()
        };
        let sines: Vec<_> = (0..self.ndim()).map(|dim| wave(dim, f64::sin, 7.0)).collect();
        let cosines: Vec<_> = (0..self.ndim()).map(|dim| wave(dim, f64::cos, 3.0)).collect();
        for _ in 0..count {
            let value: f64 = (0..self.ndim())
                .map(|dim| {
                    let next = (dim + 1) % self.ndim();
                    sines[dim][at[dim]] * cosines[next][at[next]]
                })
                .sum();
            match self.items {
                ItemKind::F32 => bytes.extend_from_slice(&((280.0 + 15.0 * value) as f32).to_le_bytes()),
                ItemKind::F64 => bytes.extend_from_slice(&(280.0 + 15.0 * value).to_le_bytes()),
                ItemKind::I32 => {
                    let count = (1000.0 + 500.0 * value) as i32 + random.below(8) as i32;
                    bytes.extend_from_slice(&count.to_le_bytes());
                }
                ItemKind::I64 => {
                    let count = (100_000.0 + 50_000.0 * value) as i64 + random.below(8) as i64;
                    bytes.extend_from_slice(&count.to_le_bytes());
                }
            }
            for (place, &extent) in at.iter_mut().zip(self.shape).rev() {
                *place += 1;
                if *place < extent as usize {
                    break;
                }
                *place = 0;
            }
        }
        bytes
    }

    /// Returns an array of each library. Both hold the same chunks, which the reference has compressed.
    pub fn create_pair(
        &self,
        ours: &'static Library,
        reference: &'static Library,
        nthreads: i16,
    ) -> [Array; 2] {
        let theirs = self.spec(nthreads).create_from_buffer(reference, &self.data());
        let own = self.spec(nthreads).zeros(ours);
        let (from, to) = (theirs.schunk(), own.schunk());
        for nchunk in 0..from.nchunks() {
            to.update_chunk(nchunk, &from.get_chunk(nchunk).expect("a chunk")).expect("an update");
        }
        [own, theirs]
    }
}
