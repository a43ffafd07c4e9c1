//! One point of the grid of codecs and filters: its contexts in both libraries, and a chunk of each library. Before
//! timing, each library decodes the chunk of the other.

use crate::Bench;
use crate::calls::{OwnedContext, Params, dparams};

/// Codec, level, filter and threads.
#[derive(Clone, Copy)]
pub struct GridPoint {
    pub codec: (u8, &'static str),
    pub level: u8,
    pub filter: (u8, &'static str),
    pub nthreads: i16,
}

impl GridPoint {
    /// Returns the points that the command line selects.
    pub fn all(bench: &Bench) -> Vec<GridPoint> {
        let options = &bench.options;
        let mut points = Vec::new();
        for &codec in &options.codecs {
            for &level in &options.levels {
                for &filter in &options.filters {
                    points.extend(options.threads.iter().map(|&nthreads| GridPoint {
                        codec,
                        level,
                        filter,
                        nthreads,
                    }));
                }
            }
        }
        points
    }

    /// Returns the points of the middle one of the selected levels, with the first number of threads.
    pub fn of_middle_level(bench: &Bench) -> Vec<GridPoint> {
        let mut points = GridPoint::all(bench);
        let levels = &bench.options.levels;
        let middle = levels[levels.len() / 2];
        points.retain(|point| point.level == middle && point.nthreads == bench.options.threads[0]);
        points
    }
}

impl std::fmt::Display for GridPoint {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.level, self.filter.1)?;
        if self.nthreads > 1 {
            write!(out, " {} threads", self.nthreads)?;
        }
        Ok(())
    }
}

/// The contexts of one library, and its chunk.
pub struct LibraryContexts {
    pub compressor: OwnedContext<'static>,
    pub decompressor: OwnedContext<'static>,
    pub chunk: Vec<u8>,
}

/// Both libraries at one point, each with its own chunk of `data`.
pub struct ContextPair {
    pub ours: LibraryContexts,
    pub reference: LibraryContexts,
}

impl ContextPair {
    /// Compresses `data` with both libraries and checks that each decodes the other's chunk.
    ///
    /// # Panics
    /// If a library does not compress `data`, or does not decode a chunk to `data`.
    pub fn new(bench: &Bench, point: GridPoint, data: &[u8], typesize: i32) -> ContextPair {
        let contexts = |library| {
            let params = Params {
                codec: point.codec.0,
                clevel: point.level,
                typesize,
                nthreads: point.nthreads,
                filters: [0, 0, 0, 0, 0, point.filter.0],
                ..Params::default()
            };
            let mut compressor =
                OwnedContext::for_compression(library, params.cparams()).expect("a compression context");
            let mut chunk = vec![0; data.len() + 32];
            let cbytes = compressor.compress(data, &mut chunk);
            assert!(cbytes > 0, "{}: {point} does not compress: {cbytes}", point.codec.1);
            chunk.truncate(cbytes as usize);
            LibraryContexts {
                compressor,
                decompressor: OwnedContext::for_decompression(library, dparams(point.nthreads)),
                chunk,
            }
        };
        let mut pair = ContextPair { ours: contexts(bench.ours), reference: contexts(bench.reference) };
        pair.check_decoding(data, &format!("{} {point}", point.codec.1));
        pair
    }

    fn check_decoding(&mut self, data: &[u8], name: &str) {
        let mut restored = vec![0xEE; data.len()];
        let read = self.ours.decompressor.decompress(&self.reference.chunk, &mut restored);
        assert!(
            read as usize == data.len() && restored == data,
            "{name}: ours decompresses the reference's chunk to other data, result {read}"
        );
        restored.fill(0xEE);
        let read = self.reference.decompressor.decompress(&self.ours.chunk, &mut restored);
        assert!(
            read as usize == data.len() && restored == data,
            "{name}: the reference decompresses our chunk to other data, result {read}"
        );
    }
}
