//! Tests cells against an item-by-item implementation of the rule. `tests/plugins` compares with the reference.

use super::super::model::golden;
use super::*;
use crate::chunk::BlockShape;
use crate::error::ErrorKind;

fn array(typesize: i32, blockshape: &[i32]) -> Container {
    Container { typesize, blockshape: BlockShape::new(blockshape) }
}

/// Returns the cell and the linear index of every item in the order of cells (`filters.md` 10). `sides` are the sides of
/// a cell.
fn model(sides: &[usize], shape: &[i32]) -> Vec<(Vec<usize>, usize)> {
    let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
    let total: usize = shape.iter().product();
    let mut keyed: Vec<(Vec<usize>, Vec<usize>, usize)> = (0..total)
        .map(|index| {
            let mut rest = index;
            let mut place = vec![0; shape.len()];
            for dim in (0..shape.len()).rev() {
                place[dim] = rest % shape[dim];
                rest /= shape[dim];
            }
            let cell = place.iter().zip(sides).map(|(x, side)| x / side).collect();
            let inside = place.iter().zip(sides).map(|(x, side)| x % side).collect();
            (cell, inside, index)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(cell, _, index)| (cell, index)).collect()
}

const SHAPES: [&[i32]; 12] = [
    &[1],
    &[17],
    &[4, 8],
    &[5, 7],
    &[2, 32],
    &[1, 9],
    &[3, 4, 5],
    &[8, 8, 8],
    &[1, 1, 12],
    &[2, 3, 4, 5],
    &[3, 3, 2, 2, 3],
    &[2, 1, 2, 3, 1, 2, 2, 3],
];

#[test]
fn ndcell_matches_the_reference_for_any_shape() {
    let step = if cfg!(miri) { 3 } else { 1 };
    for shape in SHAPES.into_iter().step_by(step) {
        let nitems: i32 = shape.iter().product();
        for typesize in [1, 2, 3, 4, 8, 16, 200].into_iter().step_by(step) {
            let src = golden((nitems * typesize) as usize);
            let (item, container) = (typesize as usize, array(typesize, shape));
            for side in (0..=9).chain([100, 255]).step_by(step) {
                let mut out = vec![0x5a; src.len()];
                let done = CellFilter::NdCell.encode(side, item, Some(&container), &src, &mut out);
                let volume = (0..shape.len()).try_fold(1i64, |v, _| v.checked_mul(side.into()));
                let fits = side > 0 && volume.is_some_and(|volume| volume <= nitems.into());
                assert_eq!(done.is_ok(), fits, "{shape:?} {typesize} {side}");
                if !fits {
                    assert_eq!(done.unwrap_err().kind(), ErrorKind::FilterPipeline);
                    let error =
                        CellFilter::NdCell.decode(side, Some(&container), &src, &mut out).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Failure);
                    assert!(out.iter().all(|&b| b == 0x5a));
                    continue;
                }
                let order = model(&vec![side.into(); shape.len()], shape);
                let expected: Vec<u8> =
                    order.iter().flat_map(|&(_, i)| &src[i * item..][..item]).copied().collect();
                assert_eq!(out, expected, "{shape:?} {typesize} {side}");
                let mut back = vec![0x5a; src.len()];
                CellFilter::NdCell.decode(side, Some(&container), &out, &mut back).unwrap();
                assert_eq!(back, src, "{shape:?} {typesize} {side}");
            }
        }
    }
}

#[test]
fn the_mean_of_nans_is_the_first_one() {
    let (first, second) = (f64::from_bits(0x7FF8_0000_0000_0001), f64::from_bits(0xFFF8_0000_0000_0002));
    let values = [1.0, first, 2.0, second, second, 3.0, first, f64::INFINITY];
    let src: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let mut out = vec![0; src.len()];
    CellFilter::NdMean.encode(4, 8, Some(&array(8, &[8])), &src, &mut out).unwrap();
    let means: Vec<u64> = out.as_chunks::<8>().0.iter().map(|&mean| u64::from_ne_bytes(mean)).collect();
    if cfg!(any(target_arch = "riscv32", target_arch = "riscv64")) {
        // The processor makes the same NaN of all.
        assert!(means.iter().all(|&mean| f64::from_bits(mean).is_nan()));
    } else {
        assert_eq!(means, [[first.to_bits(); 4], [second.to_bits(); 4]].concat());
    }
}

