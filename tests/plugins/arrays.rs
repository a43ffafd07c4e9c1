//! Arrays of both libraries, created with the same parameters from the same items: the same return codes, the same
//! chunks from the plugin codecs, and each library reads the same items from the frames of both.

use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::{
    BYTEDELTA, BYTEDELTA_BUGGY, INT_TRUNC, NDCELL, NDLZ, NDMEAN, SHUFFLE, ZFP_ACC, ZFP_PREC, ZFP_RATE,
    pipeline,
};

/// A point of the sample.
#[derive(Debug)]
struct Case {
    spec: ArraySpec,
    data: Data,
}

fn draw_shapes(random: &mut Random, ndim: usize, least: i32) -> (Vec<i64>, Vec<i32>, Vec<i32>) {
    let most = [200, 40, 14, 9][ndim.min(4) - 1];
    let blockshape: Vec<i32> = (0..ndim).map(|_| least + random.below(most) as i32).collect();
    let chunkshape: Vec<i32> =
        blockshape.iter().map(|block| block + random.below(*block as usize * 2) as i32).collect();
    let shape =
        chunkshape.iter().map(|&chunk| i64::from(chunk) + random.below(chunk as usize) as i64).collect();
    (shape, chunkshape, blockshape)
}

/// Whether the stream of a fixed rate is smaller than the data: otherwise the reference corrupts its memory
/// (codecs.md 18.3).
fn is_rate_safe(blockshape: &[i32], typesize: i32, meta: u8) -> bool {
    let cells: f64 = blockshape.iter().map(|extent| f64::from((extent + 3) / 4)).product();
    let items: f64 = blockshape.iter().copied().map(f64::from).product();
    let bits = (4f64.powi(blockshape.len() as i32) * f64::from(meta) / 100.0 * f64::from(typesize) * 8.0)
        .max(12.0)
        + 1.0;
    cells * bits / 8.0 + 8.0 < items * f64::from(typesize)
}

impl Case {
    fn of(random: &mut Random) -> Case {
        let kind = random.below(10);
        let is_zfp = (1..=3).contains(&kind);
        let ndim = match kind {
            0 => 2,
            _ => 1 + random.below(4),
        };
        let (shape, chunkshape, blockshape) = draw_shapes(random, ndim, if is_zfp { 4 } else { 1 });
        let typesize = match kind {
            0 => *random.pick(&[1, 1, 2, 4, 8]),
            1..=3 | 5 => *random.pick(&[4, 8]),
            7 => *random.pick(&[1, 2, 4, 8]),
            _ => *random.pick(&[1, 2, 3, 4, 7, 8, 16, 40]),
        };
        let mut params = Params { typesize, ..Params::default() };
        let mut filters: Vec<(u8, u8)> = Vec::new();
        let mut data =
            *random.pick(&[Data::Ramp, Data::SmoothFloats, Data::LowEntropy, Data::Records, Data::Sparse]);
        params.codec = *random.pick(&[0, 1, 5]);
        match kind {
            0 => {
                params.codec = NDLZ;
                params.codec_meta = *random.pick(&[4, 8]);
                if typesize > 1 {
                    filters.push((SHUFFLE, 0));
                    params.splitmode = 1;
                }
                data =
                    *random.pick(&[Data::LowEntropy, Data::Records, Data::Sparse, Data::Text, Data::Noise]);
            }
            1 => (params.codec, params.codec_meta) = (ZFP_ACC, *random.pick(&[0xf8, 0xfd, 0xff, 0, 1, 3])),
            2 => (params.codec, params.codec_meta) = (ZFP_PREC, *random.pick(&[0, 1, 4, 10, 20, 50, 64])),
            3 => {
                let meta = *random.pick(&[5, 10, 25, 37, 50, 75, 90]);
                let meta = if is_rate_safe(&blockshape, typesize, meta) { meta } else { 10 };
                (params.codec, params.codec_meta) = (ZFP_RATE, meta);
            }
            4 => filters.push((NDCELL, *random.pick(&[1, 2, 3, 4, 5, 8]))),
            5 => filters.push((NDMEAN, *random.pick(&[1, 2, 3, 4, 8, 100, 127]))),
            6 => filters.extend([(SHUFFLE, 0), (BYTEDELTA, *random.pick(&[0, typesize as u8]))]),
            7 => filters.push((INT_TRUNC, *random.pick(&[1, 5, 8, 0xff, 0xfd]))),
            // Sizes without bytes after the streams, which the reference does not preserve.
            8 => filters.extend([(SHUFFLE, 0), (BYTEDELTA_BUGGY, typesize as u8)]),
            _ => {
                filters.extend([(NDCELL, *random.pick(&[2, 3])), (*random.pick(&[SHUFFLE, 2, BYTEDELTA]), 0)])
            }
        }
        if is_zfp {
            data = Data::SmoothFloats;
        }
        (params.filters, params.filters_meta) = pipeline(&filters);
        params.nthreads = *random.pick(&[1, 1, 3]);
        let mut spec = ArraySpec::new(&shape, &chunkshape, &blockshape, typesize);
        spec.params = params;
        spec.dthreads = *random.pick(&[1, 3]);
        Case { spec, data }
    }

