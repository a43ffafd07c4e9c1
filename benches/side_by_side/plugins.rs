//! Group `plugins`: the bundled plugin codecs and filters on chunks of an array, in contexts whose `schunk` field is
//! the super-chunk of the array.
//!
//! Filters alone are timed with a registered codec that returns 0 (does not fit) at once, so that the filter dominates
//! the time.

use std::ffi::{c_int, c_void};

use blosc2::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams};

use crate::Bench;
use crate::calls::{OwnedContext, Params, dparams};
use crate::library::Library;
use crate::report::Report;
use crate::support::array::{Array, ArraySpec};
use crate::support::data::Data;
use crate::support::random::Random;
use crate::timing::speed_ratio;

/// Id of the registered codec that compresses nothing.
const NO_OP_CODEC: u8 = 222;

/// A codec with filters, and the data that it is timed on.
struct PluginCase {
    family: &'static str,
    codec: u8,
    meta: u8,
    filters: &'static [(u8, u8)],
    typesizes: &'static [i32],
    blockshapes: &'static [&'static [i32]],
    data: Data,
}

const SQUARES: &[&[i32]] = &[&[64, 64], &[256, 256]];
const ROWS: &[&[i32]] = &[&[1 << 12], &[1 << 15]];

const CASES: [PluginCase; 14] = [
    case("bytedelta", NO_OP_CODEC, 0, &[(35, 0)], &[4, 8], ROWS, Data::Ramp),
    case("shuffle + bytedelta", NO_OP_CODEC, 0, &[(1, 0), (35, 0)], &[2, 4, 8, 16], ROWS, Data::Ramp),
    case("shuffle + bytedelta_buggy", NO_OP_CODEC, 0, &[(1, 0), (34, 0)], &[4], ROWS, Data::Ramp),
    case("shuffle + bytedelta, lz4", 1, 0, &[(1, 0), (35, 0)], &[4, 8], ROWS, Data::SmoothFloats),
    case("int_trunc", NO_OP_CODEC, 0, &[(36, 5)], &[1, 2, 4, 8], ROWS, Data::Ramp),
    case("ndcell", NO_OP_CODEC, 0, &[(32, 4)], &[1, 4, 8], SQUARES, Data::Ramp),
    case("ndcell", NO_OP_CODEC, 0, &[(32, 4)], &[4], &[&[32, 32, 32], &[12, 12, 12, 12]], Data::Ramp),
    case("ndmean", NO_OP_CODEC, 0, &[(33, 4)], &[4, 8], SQUARES, Data::SmoothFloats),
    case("ndlz", 32, 4, &[], &[1], SQUARES, Data::LowEntropy),
    case("ndlz", 32, 8, &[], &[1], SQUARES, Data::Records),
    // The data of the two cases above compress poorly or not at all; these compress.
    case("ndlz, shrinking", 32, 4, &[], &[1], SQUARES, Data::Records),
    case("ndlz, shrinking", 32, 8, &[], &[1], SQUARES, Data::Ramp),
    case("zfp accuracy", 33, 0xfd, &[], &[4, 8], SQUARES, Data::SmoothFloats),
    case("zfp rate", 35, 25, &[], &[4, 8], SQUARES, Data::SmoothFloats),
];

const fn case(
    family: &'static str,
    codec: u8,
    meta: u8,
    filters: &'static [(u8, u8)],
    typesizes: &'static [i32],
    blockshapes: &'static [&'static [i32]],
    data: Data,
) -> PluginCase {
    PluginCase { family, codec, meta, filters, typesizes, blockshapes, data }
}

unsafe extern "C" fn encode_nothing(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    0
}

unsafe extern "C" fn no_decoder(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    -1
}

/// The number of blocks in a chunk.
const NBLOCKS: i32 = 4;

/// The array of one library, a compressed chunk, and the contexts to compress and decompress chunks.
struct PluginContexts {
    _array: Array,
    compressor: OwnedContext<'static>,
    decompressor: OwnedContext<'static>,
    chunk: Vec<u8>,
    /// The destination of compression. It has space for streams that are not shorter than the blocks, so that the chunk
    /// is not stored uncompressed for want of space.
    dest: Vec<u8>,
    content: Vec<u8>,
}

