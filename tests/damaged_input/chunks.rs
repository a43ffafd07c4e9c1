//! Damaged chunks: for arbitrary bytes, reading returns an error or the whole result. No byte outside the buffers is
//! read or written (both lie next to inaccessible pages), and no call hangs or panics.
//!
//! ```text
//! BLOSC2_MUTANTS=100000 cargo test --release --test damaged_input chunks::
//! ```
//!
//! runs that many mutants per codec; `BLOSC2_MUTANT_SEED` selects another sample and `BLOSC2_MUTANT_ONLY=<case>`
//! replays one case of it. Each codec runs in a child process, so that a crash or a hang is a failed test that names
//! its case.

#[cfg(all(feature = "ndlz", feature = "zfp"))]
mod plugin_codecs;

use std::ptr;
use std::time::Duration;

use blosc2::abi::blosc2_dparams;

use crate::support::array::Array;
use crate::support::calls::{
    DEST_FILL_BYTE, Header, OwnedContext, Params, Special, compress, compress_copy, dparams, special_chunk,
    vlcompress,
};
use crate::support::child::{test_again, test_name};
use crate::support::data::Data;
use crate::support::guard::GuardedBuffer;
use crate::support::known_defects as defects;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::short_header::with_short_header;
use crate::support::super_chunk::functions::SchunkPtr;
use crate::support::watchdog;

const CHILD_VARIABLE: &str = "BLOSC2_MUTANT_CHILD";
const DEFAULT_SEED: u64 = 13;
const CAPACITY: usize = 256 << 10;

/// A valid chunk from which mutants are made.
struct Original {
    chunk: Vec<u8>,
    nbytes: usize,
    /// The super-chunk that the codec reads the shape of the blocks from, NULL if it reads none.
    schunk: SchunkPtr,
}

impl Original {
    fn new(chunk: Vec<u8>) -> Original {
        let nbytes = Header::parse(&chunk).nbytes as usize;
        Original { chunk, nbytes, schunk: ptr::null_mut() }
    }
}