#[test]
fn ndmean_matches_the_model_for_any_shape() {
    let step = if cfg!(miri) { 4 } else { 1 };
    let to_bytes = |values: &[f64]| values.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<u8>>();
    let (mut accepted, mut rejected) = (0, 0);
    for shape in SHAPES.into_iter().step_by(step) {
        let nitems: i32 = shape.iter().product();
        let values: Vec<f64> = (0..nitems).map(|i| f64::from(i * i % 97) / 8.0).collect();
        let (src, container) = (to_bytes(&values), array(8, shape));
        for side in (1..=9u8).step_by(step) {
            let (mut out, mut back) = (vec![0; src.len()], vec![0; src.len()]);
            let encoded = CellFilter::NdMean.encode(side, 8, Some(&container), &src, &mut out);
            let side = i32::from(side);
            // The reference cannot read the other blocks that it writes (`filters.md` D7).
            let fits = shape[0] >= side || shape[1..].iter().all(|&extent| extent <= side);
            assert_eq!(encoded.is_ok(), fits, "{shape:?} {side}");
            if !fits {
                rejected += 1;
                assert_eq!(encoded.unwrap_err().kind(), ErrorKind::FilterPipeline);
                let error =
                    CellFilter::NdMean.decode(side as u8, Some(&container), &src, &mut back).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Failure);
                continue;
            }
            accepted += 1;
            let sides: Vec<usize> = shape.iter().map(|&extent| extent.min(side) as usize).collect();
            let order = model(&sides, shape);
            let means: Vec<f64> = order
                .chunk_by(|a, b| a.0 == b.0)
                .flat_map(|cell| {
                    let sum = cell.iter().fold(0.0, |sum, &(_, i)| sum + values[i]);
                    vec![sum / cell.len() as f64; cell.len()]
                })
                .collect();
            assert_eq!(out, to_bytes(&means), "{shape:?} {side}");
            // Decoding puts any items to the positions of the items in the order of cells.
            CellFilter::NdMean.decode(side as u8, Some(&container), &src, &mut back).unwrap();
            let mut expected = vec![0.0; values.len()];
            for (&value, &(_, i)) in values.iter().zip(&order) {
                expected[i] = value;
            }
            assert_eq!(back, to_bytes(&expected), "{shape:?} {side}");
        }
    }
    assert!(accepted > 0 && rejected > 0, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn means_are_summed_item_by_item() {
    let src: Vec<u8> = [1e8f32, 1.0, -1e8, 1.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut out = [0; 16];
    CellFilter::NdMean.encode(2, 4, Some(&array(4, &[2, 2])), &src, &mut out).unwrap();
    assert_eq!(out.as_chunks::<4>().0, &[0.25f32.to_ne_bytes(); 4]);
}

#[test]
fn invalid_arrays_are_rejected() {
    let src = [0; 64];
    let mut out = [0; 64];
    let mut refused = |container: Option<Container>| {
        let container = container.as_ref();
        for side in [1, 2] {
            assert!(CellFilter::NdCell.encode(side, 4, container, &src, &mut out).is_err(), "{container:?}");
            assert!(CellFilter::NdCell.decode(side, container, &src, &mut out).is_err(), "{container:?}");
            assert!(CellFilter::NdMean.encode(side, 4, container, &src, &mut out).is_err(), "{container:?}");
            assert!(CellFilter::NdMean.decode(side, container, &src, &mut out).is_err(), "{container:?}");
        }
    };
    refused(None);
    refused(Some(Container { typesize: 4, blockshape: None }));
    for shape in [
        &[][..],
        &[4, 5],
        &[4, -4],
        &[0, 4],
        &[-4, -4],
        &[1, 1, 1, 1, 1, 1, 1, 1, 16],
        &[65536, 65536, 4, 4],
        &[i32::MAX; 8],
        &[i32::MIN; 2],
    ] {
        refused(Some(array(4, shape)));
    }
    for typesize in [0, -4, 3, i32::MIN, i32::MAX] {
        let container = array(typesize, &[4, 4]);
        assert!(CellFilter::NdCell.decode(2, Some(&container), &src, &mut out).is_err());
        assert!(CellFilter::NdMean.decode(2, Some(&container), &src, &mut out).is_err());
    }
    assert!(CellFilter::NdMean.encode(2, 2, Some(&array(2, &[4, 8])), &src, &mut out).is_err());
    for (side, is_valid) in [(0, false), (127, true), (128, false)] {
        let encoded = CellFilter::NdMean.encode(side, 4, Some(&array(4, &[4, 4])), &src, &mut out);
        assert_eq!(encoded.is_ok(), is_valid, "{side}");
    }
}