    /// Whether the reference writes chunks that no library can read (filters.md 15, Q6).
    fn is_broken_in_reference(&self) -> bool {
        let Params { filters, filters_meta, .. } = self.spec.params;
        filters.iter().zip(filters_meta).any(|(&id, meta)| {
            let (first, others) = self.spec.blockshape.split_first().expect("a dimension");
            id == NDMEAN && *first < i32::from(meta) && others.iter().any(|&extent| extent > i32::from(meta))
        })
    }
}

#[test]
fn both_libraries_make_and_read_the_same_arrays() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let scratch = ScratchDir::new();
    let seed = from_environment("PLUGIN_SEED", 5);
    let (mut made, mut refused, mut coded) = (0, 0, 0);
    for point in 0..from_environment("PLUGIN_POINTS", 700) {
        let random = &mut Random::of_item(seed, point);
        let case = Case::of(random);
        let what = format!("point {point}: {case:?}");
        let spec = &case.spec;
        let items = case.data.generate(random, spec.params.typesize as usize, spec.nbytes());
        let store = *random.pick(&Store::ALL);
        let make = |library| {
            let spec = spec.clone().with_store(store, &scratch.new_path());
            spec.context(library).create_from_buffer(&items)
        };
        let ((rc, mine), (their_rc, theirs)) = (make(ours), make(reference));
        if case.is_broken_in_reference() {
            assert!(rc < 0 || mine.is_some_and(|mine| mine.to_cbuffer().is_ok()), "{what}");
            continue;
        }
        // In a chunk that does not get shorter, the rest of its destination may be less than the reference's NDLZ
        // requires: it fails then, while ours stores the data uncompressed.
        if spec.params.codec == NDLZ && (rc, their_rc) == (0, -1) {
            assert!(mine.is_some_and(|mine| mine.to_cbuffer() == Ok(items)), "{what}");
            continue;
        }
        assert_eq!(rc, their_rc, "{what}");
        let (Some(mine), Some(theirs)) = (mine, theirs) else {
            refused += 1;
            continue;
        };
        made += 1;
        let content = mine.to_cbuffer().unwrap_or_else(|rc| panic!("{what}: {rc}"));
        assert!(theirs.to_cbuffer() == Ok(content.clone()), "{what}: read by the reference from its own");
        let frame = |array: &Array| array.to_cframe().unwrap_or_else(|rc| panic!("{what}: {rc}")).0;
        let (mut my_frame, mut their_frame) = (frame(&mine), frame(&theirs));
        let (rc, array) = Array::from_frame_copy(reference, &mut my_frame);
        let array = array.unwrap_or_else(|| panic!("{what}: {rc}"));
        assert!(array.to_cbuffer() == Ok(content.clone()), "{what}: ours, read by the reference");
        let (rc, array) = Array::from_frame_copy(ours, &mut their_frame);
        let array = array.unwrap_or_else(|| panic!("{what}: {rc}"));
        assert!(array.to_cbuffer() == Ok(content.clone()), "{what}: the reference's, read by ours");
        if spec.params.codec >= 32 && spec.params.nthreads == 1 {
            for nchunk in 0..mine.schunk().nchunks() {
                let chunks = [&mine, &theirs].map(|array| array.schunk().get_chunk(nchunk).expect("a chunk"));
                assert!(chunks[0] == chunks[1], "{what}: chunk {nchunk}");
                coded += usize::from(chunks[0].len() < spec.nbytes());
            }
        }
        compare_boxes(random, &what, &[&mine, &array], &content);
    }
    assert!(made > 100 && refused > 5 && coded > 50, "{made} made, {refused} rejected, {coded} coded");
}

/// Compares boxes of the arrays with the same boxes of their content.
fn compare_boxes(random: &mut Random, what: &str, arrays: &[&Array], content: &[u8]) {
    for array in arrays {
        for _ in 0..4 {
            let small = random.one_in(2);
            let limits: Vec<(i64, i64)> = array
                .shape()
                .iter()
                .map(|&extent| {
                    let start = random.below(extent as usize) as i64;
                    let len = if small { 1 } else { 1 + random.below((extent - start) as usize) as i64 };
                    (start, start + len)
                })
                .collect();
            let (start, stop): (Vec<i64>, Vec<i64>) = limits.iter().copied().unzip();
            let expected = extract_box(content, array.shape(), &limits);
            assert!(array.get(&start, &stop) == Ok(expected), "{what}: {limits:?}");
        }
    }
}

/// Returns a box of a buffer.
pub fn extract_box(content: &[u8], shape: &[i64], limits: &[(i64, i64)]) -> Vec<u8> {
    let Some(((&extent, rest), (&(start, stop), other))) = shape.split_first().zip(limits.split_first())
    else {
        return content.to_vec();
    };
    let len = content.len() / extent as usize;
    (start..stop).flat_map(|at| extract_box(&content[at as usize * len..][..len], rest, other)).collect()
}
