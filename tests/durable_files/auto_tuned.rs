//! Releases of C-Blosc2 read frames whose parameters the automatic tuner has chosen.

use blosc2::abi::{
    BLOSC2X_TUNER_BALANCED, BLOSC2X_TUNER_COMPRESSION, BLOSC2X_TUNER_DECOMPRESSION, blosc2x_tuner_params,
};

use crate::releases::library::Release;
use crate::support::array::ArraySpec;
use crate::support::auto_tuner::{auto_tuned, tuner_params};
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

static TUNERS: [blosc2x_tuner_params; 3] = [
    tuner_params(0.0, BLOSC2X_TUNER_COMPRESSION),
    tuner_params(0.5, BLOSC2X_TUNER_DECOMPRESSION),
    tuner_params(1.0, BLOSC2X_TUNER_BALANCED),
];

#[test]
fn releases_read_super_chunks_of_the_automatic_tuner() {
    let scratch = ScratchDir::new();
    for (tuner, store) in TUNERS.iter().flat_map(|tuner| Store::ON_DISK.map(|store| (tuner, store))) {
        let path = scratch.new_path();
        let cparams = auto_tuned(&Params { typesize: 4, ..Params::default() }, tuner);
        let schunk = SuperChunk::try_create_with(Library::ours(), store, &path, cparams, None).expect("one");
        let mut random = Random::new(1);
        let contents = Data::ALL.map(|kind| kind.generate(&mut random, 4, 50_000));
        for content in &contents {
            schunk.append(content).expect("a chunk");
        }
        drop(schunk);
        for release in Release::all_others() {
            let schunk = release.open_schunk(&path).expect("a super-chunk");
            for (nchunk, content) in contents.iter().enumerate() {
                let read = schunk.decompress(nchunk as i64, content.len());
                assert!(read.as_ref() == Ok(content), "{}: chunk {nchunk}, {tuner:?}", release.version);
            }
        }
    }
}

#[test]
fn releases_read_arrays_of_the_automatic_tuner() {
    let scratch = ScratchDir::new();
    for (tuner, store) in TUNERS.iter().flat_map(|tuner| Store::ON_DISK.map(|store| (tuner, store))) {
        let path = scratch.new_path();
        let spec = ArraySpec::new(&[70, 90], &[40, 50], &[10, 20], 4).with_store(store, &path);
        let spec = ArraySpec { auto: Some(tuner), ..spec };
        let items = Data::SmoothFloats.generate(&mut Random::new(2), 4, spec.nbytes());
        drop(spec.create_from_buffer(Library::ours(), &items));
        for release in Release::all_others().iter().filter(|release| release.has_arrays()) {
            let read = release.open_array(&path).expect("an array").items(items.len());
            assert!(read.as_ref() == Ok(&items), "{}: {tuner:?}", release.version);
        }
    }
}