impl PluginContexts {
    fn new(library: &'static Library, spec: &ArraySpec, src: &[u8]) -> PluginContexts {
        let array = spec.zeros(library);
        let mut cparams = spec.params.cparams();
        cparams.schunk = array.fields().sc.cast();
        let mut params = dparams(1);
        params.schunk = array.fields().sc.cast();
        let mut compressor = OwnedContext::for_compression(library, cparams).expect("a context");
        let decompressor = OwnedContext::for_decompression(library, params);
        let mut dest = vec![0; src.len() + 4096];
        let rc = compressor.compress(src, &mut dest);
        assert!(rc > 0, "{}: {rc}: {spec:?}", library.name);
        let chunk = dest[..rc as usize].to_vec();
        PluginContexts { _array: array, compressor, decompressor, chunk, dest, content: vec![0; src.len()] }
    }
}

/// Measures every case on one thread.
pub fn run(bench: &Bench) -> Report {
    for library in [bench.ours, bench.reference] {
        let mut codec = blosc2_codec {
            compcode: NO_OP_CODEC,
            compname: c"nothing".as_ptr().cast_mut(),
            complib: NO_OP_CODEC,
            version: 1,
            encoder: Some(encode_nothing),
            decoder: Some(no_decoder),
        };
        // SAFETY: `codec` is initialised, and its name is a static string.
        assert_eq!(unsafe { (library.blosc2_register_codec)(&mut codec) }, 0, "a codec");
    }
    let mut report = Report::new("plugins", &["compress", "decompress"], bench.options.summary);
    for case in &CASES {
        for &typesize in case.typesizes {
            for blockshape in case.blockshapes {
                measure_case(bench, case, typesize, blockshape, &mut report);
            }
        }
    }
    report
}

fn measure_case(bench: &Bench, case: &PluginCase, typesize: i32, blockshape: &[i32], report: &mut Report) {
    let name = format!("typesize {typesize} blocks {blockshape:?} meta {}", case.meta);
    if !bench.options.is_selected(case.family, &name) {
        return;
    }
    let mut chunkshape = blockshape.to_vec();
    chunkshape[0] *= NBLOCKS;
    let shape: Vec<i64> = chunkshape.iter().map(|&extent| extent.into()).collect();
    let mut spec = ArraySpec::new(&shape, &chunkshape, blockshape, typesize);
    let (mut filters, mut filters_meta) = ([0; 6], [0; 6]);
    for (slot, &(id, meta)) in (6 - case.filters.len()..).zip(case.filters) {
        (filters[slot], filters_meta[slot]) = (id, meta);
    }
    spec.params = Params {
        codec: case.codec,
        codec_meta: case.meta,
        typesize,
        blocksize: blockshape.iter().product::<i32>() * typesize,
        splitmode: 2,
        filters,
        filters_meta,
        ..Params::default()
    };
    let src = case.data.generate(&mut Random::new(1), typesize as usize, spec.nbytes());
    let mut ours = PluginContexts::new(bench.ours, &spec, &src);
    let mut reference = PluginContexts::new(bench.reference, &spec, &src);
    let compress = |contexts: &mut PluginContexts| {
        assert!(contexts.compressor.compress(&src, &mut contexts.dest) > 0);
    };
    let compression = speed_ratio(&bench.options, 1, || compress(&mut ours), || compress(&mut reference));
    let chunk = reference.chunk.clone();
    let decompress = |contexts: &mut PluginContexts| {
        assert_eq!(contexts.decompressor.decompress(&chunk, &mut contexts.content), src.len() as i32);
    };
    decompress(&mut ours);
    decompress(&mut reference);
    assert!(ours.content == reference.content, "{}: other bytes", case.family);
    let decompression =
        speed_ratio(&bench.options, 1, || decompress(&mut ours), || decompress(&mut reference));
    report.add(case.family, name, vec![compression, decompression]);
}