/// Returns chunks of every kind made with this codec, by every available library.
fn originals(codec: u8) -> Vec<Original> {
    let random = &mut Random::new(1000 + u64::from(codec));
    let mut originals = Vec::new();
    let pipelines: [([u8; 6], [u8; 6]); 7] = [
        ([0, 0, 0, 0, 0, 0], [0; 6]),
        ([0, 0, 0, 0, 0, 1], [0; 6]),
        ([0, 0, 0, 0, 0, 2], [0; 6]),
        ([0, 0, 0, 0, 0, 3], [0; 6]),
        ([0, 0, 0, 0, 3, 1], [0; 6]),
        ([0, 0, 0, 4, 2, 0], [0, 0, 0, 10, 0, 0]),
        ([1, 2, 1, 0, 3, 1], [0, 0, 3, 0, 0, 2]),
    ];
    for library in crate::support::all_libraries() {
        // The last two are large enough for worker threads.
        let shapes = [
            (1, 100, 0),
            (4, 1000, 128),
            (4, 5000, 0),
            (8, 4096, 512),
            (17, 3000, 500),
            (300, 6000, 900),
            (4, 80_000, 8192),
            (8, 70_000, 4000),
        ];
        for (typesize, nbytes, blocksize) in shapes {
            for (filters, filters_meta) in pipelines {
                let params = Params {
                    codec,
                    typesize,
                    blocksize,
                    filters,
                    filters_meta,
                    clevel: *random.pick(&[1, 5, 9]),
                    splitmode: *random.pick(&[1, 2, 4]),
                    ..Params::default()
                };
                let data = *random.pick(&[Data::Ramp, Data::Text, Data::Mixed, Data::Records, Data::Sparse]);
                let src = data.generate(random, typesize as usize, nbytes);
                for use_dict in [false, nbytes >= 5000 && matches!(codec, 1 | 2 | 5)] {
                    let params = Params { use_dict, ..params.clone() };
                    let roomy = defects::sufficient_destsize(&params, nbytes as i32);
                    if library.is_reference()
                        && !defects::compression_verdict(&params, nbytes as i32, roomy).can_call()
                    {
                        continue;
                    }
                    let lossy_here = filters.contains(&4) && typesize != 4 && typesize != 8;
                    let result = compress_copy(library, &params, &src, roomy, true);
                    let Ok(chunk) = result else {
                        assert!(lossy_here, "{}: {params:?}: {:?}", library.name, result.err());
                        continue;
                    };
                    originals.extend(with_short_header(&chunk).map(Original::new));
                    originals.push(Original::new(chunk));
                }
            }
        }
        let params = Params { codec, typesize: 4, ..Params::default() };
        let noise = random.bytes(2000);
        for (clevel, len) in [(0, 2000), (5, 20), (9, 2000)] {
            let chunk = compress(library, &Params { clevel, ..params.clone() }, &noise[..len], len + 32);
            let chunk = chunk.expect("a raw copy");
            originals.extend(with_short_header(&chunk).map(Original::new));
            originals.push(Original::new(chunk));
        }
        for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&[1, 2, 3, 4])] {
            originals.push(Original::new(
                special_chunk(library, &params, special, 4000, 36).expect("a special chunk"),
            ));
        }
        let blocks = |random: &mut Random, count: usize, largest: usize| -> Vec<Vec<u8>> {
            (0..count)
                .map(|_| {
                    let len = 4 * (1 + random.below(largest / 4));
                    Data::Text.generate(random, 4, len)
                })
                .collect()
        };
        for (count, largest, filters) in
            [(1, 200, 0), (3, 100, 1), (12, 300, 2), (7, 2000, 3), (40, 400, 1), (30, 6000, 1)]
        {
            let blocks = blocks(random, count, largest);
            for use_dict in [false, matches!(codec, 1 | 2 | 5)] {
                let filters = [0, 0, 0, 0, 0, filters];
                let params = Params { use_dict, filters, ..params.clone() };
                originals
                    .push(Original::new(vlcompress(library, &params, &blocks, CAPACITY).expect("a chunk")));
            }
        }
    }
    // A lazy chunk without the frame that its data are in (chunk.md 8 V15).
    let mut lazy = crate::support::hex(
        "05 01 25 04 20 01 00 00 80 00 00 00 c2 00 00 00 00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 08
         2c 00 00 00 5c 00 00 00 9e 00 00 00 01 00 00 00 11 01 00 00 00 00 00 00 30 00 00 00 42 00 00 00
         24 00 00 00",
    );
    lazy[0x16] = codec;
    originals.push(Original::new(lazy));
    originals
}

const INTERESTING: [i32; 40] = [
    0,
    1,
    -1,
    2,
    3,
    4,
    5,
    7,
    8,
    15,
    16,
    17,
    20,
    31,
    32,
    33,
    36,
    40,
    48,
    127,
    128,
    255,
    256,
    -2,
    -4,
    -255,
    -256,
    1000,
    4096,
    32_768,
    32_769,
    65_536,
    1 << 20,
    536_866_816,
    536_866_817,
    1 << 30,
    i32::MAX - 32,
    i32::MAX - 31,
    i32::MAX,
    i32::MIN,
];

