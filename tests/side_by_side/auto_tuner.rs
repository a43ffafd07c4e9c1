//! Chunks, super-chunks and arrays whose parameters the automatic tuner chooses: the reference reads them, the same input
//! gives the same bytes, and parameters that the tuner cannot choose switch it off.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use blosc2::abi::{
    BLOSC2X_TUNER_AUTO, BLOSC2X_TUNER_BALANCED, BLOSC2X_TUNER_COMPRESSION, BLOSC2X_TUNER_DECOMPRESSION,
    CBool, blosc2_cparams, blosc2_prefilter_params, blosc2x_tuner_params,
};

use crate::support::array::{Array, ArraySpec};
use crate::support::auto_tuner::{auto_tuned, tuner_params};
use crate::support::calls::{Header, OwnedContext, Params, decompress, with_destination};
use crate::support::child::{in_new_process, test_again, test_name};
use crate::support::data::Data;
use crate::support::files::TempDir;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::system::set_variable;
use crate::support::{all_libraries, both_libraries};
use crate::{BITSHUFFLE, DELTA, SHUFFLE, TRUNC_PREC};

/// Each mode, and tradeoffs at the ends and between them.
static TUNERS: [blosc2x_tuner_params; 5] = [
    tuner_params(0.0, BLOSC2X_TUNER_COMPRESSION),
    tuner_params(0.0, BLOSC2X_TUNER_DECOMPRESSION),
    tuner_params(0.5, BLOSC2X_TUNER_BALANCED),
    tuner_params(0.9, BLOSC2X_TUNER_DECOMPRESSION),
    tuner_params(1.0, BLOSC2X_TUNER_BALANCED),
];
static BALANCED: blosc2x_tuner_params = tuner_params(0.5, BLOSC2X_TUNER_BALANCED);
/// The parameters that `BLOSC2_AUTO=1` stands for.
static SMALLEST: blosc2x_tuner_params = tuner_params(1.0, BLOSC2X_TUNER_BALANCED);

/// Compresses contents with one context.
fn compress_all(cparams: blosc2_cparams, contents: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut context = OwnedContext::for_compression(Library::ours(), cparams).expect("a context");
    let compress = |content: &&[u8]| {
        let (len, mut chunk) = with_destination(content.len() + 100, |dest| context.compress(content, dest));
        chunk.truncate(usize::try_from(len).unwrap_or_else(|_| panic!("error {len}")));
        chunk
    };
    contents.iter().map(compress).collect()
}

fn compress_one(cparams: blosc2_cparams, content: &[u8]) -> Vec<u8> {
    compress_all(cparams, &[content]).remove(0)
}

/// Has each library decompress the chunk.
#[track_caller]
fn assert_decodes(chunk: &[u8], content: &[u8], what: &str) {
    for library in all_libraries() {
        let read = decompress(library, 1, chunk, content.len());
        assert!(read.as_deref() == Ok(content), "{} reads {what}: {:?}", library.name, read.map(|b| b.len()));
    }
}

/// Checks that the chunk has a codec of Blosc2, and no filter but shuffle, bitshuffle and delta.
#[track_caller]
fn assert_is_readable_without_plugins(chunk: &[u8]) {
    let header = Header::parse(chunk);
    assert!(header.flags >> 5 <= 4, "codec format {}", header.flags >> 5);
    assert!(header.filters.iter().all(|&id| id <= DELTA), "{:?}", header.filters);
}

/// Contents of one kind for each chunk, of which the kind changes in the middle.
fn changing_contents(chunksize: usize) -> Vec<Vec<u8>> {
    let kinds = [Data::Ramp, Data::Ramp, Data::Ramp, Data::Text, Data::Text, Data::Noise, Data::SmoothFloats];
    let mut random = Random::new(5);
    kinds.iter().map(|kind| kind.generate(&mut random, 4, chunksize)).collect()
}

fn four_byte_items() -> Params {
    Params { typesize: 4, ..Params::default() }
}

/// Writes the contents to a super-chunk, and has each library read it.
fn check_super_chunk(cparams: blosc2_cparams, store: Store, scratch: &ScratchDir, contents: &[Vec<u8>]) {
    let path = scratch.new_path();
    let schunk = SuperChunk::try_create_with(Library::ours(), store, &path, cparams, None).expect("one");
    for content in contents {
        schunk.append(content).expect("a chunk");
    }
    let whole = contents.concat();
    assert!(schunk.contents() == whole, "ours reads {store:?}");
    for nchunk in 0..schunk.nchunks() {
        let chunk = schunk.get_chunk(nchunk).expect("a chunk");
        assert_is_readable_without_plugins(&chunk);
        assert_decodes(&chunk, &contents[nchunk as usize], "a chunk of a super-chunk");
    }
    let mut frame = schunk.to_buffer().expect("a frame");
    drop(schunk);
    for library in all_libraries() {
        let copy = SuperChunk::from_frame_copy(library, &mut frame).expect("a frame");
        assert!(copy.contents() == whole, "{} reads the frame of {store:?}", library.name);
        if store.is_on_disk() {
            let opened = SuperChunk::open(library, &path).expect("a file");
            assert!(opened.contents() == whole, "{} reads {store:?}", library.name);
        }
    }
}

