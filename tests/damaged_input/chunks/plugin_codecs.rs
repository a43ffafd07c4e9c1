//! Chunks of NDLZ and ZFP, each with the super-chunk of an array of the shape of its blocks.

use super::Original;
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;

pub(super) const NDLZ: u8 = 32;
pub(super) const ZFP_ACC: u8 = 33;
pub(super) const ZFP_PREC: u8 = 34;
pub(super) const ZFP_RATE: u8 = 35;

/// Returns whether the codec needs the super-chunk of an array.
pub(super) fn is_plugin_codec(codec: u8) -> bool {
    (NDLZ..=ZFP_RATE).contains(&codec)
}

/// Returns chunks made with this codec by every available library, and the arrays of our library that they belong to.
pub(super) fn originals(codec: u8) -> (Vec<Array>, Vec<Original>) {
    let random = &mut Random::new(2000 + u64::from(codec));
    let metas: &[u8] = match codec {
        NDLZ => &[4, 8],
        // The exponent of the error, as a signed number.
        ZFP_ACC => &[0xf0, 0xfd, 0, 3],
        // Bits of precision.
        ZFP_PREC => &[3, 12, 40],
        // Percents of the size.
        _ => &[10, 40, 90],
    };
    let typesizes: &[i32] = if codec == NDLZ { &[1] } else { &[4, 8] };
    let shapes: &[(&[i64], &[i32])] = match codec {
        NDLZ => {
            &[(&[21, 30], &[13, 16]), (&[64, 96], &[16, 32]), (&[100, 90], &[100, 90]), (&[9, 8], &[9, 8])]
        }
        _ => &[
            (&[600], &[250]),
            (&[21, 30], &[13, 16]),
            (&[64, 64], &[32, 64]),
            (&[9, 10, 11], &[5, 6, 7]),
            (&[5, 6, 7, 8], &[4, 4, 5, 6]),
        ],
    };
    let (mut arrays, mut originals) = (Vec::new(), Vec::new());
    for &typesize in typesizes {
        for &codec_meta in metas {
            for &(shape, blockshape) in shapes {
                let chunkshape: Vec<i32> = shape.iter().map(|&extent| extent as i32).collect();
                let mut spec = ArraySpec::new(shape, &chunkshape, blockshape, typesize);
                let filters = if random.one_in(4) { [0, 0, 0, 0, 0, 1] } else { [0; 6] };
                spec.params = Params { codec, codec_meta, typesize, filters, ..Params::default() };
                let kind = match typesize {
                    1 => *random.pick(&[Data::LowEntropy, Data::Records, Data::Sparse]),
                    _ => *random.pick(&[Data::SmoothFloats, Data::Ramp]),
                };
                let items = kind.generate(random, typesize as usize, spec.nbytes());
                let ours = spec.create_from_buffer(Library::ours(), &items);
                for library in crate::support::all_libraries() {
                    let array = spec.create_from_buffer(library, &items);
                    let chunk = array.schunk().get_chunk(0).expect("a chunk");
                    originals.push(Original { schunk: ours.fields().sc, ..Original::new(chunk) });
                }
                arrays.push(ours);
            }
        }
    }
    (arrays, originals)
}