/// Makes one change of the bytes.
fn mutate(random: &mut Random, chunk: &mut Vec<u8>) {
    if chunk.is_empty() {
        return;
    }
    let len = chunk.len();
    // The structure is at the start.
    let position = |random: &mut Random| {
        let within = *random.pick(&[16, 32, 32, 64, 128, len, len, len]);
        random.below(within.min(len))
    };
    let splice = |chunk: &mut Vec<u8>, at: usize, value: i32| {
        for (byte, new) in chunk[at..].iter_mut().zip(value.to_le_bytes()) {
            *byte = new;
        }
    };
    match random.below(12) {
        0..=2 => {
            let at = position(random);
            chunk[at] ^= 1 << random.below(8);
        }
        3..=4 => {
            let at = position(random);
            chunk[at] = *random.pick(&[0, 1, 2, 0x7F, 0x80, 0xFF, 0xFE, random.clone().byte()]);
        }
        5 => chunk.truncate(random.below(len)),
        6..=8 => {
            let at = match random.below(4) {
                0 => *random.pick(&[4, 8, 12]),
                1 => 16 + 4 * random.below(12),
                _ => position(random),
            };
            let near = random.below(9) as i32 - 4;
            let value = match random.below(4) {
                0 => len as i32 + near,
                1 if at + 4 <= len => {
                    i32::from_le_bytes(chunk[at..at + 4].try_into().expect("four bytes")).wrapping_add(near)
                }
                _ => *random.pick(&INTERESTING),
            };
            splice(chunk, at.min(len - 1), value);
        }
        9 => {
            let (a, b) = (position(random), position(random));
            chunk.swap(a, b);
        }
        10 => {
            let (from, to) = (position(random), position(random));
            let count = (1 + random.below(64)).min(len - from.max(to));
            chunk.copy_within(from..from + count, to);
        }
        _ => {
            // Makes the total length consistent again, since it is checked first.
            if len >= 16 {
                splice(chunk, 12, len as i32);
            }
            let more = random.below(40);
            chunk.extend(random.bytes(more));
        }
    }
}

/// Contexts that are reused from case to case: their state must not affect the results.
struct Reader {
    library: &'static Library,
    serial: OwnedContext<'static>,
    parallel: OwnedContext<'static>,
    /// The super-chunk of both contexts.
    schunk: SchunkPtr,
    dest: GuardedBuffer,
}

/// Returns a context with one thread, and one with four.
fn contexts(library: &'static Library, schunk: SchunkPtr) -> [OwnedContext<'static>; 2] {
    [1, 4].map(|nthreads| {
        let params = blosc2_dparams { schunk: schunk.cast(), ..dparams(nthreads) };
        OwnedContext::for_decompression(library, params)
    })
}

impl Reader {
    fn new(library: &'static Library) -> Reader {
        let [serial, parallel] = contexts(library, ptr::null_mut());
        Reader { library, serial, parallel, schunk: ptr::null_mut(), dest: GuardedBuffer::new(CAPACITY) }
    }

    /// Calls every function that reads a chunk.
    fn read(&mut self, random: &mut Random, original: &Original, source: &[u8], at_end: bool) {
        let stated = (source.len() >= 32).then(|| Header::parse(source));
        let stated_nbytes = stated.as_ref().map_or(0, |header| header.nbytes);
        let destsize = match random.below(8) {
            0 => random.below(original.nbytes + 1),
            1 => original.nbytes + 100,
            2..=4 if (0..CAPACITY as i32).contains(&stated_nbytes) => stated_nbytes as usize,
            _ => original.nbytes,
        };
        // Chunks that need a super-chunk are also read without one.
        let schunk = if random.one_in(20) { ptr::null_mut() } else { original.schunk };
        if random.one_in(50) || schunk != self.schunk {
            [self.serial, self.parallel] = contexts(self.library, schunk);
            self.schunk = schunk;
        }

        let mut whole: [Option<Vec<u8>>; 2] = [None, None];
        for (context, whole) in [&mut self.serial, &mut self.parallel].into_iter().zip(&mut whole) {
            watchdog::record_step();
            let dest = self.dest.edge_bytes(destsize, at_end);
            dest.fill(DEST_FILL_BYTE);
            let rc = context.decompress(source, dest);
            assert!(rc <= destsize as i32, "decompress: {rc} bytes into {destsize}");
            if rc >= 0 {
                let nbytes = i32::from_le_bytes(source[4..8].try_into().expect("four bytes"));
                assert_eq!(rc, nbytes, "decompress: partial success");
                *whole = Some(dest[..rc as usize].to_vec());
            }
        }
        assert_eq!(whole[0].is_some(), whole[1].is_some(), "success depends on the number of threads");
        assert!(whole[0] == whole[1], "the bytes depend on the number of threads");
        let [whole, _] = whole;

        self.read_items(random, original, source, whole.as_deref(), at_end);
        self.read_variable_length(random, source, stated.as_ref());
        self.inspect(source);

        if let (Some(header), true) = (&stated, random.one_in(8)) {
            watchdog::record_step();
            let nblocks =
                (header.nbytes.max(0) as usize).div_ceil(header.blocksize.max(1) as usize).min(5000);
            let mut mask: Vec<u8> = (0..nblocks).map(|_| random.byte() & 1).collect();
            let context = if random.one_in(2) { &mut self.serial } else { &mut self.parallel };
            assert_eq!(context.set_maskout(&mut mask), 0);
            let rc = context.decompress(source, self.dest.edge_bytes(destsize, at_end));
            assert!(rc < 0 || rc == header.nbytes, "masked decompress: {rc}");
            assert!(rc <= destsize as i32, "masked decompress: {rc} bytes into {destsize}");
        }
    }