#[test]
fn super_chunks_of_changing_content_are_read_in_all_stores() {
    let (scratch, contents) = (ScratchDir::new(), changing_contents(60_000));
    for tuner in &TUNERS {
        for store in Store::ALL {
            check_super_chunk(auto_tuned(&four_byte_items(), tuner), store, &scratch, &contents);
        }
    }
}

/// Returns an array of 70 times 90 items, stored at `path`.
fn array_spec(store: Store, path: &Path) -> ArraySpec {
    ArraySpec::new(&[70, 90], &[40, 50], &[10, 20], 4).with_store(store, path)
}

/// Writes an array, has each library read it, and checks that the block shape is that of the program.
fn check_array(spec: &ArraySpec) {
    let items = Data::SmoothFloats.generate(&mut Random::new(6), 4, spec.nbytes());
    let array = spec.create_from_buffer(Library::ours(), &items);
    assert!(array.to_cbuffer().as_deref() == Ok(&items[..]), "ours reads {:?}", spec.store);
    let schunk = array.schunk();
    for nchunk in 0..4 {
        let chunk = schunk.get_chunk(nchunk).expect("a chunk");
        assert_is_readable_without_plugins(&chunk);
        assert_eq!(Header::parse(&chunk).blocksize, 10 * 20 * 4);
    }
    drop(array);
    for library in all_libraries().into_iter().filter(|_| spec.store.is_on_disk()) {
        let (_, opened) = Array::open(library, &spec.path);
        let read = opened.expect("an array").to_cbuffer();
        assert!(read.as_deref() == Ok(&items[..]), "{} reads {:?}", library.name, spec.store);
    }
}

#[test]
fn arrays_keep_their_block_shape_and_are_read() {
    let scratch = ScratchDir::new();
    for tuner in &TUNERS {
        for store in Store::ALL {
            check_array(&ArraySpec { auto: Some(tuner), ..array_spec(store, &scratch.new_path()) });
        }
    }
}

/// A program that sets nothing writes the bytes of a program that asks for the tuner; see `SMALLEST`.
#[test]
fn environment_variable_tunes_programs_with_the_default_codec() {
    in_new_process(test_name!(), || {
        let (scratch, contents) = (ScratchDir::new(), changing_contents(60_000));
        let contents_ref: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        let by_id = compress_all(auto_tuned(&four_byte_items(), &SMALLEST), &contents_ref);
        let without = compress_all(four_byte_items().cparams(), &contents_ref);
        // SAFETY: this process runs only this test, and no other thread uses the environment.
        unsafe { set_variable("BLOSC2_AUTO", Some("1")) };
        let by_variable = compress_all(four_byte_items().cparams(), &contents_ref);
        assert!(by_variable == by_id && by_variable != without);
        for store in Store::ALL {
            check_super_chunk(four_byte_items().cparams(), store, &scratch, &contents);
            check_array(&array_spec(store, &scratch.new_path()));
        }
    });
}

#[test]
fn environment_variable_leaves_explicit_parameters() {
    in_new_process(test_name!(), || {
        let content = Data::Ramp.generate(&mut Random::new(7), 4, 100_000);
        let base = four_byte_items;
        let explicit = [
            Params { codec: 1, clevel: 3, ..base() },
            Params { codec: 1, clevel: 5, ..base() },
            Params { codec: 0, clevel: 9, ..base() },
            Params { codec: 5, clevel: 1, ..base() },
            Params {
                filters: [0, 0, 0, 0, TRUNC_PREC, SHUFFLE],
                filters_meta: [0, 0, 0, 0, 10, 0],
                ..base()
            },
            Params { codec: 5, use_dict: true, blocksize: 4096, ..base() },
        ];
        let expected: Vec<_> = explicit.iter().map(|one| compress_one(one.cparams(), &content)).collect();
        let default = compress_one(base().cparams(), &content);
        // SAFETY: this process runs only this test, and no other thread uses the environment.
        unsafe { set_variable("BLOSC2_AUTO", Some("1:comp")) };
        for (params, expected) in explicit.iter().zip(expected) {
            assert!(compress_one(params.cparams(), &content) == expected, "{params:?}");
        }
        // The variable has an effect.
        assert!(compress_one(base().cparams(), &content).len() < default.len());
    });
}

