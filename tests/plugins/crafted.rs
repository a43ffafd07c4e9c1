//! Arrays with a modified metalayer: any content gives an error or items, and no access outside the buffers.

use crate::support::array::ArraySpec;
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::SuperChunk;
use crate::{BYTEDELTA, NDCELL, NDLZ, NDMEAN, SHUFFLE, ZFP_ACC, ZFP_PREC, ZFP_RATE, pipeline};

/// Offsets of the shape of the blocks in the metalayer of an array of two dimensions, without the markers.
const BLOCKSHAPE_OFFSETS: [usize; 2] = [3 + 19 + 11 + 2, 3 + 19 + 11 + 7];

#[test]
fn invalid_metalayers_give_an_error_or_items() {
    let ours = Library::ours();
    let random = &mut Random::new(9);
    for (codec, codec_meta, filters, typesize) in [
        (NDLZ, 4, &[][..], 1),
        (ZFP_ACC, 0xfe, &[], 4),
        (ZFP_PREC, 20, &[], 8),
        (ZFP_RATE, 30, &[], 4),
        (1, 0, &[(NDCELL, 3), (SHUFFLE, 0)], 4),
        (1, 0, &[(NDMEAN, 3), (SHUFFLE, 0)], 8),
        (1, 0, &[(SHUFFLE, 0), (BYTEDELTA, 0)], 4),
    ] {
        let mut spec = ArraySpec::new(&[40, 60], &[20, 30], &[10, 15], typesize);
        let (filters, filters_meta) = pipeline(filters);
        spec.params = Params { codec, codec_meta, typesize, filters, filters_meta, ..Params::default() };
        let mut items = match typesize {
            1 => crate::repeated_cells(spec.nbytes()),
            _ => Data::SmoothFloats.generate(random, typesize as usize, spec.nbytes()),
        };
        if cfg!(target_endian = "big") {
            items.chunks_exact_mut(typesize as usize).for_each(<[u8]>::reverse);
        }
        let array = spec.create_from_buffer(ours, &items);
        let good = array.schunk().meta_get("b2nd").expect("the metalayer");
        let (mut frame, _) = array.to_cframe().expect("a frame");
        let whole = array.schunk().contents();
        let chunk_len = whole.len() / 4;
        let mut refused = 0;
        let extents = [0, 1, 2, 3, 4, 9, 11, 150, 16, 65_536, 1 << 30, i32::MAX, -1, -10, i32::MIN];
        let pairs = extents.iter().flat_map(|&first| extents.map(|second| vec![(0, first), (1, second)]));
        let noise = (0..300).map(|_| Vec::new());
        for shape in pairs.chain(noise) {
            let mut bad = good.clone();
            for &(dim, extent) in &shape {
                bad[BLOCKSHAPE_OFFSETS[dim]..][..4].copy_from_slice(&i32::to_be_bytes(extent));
            }
            if shape.is_empty() {
                for _ in 0..1 + random.below(3) {
                    let at = random.below(bad.len());
                    bad[at] = *random.pick(&[0, 1, 3, 4, 5, 8, 9, 16, 17, 0x7f, 0x80, 0xff]);
                }
            }
            let schunk = SuperChunk::from_frame_copy(ours, &mut frame).expect("a super-chunk");
            assert!(schunk.meta_update("b2nd", &bad) >= 0);
            for nchunk in 0..4 {
                match schunk.decompress_into(nchunk, chunk_len) {
                    Ok(content) => assert_eq!(content.len(), chunk_len),
                    Err(code) => {
                        refused += 1;
                        assert!(matches!(code, -1 | -3 | -18), "{codec} {filters:?} {shape:?}: {code}");
                    }
                }
            }
            let typesize = typesize as i64;
            let _ = schunk.get_slice(7, 9, 2 * typesize as usize);
            // In the other direction.
            let _ = schunk.append(&whole[..chunk_len]);
            let _ = schunk.decompress_into(4, chunk_len);
        }
        let asks = codec > 32 || filters.contains(&NDCELL) || filters.contains(&NDMEAN);
        assert_eq!(refused > 100, asks, "codec {codec} {filters:?}: {refused} rejected");
    }
}