    fn read_items(
        &mut self,
        random: &mut Random,
        original: &Original,
        source: &[u8],
        whole: Option<&[u8]>,
        at_end: bool,
    ) {
        let unit = if source.len() >= 16 { i32::from(source[3]).max(1) } else { 1 };
        for _ in 0..2 {
            watchdog::record_step();
            let items = original.nbytes / unit as usize + 2;
            let start =
                if random.one_in(10) { *random.pick(&INTERESTING) } else { random.below(items) as i32 };
            let count =
                if random.one_in(10) { *random.pick(&INTERESTING) } else { random.below(items) as i32 };
            let exact = i64::from(count) * i64::from(unit);
            let destsize = match random.below(4) {
                0 => random.below(2000),
                _ => exact.clamp(0, CAPACITY as i64) as usize,
            };
            for (bytes, context) in [(false, &mut self.serial), (true, &mut self.parallel)] {
                let dest = self.dest.edge_bytes(destsize, at_end);
                dest.fill(DEST_FILL_BYTE);
                let rc = if bytes {
                    let (start, count) = (start.wrapping_mul(unit), count.wrapping_mul(unit));
                    context.getitem_bytes(source, start, count, dest)
                } else {
                    context.getitem(source, start, count, dest)
                };
                if rc < 0 {
                    continue;
                }
                let exact = if bytes { i64::from(count.wrapping_mul(unit)) } else { exact };
                assert_eq!(
                    i64::from(rc),
                    exact,
                    "getitem({start}, {count}), bytes: {bytes}: partial success"
                );
                assert!(rc as usize <= destsize, "getitem: {rc} bytes into {destsize}");
                if let (Some(whole), true) = (whole, rc > 0) {
                    let from = if bytes {
                        start.wrapping_mul(unit) as usize
                    } else {
                        start as usize * unit as usize
                    };
                    assert!(
                        dest[..rc as usize] == whole[from..from + rc as usize],
                        "getitem({start}, {count}), bytes: {bytes}, differs from decompress"
                    );
                }
            }
        }
    }