/// Fills a block with its offset.
unsafe extern "C" fn prefilter(params: *mut blosc2_prefilter_params) -> i32 {
    // SAFETY: the library passes a valid struct, and an output of `output_size` bytes.
    unsafe {
        let params = &*params;
        params.output.write_bytes(params.output_offset as u8, params.output_size as usize);
    }
    0
}

#[test]
fn parameters_that_the_tuner_cannot_choose_switch_it_off() {
    let content = Data::SmoothFloats.generate(&mut Random::new(8), 4, 100_000);
    let base = four_byte_items;
    let mut preparams: blosc2_prefilter_params = {
        // SAFETY: a struct of numbers and pointers, for which zeros are valid.
        unsafe { std::mem::zeroed() }
    };
    let with_prefilter = |cparams: blosc2_cparams, preparams: &mut blosc2_prefilter_params| blosc2_cparams {
        prefilter: Some(prefilter),
        preparams,
        ..cparams
    };
    let instrumented = |cparams| blosc2_cparams { instr_codec: CBool::TRUE, ..cparams };
    let params = [
        Params { filters: [0, 0, 0, 0, TRUNC_PREC, SHUFFLE], filters_meta: [0, 0, 0, 0, 10, 0], ..base() },
        Params { codec: 5, use_dict: true, blocksize: 4096, ..base() },
    ];
    let mut pairs: Vec<[blosc2_cparams; 2]> =
        params.iter().map(|one| [one.cparams(), auto_tuned(one, &SMALLEST)]).collect();
    let both = [base().cparams(), auto_tuned(&base(), &SMALLEST)];
    pairs.push(both.map(|one| with_prefilter(one, &mut preparams)));
    pairs.push(both.map(instrumented));
    for (n, [plain, tuned]) in pairs.into_iter().enumerate() {
        let chunks = [plain, tuned].map(|cparams| compress_one(cparams, &content));
        // Records of instrumentation contain times.
        let shown = |chunk: &[u8]| if n == 3 { chunk[..4].to_vec() } else { chunk.to_vec() };
        assert!(shown(&chunks[0]) == shown(&chunks[1]), "parameters {n}");
    }
    let [plain, tuned] = both.map(|cparams| compress_one(cparams, &content));
    assert!(tuned.len() < plain.len(), "{} and {} bytes", tuned.len(), plain.len());
}

/// A delta filter is lossless, so the tuner replaces it.
#[test]
fn lossless_filters_are_replaced() {
    let content = Data::Ramp.generate(&mut Random::new(9), 4, 100_000);
    let with =
        |filters| compress_one(auto_tuned(&Params { filters, ..four_byte_items() }, &SMALLEST), &content);
    let chunk = with([0, 0, 0, 0, DELTA, SHUFFLE]);
    assert!(chunk == with([0; 6]) && chunk == with([0, 0, 0, 0, 0, BITSHUFFLE]));
    assert_decodes(&chunk, &content, "a chunk");
}

