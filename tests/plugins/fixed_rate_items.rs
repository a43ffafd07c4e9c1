//! Reads items of fixed-rate arrays, single ones and runs, and compares them with the whole array.

use crate::ZFP_RATE;
use crate::support::array::ArraySpec;
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

#[test]
fn items_of_fixed_rate_arrays_equal_those_of_the_whole_array() {
    let ours = Library::ours();
    let scratch = ScratchDir::new();
    let random = &mut Random::new(12);
    for (shape, chunkshape, blockshape) in [
        (&[500][..], &[300][..], &[77][..]),
        (&[40, 50], &[30, 33], &[10, 16]),
        (&[20, 14, 15], &[20, 14, 15], &[7, 5, 9]),
        (&[9, 8, 11, 7], &[9, 8, 8, 7], &[5, 8, 4, 6]),
    ] {
        for (typesize, store) in [(4, Store::Memory), (8, Store::File), (4, Store::Directory)] {
            let mut spec = ArraySpec::new(shape, chunkshape, blockshape, typesize)
                .with_store(store, &scratch.new_path());
            let codec_meta = if typesize == 4 { 37 } else { 60 };
            spec.params =
                Params { codec: ZFP_RATE, codec_meta, typesize, filters: [0; 6], ..Params::default() };
            let items = Data::SmoothFloats.generate(random, typesize as usize, spec.nbytes());
            let array = spec.create_from_buffer(ours, &items);
            let content = array.to_cbuffer().expect("the items");
            let schunk = array.schunk();
            for _ in 0..200 {
                let at: Vec<i64> = shape.iter().map(|&extent| random.below(extent as usize) as i64).collect();
                let limits: Vec<(i64, i64)> = at.iter().map(|&at| (at, at + 1)).collect();
                let next: Vec<i64> = at.iter().map(|at| at + 1).collect();
                let item = crate::arrays::extract_box(&content, shape, &limits);
                assert_eq!(array.get(&at, &next), Ok(item), "{shape:?} {at:?}");
            }
            // The contents of the super-chunk are the padded chunks one after the other.
            let contents = schunk.contents();
            let total = contents.len() / typesize as usize;
            for _ in 0..200 {
                let start = random.below(total);
                let count = 1 + random.below((total - start).min(300));
                let expected = &contents[start * typesize as usize..][..count * typesize as usize];
                let found = schunk.get_slice(start as i64, (start + count) as i64, expected.len());
                assert_eq!(found.as_deref(), Ok(expected), "{shape:?} {start} {count}");
            }
        }
    }
}