    fn read_variable_length(&mut self, random: &mut Random, source: &[u8], header: Option<&Header>) {
        watchdog::record_step();
        let mut nblocks = -1;
        // SAFETY: a source of its stated length and a valid out-pointer.
        let rc = unsafe {
            (self.library.blosc2_vlchunk_get_nblocks)(
                source.as_ptr().cast(),
                source.len() as i32,
                &mut nblocks,
            )
        };
        assert!(rc <= 0, "vlchunk_get_nblocks: {rc}");
        let stated = header.map_or(1, |header| header.blocksize.clamp(1, 2000));
        let maxblocks = if random.one_in(4) { 1 + random.below(100) as i32 } else { stated };
        let context = if random.one_in(2) { &mut self.serial } else { &mut self.parallel };
        if let Ok(blocks) = context.vldecompress(source, maxblocks as usize) {
            assert_eq!(rc, 0, "blocks of a chunk that has no number of blocks");
            assert_eq!(blocks.len() as i32, nblocks);
            let sum: usize = blocks.iter().map(Vec::len).sum();
            let header = header.expect("a whole header");
            assert_eq!(sum as i32, header.nbytes, "vldecompress: partial success");
            let nblock = random.below(blocks.len());
            watchdog::record_step();
            let block = self.serial.vldecompress_block(source, nblock as i32);
            assert_eq!(block.as_ref(), Ok(&blocks[nblock]), "vldecompress_block({nblock})");
        }
        watchdog::record_step();
        let nblock = if random.one_in(5) { *random.pick(&INTERESTING) } else { random.below(16) as i32 };
        if let Ok(block) = self.parallel.vldecompress_block(source, nblock) {
            assert!(!block.is_empty(), "an empty block");
        }
    }

    /// Calls the inspectors, which take no size and read 16 bytes.
    fn inspect(&self, source: &[u8]) {
        watchdog::record_step();
        let library = self.library;
        let mut size = 77usize;
        // SAFETY: a source of its stated length; valid out-pointers throughout.
        let rc =
            unsafe { (library.blosc1_cbuffer_validate)(source.as_ptr().cast(), source.len(), &mut size) };
        assert!(rc <= 0 && (rc == 0 || size == 0), "validate: {rc}, {size}");
        if source.len() < 16 {
            return;
        }
        let chunk = source.as_ptr().cast();
        let (mut nbytes, mut cbytes, mut blocksize) = (-1, -1, -1);
        let (mut typesize, mut flags, mut version, mut versionlz) = (77usize, -1, -1, -1);
        let (mut a, mut b, mut c) = (77usize, 77usize, 77usize);
        // SAFETY: 16 readable bytes and valid out-pointers; the name is static text or NULL.
        unsafe {
            let rc = (library.blosc2_cbuffer_sizes)(chunk, &mut nbytes, &mut cbytes, &mut blocksize);
            assert!(rc == 0 || rc == -11 && (nbytes, cbytes, blocksize) == (0, 0, 0), "sizes: {rc}");
            (library.blosc1_cbuffer_sizes)(chunk, &mut a, &mut b, &mut c);
            assert_eq!((a, b, c), (nbytes as usize, cbytes as usize, blocksize as usize));
            (library.blosc1_cbuffer_metainfo)(chunk, &mut typesize, &mut flags);
            (library.blosc2_cbuffer_versions)(chunk, &mut version, &mut versionlz);
            let name = (library.blosc2_cbuffer_complib)(chunk);
            if !name.is_null() {
                assert!(!std::ffi::CStr::from_ptr(name).to_bytes().is_empty());
            }
        }
        assert!(typesize <= 255 && (0..=255).contains(&flags));
        assert!((0..=255).contains(&version) && (0..=255).contains(&versionlz));
    }
}