#[test]
fn explicit_block_sizes_are_kept() {
    let contents = changing_contents(100_000);
    let contents_ref: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    for tuner in &TUNERS {
        let params = Params { blocksize: 8192, ..four_byte_items() };
        for chunk in compress_all(auto_tuned(&params, tuner), &contents_ref) {
            assert_eq!(Header::parse(&chunk).blocksize, 8192);
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads_or_runs() {
    let contents = changing_contents(400_000);
    let contents_ref: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    for tuner in &TUNERS {
        let run = |nthreads| {
            compress_all(auto_tuned(&Params { nthreads, ..four_byte_items() }, tuner), &contents_ref)
        };
        let expected = run(1);
        for nthreads in [1, 4, 4] {
            assert!(run(nthreads) == expected, "{nthreads} threads, {tuner:?}");
        }
    }
}

/// The parameters of a context tell the last choice.
#[test]
fn context_has_the_choice_and_the_tuner() {
    let content = Data::Text.generate(&mut Random::new(10), 4, 100_000);
    let cparams = auto_tuned(&four_byte_items(), &SMALLEST);
    let mut context = OwnedContext::for_compression(Library::ours(), cparams).expect("a context");
    let (len, _) = with_destination(content.len() + 100, |dest| context.compress(&content, dest));
    assert!(len > 0);
    let chosen = context.cparams();
    assert_eq!(chosen.tuner_id, BLOSC2X_TUNER_AUTO);
    assert!((1..=9).contains(&chosen.clevel) && chosen.filters.iter().all(|&id| id <= DELTA));
    assert_eq!(chosen.filters_meta, [0; 6]);
}

/// A copy with the tuner is compressed again, also if its parameters are otherwise those of the source.
#[test]
fn copy_of_a_super_chunk_is_tuned() {
    let content = Data::Ramp.generate(&mut Random::new(11), 4, 100_000);
    let path = Path::new("");
    let source = SuperChunk::create(Library::ours(), Store::MemoryFrame, path, &four_byte_items());
    source.append(&content).expect("a chunk");
    let tuned = auto_tuned(&four_byte_items(), &SMALLEST);
    let copy = source.copy_to_with(Store::MemoryFrame, path, Some(tuned)).expect("a copy");
    let [old, new] = [&source, &copy].map(|schunk| schunk.get_chunk(0).expect("a chunk"));
    assert!(new.len() < old.len(), "{} and {} bytes", new.len(), old.len());
    assert_eq!(copy.contents(), content);
}

/// Contents of any length, and items of any size, one after the other with one context. `BLOSC2_GRID_SEED` selects others.
#[test]
fn random_contents_and_item_sizes_are_read() {
    let Some((ours, _)) = both_libraries() else { return };
    let seed = from_environment("BLOSC2_GRID_SEED", 1);
    for point in 0..60 {
        let mut random = Random::of_item(seed, point);
        let typesize = 1 + random.below(255);
        let tuner = tuner_params(random.below(101) as f64 / 100.0, random.below(3) as i32);
        let nthreads = 1 + random.below(4) as i16;
        let contents: Vec<_> = (0..1 + random.below(4))
            .map(|_| {
                let len = random.below(200_001) >> random.below(12);
                random.pick(&Data::ALL).generate(&mut random, typesize, len)
            })
            .collect();
        let params = Params { typesize: typesize as i32, nthreads, ..Params::default() };
        let contents_ref: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
        for (chunk, content) in compress_all(auto_tuned(&params, &tuner), &contents_ref).iter().zip(&contents)
        {
            let what = format!("point {point} of seed {seed}: {} items of {typesize}", content.len());
            assert_is_readable_without_plugins(chunk);
            assert_decodes(chunk, content, &what);
            assert!(decompress(ours, 4, chunk, content.len()).as_deref() == Ok(content), "{what}");
        }
    }
}

/// The item size that a chunk cannot store counts as 1 for each chunk of a context.
#[test]
fn large_item_sizes_count_as_one() {
    let content = Data::Text.generate(&mut Random::new(12), 4, 100_000);
    let chunks = compress_all(
        auto_tuned(&Params { typesize: 300, ..Params::default() }, &BALANCED),
        &[&content, &content],
    );
    let of_bytes =
        compress_one(auto_tuned(&Params { typesize: 1, ..Params::default() }, &BALANCED), &content);
    // The codec is in the upper bits of the flags.
    let choice = |chunk: &[u8]| (Header::parse(chunk).filters, Header::parse(chunk).flags >> 5);
    for chunk in &chunks {
        assert_eq!(choice(chunk), choice(&of_bytes));
        assert_decodes(chunk, &content, "a chunk");
    }
}

/// Runs as the child of [`invalid_variable_is_reported_once_and_ignored`], too.
#[test]
fn contexts_are_created_several_times() {
    let content = Data::Ramp.generate(&mut Random::new(13), 4, 50_000);
    let chunks: Vec<_> = (0..3).map(|_| compress_one(four_byte_items().cparams(), &content)).collect();
    assert!(chunks[0] == chunks[1] && chunks[1] == chunks[2]);
    if std::env::var_os(EXPECTED).is_some() {
        // SAFETY: no other thread uses the environment in the child.
        unsafe { set_variable("BLOSC2_AUTO", None) };
        assert!(compress_one(four_byte_items().cparams(), &content) == chunks[0], "the value has an effect");
    }
}

/// The variable of a child that checks that `BLOSC2_AUTO` has no effect.
const EXPECTED: &str = "BLOSC2_TEST_AUTO_IS_INVALID";

#[test]
fn invalid_variable_is_reported_once_and_ignored() {
    let directory = TempDir::new();
    for (n, value) in
        ["1.5", "-0.1", "nan", "", "fast", "0.5:", "0.5:fast", "0.5:comp:1", ":comp"].iter().enumerate()
    {
        let path = directory.join(&n.to_string());
        let mut file =
            std::fs::File::options().create_new(true).read(true).write(true).open(path).expect("a file");
        let mut child = test_again(test_name!(contexts_are_created_several_times));
        child.env("BLOSC2_AUTO", value).env("BLOSC_TRACE", "1").env(EXPECTED, "1");
        child.stderr(file.try_clone().expect("a handle")).stdout(std::process::Stdio::null());
        assert!(child.status().expect("a child").success(), "{value:?}");
        let mut trace = String::new();
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut trace)).expect("the trace");
        let reports = trace.matches("BLOSC2_AUTO environment variable is ignored").count();
        assert_eq!(reports, 1, "{value:?}: {trace}");
    }
}
