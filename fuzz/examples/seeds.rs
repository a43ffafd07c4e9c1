//! Writes the inputs that the fuzz targets start from, a folder for each target:
//!
//! ```text
//! cargo run --release --example seeds -- corpus
//! ```
//!
//! The inputs come from the fixtures of old releases and from chunks, streams, frames and arrays of this library. Each
//! run writes the same names and bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use blosc2::internals::streams::{NativeCodec, StreamCoder};
use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry as Geometry};
use libblosc2_fuzz::container::pack;
use libblosc2_fuzz::support::calls::{Params, Special, compress, special_chunk, vlcompress};
use libblosc2_fuzz::support::data::Data;
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::support::short_header::with_short_header;
use libblosc2_fuzz::support::super_chunk::SuperChunk;
use libblosc2_fuzz::{Form, SEED_LEN, array_originals, fields, frame_originals, library};

/// Upper limit for a seed in bytes: libFuzzer is slow on long inputs.
const MAX_SEED_LEN: usize = 12_000;
/// The ids of the codecs of chunks.
const CODECS: [u8; 5] = [0, 1, 2, 4, 5];

/// The targets that read chunks.
const CHUNK_TARGETS: [&str; 3] = ["blosc1", "decompress", "getitem"];

struct Corpus {
    root: PathBuf,
    counts: BTreeMap<&'static str, usize>,
}

impl Corpus {
    /// Writes a seed for each of `targets`: `data`, then the parameter bytes (see `split`).
    fn add(&mut self, targets: &[&'static str], data: &[u8]) {
        if data.len() > MAX_SEED_LEN {
            return;
        }
        for &target in targets {
            let count = self.counts.entry(target).or_default();
            let parameters = Random::new(*count as u64).next().to_le_bytes();
            let folder = self.root.join(target);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(format!("seed-{count:05}")), [data, &parameters[..SEED_LEN]].concat())
                .expect("a seed");
            *count += 1;
        }
    }
}

/// Reads the parts of a fixture.
struct Fixture<'a>(&'a [u8]);

impl<'a> Fixture<'a> {
    fn number(&mut self) -> usize {
        let (head, tail) = self.0.split_first_chunk::<4>().expect("a number");
        self.0 = tail;
        u32::from_le_bytes(*head) as usize
    }

    fn sized_bytes(&mut self) -> &'a [u8] {
        let len = self.number();
        let (head, tail) = self.0.split_at(len);
        self.0 = tail;
        head
    }
}

/// Returns the contents of the files in a folder of fixtures, without the `magic` prefix.
fn fixtures(folder: &str, magic: &[u8]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capi-tests/fixtures").join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("the fixtures").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            fs::read(path).expect("a fixture").strip_prefix(magic).expect("the magic number").to_vec()
        })
        .collect()
}

fn add_old_chunks(corpus: &mut Corpus) {
    for file in fixtures("chunks", b"B2FX") {
        let mut fixture = Fixture(&file);
        let count = fixture.number();
        let mut taken = 0;
        for number in 0..count {
            let _description = fixture.sized_bytes();
            let chunk = fixture.sized_bytes();
            // The first record names the release. Each file has hundreds of similar chunks; 40 are taken.
            if number > 0 && chunk.len() <= MAX_SEED_LEN && taken < 40 {
                corpus.add(&CHUNK_TARGETS, chunk);
                taken += 1;
            }
        }
    }
}

fn add_old_frames(corpus: &mut Corpus) {
    for file in fixtures("frames", b"B2FR") {
        let mut fixture = Fixture(&file);
        for number in 0..fixture.number() {
            let _description = fixture.sized_bytes();
            let files = (0..fixture.number())
                .map(|_| {
                    let name = String::from_utf8(fixture.sized_bytes().to_vec()).expect("a name");
                    (name, fixture.sized_bytes().to_vec())
                })
                .collect();
            if number > 0 {
                corpus.add(&["frame", "array"], &pack(&files));
            }
        }
    }
}

fn add_chunks(corpus: &mut Corpus) {
    let (library, random) = (library(), &mut Random::new(1));
    let pipelines = [
        [0; 6],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 2],
        [0, 0, 0, 0, 3, 1],
        [0, 0, 0, 0, 1, 35],
        [1, 2, 1, 0, 3, 1],
    ];
    let shapes =
        [(1, 100, 0), (4, 1000, 128), (8, 4096, 512), (17, 3000, 500), (300, 6000, 900), (4, 20_000, 8192)];
    add_parallel_chunks(corpus);
    for codec in CODECS {
        for (typesize, nbytes, blocksize) in shapes {
            for filters in pipelines {
                let mut params = Params { codec, typesize, blocksize, filters, ..Params::default() };
                params.clevel = *random.pick(&[1, 5, 9]);
                params.splitmode = *random.pick(&[1, 2, 4]);
                params.filters_meta[5] = if filters[5] == 35 { typesize.min(255) as u8 } else { 0 };
                let kind = *random.pick(&[Data::Ramp, Data::Text, Data::Mixed, Data::Records, Data::Sparse]);
                let src = kind.generate(random, typesize as usize, nbytes);
                for use_dict in [false, nbytes >= 4000 && matches!(codec, 1 | 2 | 5)] {
                    params.use_dict = use_dict;
                    let Ok(chunk) = compress(library, &params, &src, 2 * nbytes + 50_000) else { continue };
                    corpus.add(&CHUNK_TARGETS, &chunk);
                    if let Some(short) = with_short_header(&chunk) {
                        corpus.add(&CHUNK_TARGETS, &short);
                    }
                }
            }
        }
        let params = Params { codec, typesize: 4, ..Params::default() };
        for (count, largest, filter) in [(1, 200, 0), (3, 100, 1), (12, 300, 2), (7, 2000, 3), (30, 400, 1)] {
            let blocks: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let len = 4 * (1 + random.below(largest / 4));
                    Data::Text.generate(random, 4, len)
                })
                .collect();
            for use_dict in [false, matches!(codec, 1 | 2 | 5)] {
                let params = Params { use_dict, filters: [0, 0, 0, 0, 0, filter], ..params.clone() };
                corpus.add(&CHUNK_TARGETS, &vlcompress(library, &params, &blocks, 50_000).expect("a chunk"));
            }
        }
        for (clevel, len) in [(0, 2000), (5, 20), (9, 2000)] {
            let noise = random.bytes(len);
            let chunk =
                compress(library, &Params { clevel, ..params.clone() }, &noise, len + 32).expect("a chunk");
            corpus.add(&CHUNK_TARGETS, &chunk);
        }
    }
    let params = Params { typesize: 4, ..Params::default() };
    for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&[1, 2, 3, 4])] {
        corpus.add(&CHUNK_TARGETS, &special_chunk(library, &params, special, 4000, 36).expect("a chunk"));
    }
}