fn run_child(codec: u8) {
    let seed = from_environment("BLOSC2_MUTANT_SEED", DEFAULT_SEED) ^ u64::from(codec) << 32;
    let cases = match std::env::var("BLOSC2_MUTANT_ONLY") {
        Ok(text) => {
            let case: u64 = text.parse().expect("BLOSC2_MUTANT_ONLY is a number");
            case..case + 1
        }
        Err(_) => 0..from_environment("BLOSC2_MUTANTS", 2000),
    };
    let mut stderr = watchdog::CapturedStderr::capture();
    // The arrays own the super-chunks of the originals.
    let (_arrays, originals) = match codec {
        #[cfg(all(feature = "ndlz", feature = "zfp"))]
        codec if plugin_codecs::is_plugin_codec(codec) => plugin_codecs::originals(codec),
        _ => (Vec::<Array>::new(), originals(codec)),
    };
    stderr.take_text();
    let mut reader = Reader::new(Library::ours());
    let mut guarded = GuardedBuffer::new(CAPACITY);
    watchdog::start(seed, Duration::from_secs(20));
    let mut failures = 0;
    for index in cases {
        watchdog::set_case(index);
        let random = &mut Random::of_item(seed, index);
        let original = random.pick(&originals);
        let mut mutant = original.chunk.clone();
        for _ in 0..*random.pick(&[0, 1, 1, 1, 1, 2, 2, 3, 5]) {
            mutate(random, &mut mutant);
        }
        let at_end = !random.one_in(4);
        let source = guarded.edge_bytes(mutant.len(), at_end);
        source.copy_from_slice(&mutant);
        let run = std::panic::AssertUnwindSafe(|| reader.read(random, original, source, at_end));
        let failed = std::panic::catch_unwind(run).is_err();
        let said = stderr.take_text();
        // A panic inside the library is caught at the ABI boundary and returned as an error code.
        if failed || said.contains("panicked") || said.contains("defect of the library") {
            let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).take(40).collect();
            stderr.write_line(&lines.join("\n"));
            stderr.write_line(&format!(
                "FAILED: codec {codec} run {seed} case {index}: {}",
                describe(original, &mutant)
            ));
            failures += 1;
            assert!(failures < 10, "too many failures");
        }
    }
    assert_eq!(failures, 0);
}

/// Describes the header of the mutant and its differences from the valid chunk.
fn describe(original: &Original, mutant: &[u8]) -> String {
    let changed: Vec<String> = (0..mutant.len().min(original.chunk.len()))
        .filter(|&at| mutant[at] != original.chunk[at])
        .take(16)
        .map(|at| format!("[{at}] {:02x} -> {:02x}", original.chunk[at], mutant[at]))
        .collect();
    format!(
        "{} bytes, valid {} bytes; header {:02x?}; changed {changed:?}",
        mutant.len(),
        original.chunk.len(),
        &mutant[..mutant.len().min(32)]
    )
}

/// Runs the test `name` of this executable again, as the child that runs the cases.
fn run_in_child(name: &str, codec: u8) {
    if std::env::var_os(CHILD_VARIABLE).is_some() {
        return run_child(codec);
    }
    if Library::ours().is_reference() {
        // The reference is known to crash on damaged chunks (chunk.md 2.4).
        return;
    }
    let output = test_again(name)
        .env(CHILD_VARIABLE, "1")
        // The library prints error messages and its own panics.
        .env("BLOSC_TRACE", "1")
        // The search for a plugin codec that a mutant names starts a Python interpreter.
        .env("BLOSC2_PLUGINS", "off")
        .output()
        .expect("the child");
    let errors = String::from_utf8_lossy(&output.stderr);
    let start = errors.len() - errors.len().min(12_000);
    let tail: String = errors.chars().skip(start).collect();
    assert!(output.status.success(), "{name}: {}\n{tail}", output.status);
}

#[test]
fn damaged_blosclz_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), 0);
}

#[test]
fn damaged_lz4_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), 1);
}

#[test]
fn damaged_lz4hc_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), 2);
}

#[test]
fn damaged_zlib_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), 4);
}

#[test]
fn damaged_zstd_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), 5);
}

#[cfg(all(feature = "ndlz", feature = "zfp"))]
#[test]
fn damaged_ndlz_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), plugin_codecs::NDLZ);
}

#[cfg(all(feature = "ndlz", feature = "zfp"))]
#[test]
fn damaged_zfp_accuracy_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), plugin_codecs::ZFP_ACC);
}

#[cfg(all(feature = "ndlz", feature = "zfp"))]
#[test]
fn damaged_zfp_precision_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), plugin_codecs::ZFP_PREC);
}

#[cfg(all(feature = "ndlz", feature = "zfp"))]
#[test]
fn damaged_zfp_rate_chunks_give_an_error_or_a_whole_result() {
    run_in_child(test_name!(), plugin_codecs::ZFP_RATE);
}