/// Adds chunks of several blocks that several threads decode. The library uses several threads from 64 KiB of content
/// on: the content compresses well, so that the chunks are not longer than [`MAX_SEED_LEN`].
fn add_parallel_chunks(corpus: &mut Corpus) {
    let (library, random) = (library(), &mut Random::new(3));
    for codec in CODECS {
        for (nbytes, blocksize) in [(70_000, 16_384), (250_000, 65_536)] {
            for filters in [[0; 6], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 3, 2]] {
                let params =
                    Params { codec, typesize: 4, blocksize, filters, clevel: 5, ..Params::default() };
                let period = Data::Records.generate(random, 4, 1000);
                let src: Vec<u8> = period.iter().copied().cycle().take(nbytes).collect();
                corpus.add(
                    &CHUNK_TARGETS,
                    &compress(library, &params, &src, nbytes + 50_000).expect("a chunk"),
                );
            }
        }
    }
}

fn add_streams(corpus: &mut Corpus) {
    let (random, streams) = (&mut Random::new(2), &mut StreamCoder::default());
    let mut dest = vec![0; 100_000];
    for kind in Data::ALL {
        for len in [40, 300, 2000, 9000] {
            let src = kind.generate(random, 4, len);
            corpus.add(&["context_round_trip", "vlmeta", "blosclz", "lz4", "inflate", "zfp", "ndlz"], &src);
            for (target, codec) in [
                ("blosclz", NativeCodec::BloscLz),
                ("lz4", NativeCodec::Lz4),
                ("lz4", NativeCodec::Lz4Hc),
                ("inflate", NativeCodec::Zlib),
            ] {
                for clevel in [1, 5, 9] {
                    let written = streams.encode(codec, clevel, &[], &src, &mut dest);
                    if written > 0 {
                        corpus.add(&[target], &dest[..written]);
                    }
                }
            }
            for cell in [4, 8] {
                let rows = len / 20;
                let written = streams.encode_ndlz(cell, [20, rows as i32], &src[..20 * rows], &mut dest);
                if written > 0 {
                    corpus.add(&["ndlz"], &dest[..written]);
                }
            }
            for (mode, meta) in [(Mode::Accuracy, 0), (Mode::Precision, 10), (Mode::Rate, 30)] {
                let array = Geometry { blockshape: &[len as i32 / 4], typesize: 4 };
                if let Ok(written @ 1..) = (Zfp { mode, meta }).encode(array, &src[..len / 4 * 4], &mut dest)
                {
                    corpus.add(&["zfp"], &dest[..written]);
                }
            }
        }
    }
}

fn add_frames(corpus: &mut Corpus) {
    for form in [Form::File, Form::Directory] {
        for original in frame_originals::originals(form) {
            let input = pack(&original.files);
            corpus.add(&["frame", "array"], &input);
            let main = &original.files[original.main_file()];
            let trailer = &main[original.layout.trailer..];
            corpus.add(&["vlmeta"], &trailer[..trailer.len() - 23]);
            // Lazy chunks as separate inputs, without their frame.
            if form == Form::File {
                let frame = &mut main.clone();
                let path = libblosc2_fuzz::container::scratch_path();
                fs::write(&path, frame).expect("a file");
                let schunk = SuperChunk::open(library(), &path).expect("a super-chunk");
                for nchunk in 0..schunk.nchunks().min(2) {
                    let lazy = schunk.get_lazychunk(nchunk).expect("a lazy chunk");
                    corpus.add(&CHUNK_TARGETS, &lazy);
                }
                libblosc2_fuzz::container::remove(&path);
            }
            assert!(fields::CBYTES.get(main) >= 0);
        }
    }
    for original in array_originals::originals(false) {
        corpus.add(&["array", "frame"], &pack(&original.files));
    }
}

fn main() {
    let root = std::env::args_os().nth(1).map_or_else(|| "corpus".into(), PathBuf::from);
    let corpus = &mut Corpus { root, counts: BTreeMap::new() };
    add_old_chunks(corpus);
    add_old_frames(corpus);
    add_chunks(corpus);
    add_streams(corpus);
    add_frames(corpus);
    for (target, count) in &corpus.counts {
        println!("{target}: {count} seeds");
    }
}
