//! Compares copies and fills with a loop over every byte of every item.

use super::*;
use crate::error::ErrorKind::InvalidParam;
use proptest::prelude::*;

/// A box in two arrays.
#[derive(Clone, Debug)]
struct Case {
    shape: Vec<i64>,
    src_shape: Vec<i64>,
    src_start: Vec<i64>,
    dst_shape: Vec<i64>,
    dst_start: Vec<i64>,
    typesize: usize,
}

impl Case {
    /// Makes a case from the extent of the box in each dimension, and the numbers of items before and behind it in
    /// source and destination. The extents of later dimensions are reduced where the arrays would become large.
    fn new(dims: &[(i64, [i64; 4])], typesize: usize) -> Case {
        let mut case = Case {
            shape: vec![],
            src_shape: vec![],
            src_start: vec![],
            dst_shape: vec![],
            dst_start: vec![],
            typesize,
        };
        let mut nitems = 1;
        for &(extent, margins) in dims {
            let most = margins.iter().sum::<i64>() + extent;
            let (extent, margins) = if nitems * most > if cfg!(miri) { 60 } else { 3000 } {
                (1, [0; 4])
            } else {
                (extent, margins)
            };
            nitems *= most.max(1);
            case.shape.push(extent);
            case.src_shape.push(margins[0] + extent + margins[1]);
            case.src_start.push(margins[0]);
            case.dst_shape.push(margins[2] + extent + margins[3]);
            case.dst_start.push(margins[2]);
        }
        case
    }

    fn layouts(&self) -> (BoxLayout, BoxLayout) {
        let layout = |shape: &[i64], start: &[i64]| BoxLayout::in_shape(shape, start).expect("a layout");
        (layout(&self.src_shape, &self.src_start), layout(&self.dst_shape, &self.dst_start))
    }

    fn plan(&self) -> Rows {
        let (src, dst) = self.layouts();
        plan_rows(&self.shape, self.typesize as i32, &src, &dst).expect("a plan")
    }

    fn buffers(&self) -> (Vec<u8>, Vec<u8>) {
        let len = |shape: &[i64]| shape.iter().product::<i64>() as usize * self.typesize;
        let src = (0..len(&self.src_shape)).map(|at| (at * 7 + at / 251) as u8 | 1).collect();
        (src, vec![0; len(&self.dst_shape)])
    }

    /// Returns the offset of each item of the box in source and destination, in items.
    fn items(&self) -> Vec<(usize, usize)> {
        let count: i64 = self.shape.iter().product();
        let flat = |number: i64, shape: &[i64], start: &[i64]| {
            let (mut rest, mut stride, mut flat) = (number, 1, 0);
            for dim in (0..shape.len()).rev() {
                flat += (rest % self.shape[dim] + start[dim]) * stride;
                rest /= self.shape[dim];
                stride *= shape[dim];
            }
            flat as usize
        };
        (0..count)
            .map(|n| (flat(n, &self.src_shape, &self.src_start), flat(n, &self.dst_shape, &self.dst_start)))
            .collect()
    }

    fn expected(&self, item: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
        let (_, mut dst) = self.buffers();
        for (from, to) in self.items() {
            dst[to * self.typesize..][..self.typesize].copy_from_slice(&item(from));
        }
        dst
    }

    fn assert_copied(&self) {
        let plan = self.plan();
        let (src, mut dst) = self.buffers();
        let expected = self.expected(|from| src[from * self.typesize..][..self.typesize].to_vec());
        plan.copy(&src, &mut dst).unwrap();
        assert!(dst == expected, "{self:?}");
        let (_, mut by_runs) = self.buffers();
        let mut count = 0;
        for run in plan.iter() {
            by_runs[run.dst..][..run.len].copy_from_slice(&src[run.src..][..run.len]);
            count += 1;
        }
        assert!(by_runs == expected, "by runs: {self:?}");
        assert_eq!((count, count == 0), (plan.count(), plan.is_empty()));
        let (src_range, dst_range) = (plan.src_range(), plan.dst_range());
        if !plan.is_empty() {
            assert_eq!(src[src_range.clone()].len(), src_range.len());
            let ends = self.items().iter().fold((0, 0), |ends, at| (ends.0.max(at.0), ends.1.max(at.1)));
            assert_eq!(
                (src_range.end, dst_range.end),
                ((ends.0 + 1) * self.typesize, (ends.1 + 1) * self.typesize)
            );
            // A buffer that is one byte too short, on either side.
            let before = dst.clone();
            assert_eq!(plan.copy(&src[..src_range.end - 1], &mut dst).unwrap_err().kind(), InvalidParam);
            let short = &mut dst[..dst_range.end - 1];
            assert_eq!(plan.copy(&src, short).unwrap_err().kind(), InvalidParam);
            assert!(dst == before);
        }
    }

    fn assert_filled(&self, value: &[u8]) {
        let (_, dst) = self.layouts();
        let fill = plan_rows(&self.shape, self.typesize as i32, &dst, &dst).unwrap();
        let (_, mut filled) = self.buffers();
        fill.fill(&mut filled, value).unwrap();
        assert!(filled == self.expected(|_| value.to_vec()), "{self:?} with {value:?}");
        if !fill.is_empty() {
            let end = fill.dst_range().end;
            assert_eq!(fill.fill(&mut filled[..end - 1], value).unwrap_err().kind(), InvalidParam);
            assert_eq!(fill.fill(&mut filled, &[]).unwrap_err().kind(), InvalidParam);
        }
    }
}

#[test]
fn contiguous_dimensions_become_one_row() {
    let rows = |shape: &[i64], src: &[i64], dst: &[i64]| {
        let zeros = vec![0; shape.len()];
        let (src, dst) =
            (BoxLayout::in_shape(src, &zeros).unwrap(), BoxLayout::in_shape(dst, &zeros).unwrap());
        let plan = plan_rows(shape, 4, &src, &dst).unwrap();
        (plan.count(), plan.row_len())
    };
    assert_eq!(rows(&[3, 4, 5], &[3, 4, 5], &[3, 4, 5]), (1, 240));
    assert_eq!(rows(&[3, 4, 5], &[9, 4, 5], &[3, 4, 5]), (1, 240));
    assert_eq!(rows(&[3, 4, 5], &[3, 9, 5], &[3, 4, 5]), (3, 80));
    assert_eq!(rows(&[3, 4, 5], &[3, 4, 9], &[3, 4, 5]), (12, 20));
    assert_eq!(rows(&[3, 1, 5], &[3, 1, 5], &[3, 1, 5]), (1, 60));
    assert_eq!(rows(&[3, 4, 1], &[3, 4, 9], &[3, 4, 9]), (12, 4));
    assert_eq!(rows(&[], &[], &[]), (1, 4));
    assert_eq!(rows(&[3, 0, 5], &[3, 4, 5], &[3, 4, 5]), (0, 0));
    // Two loops are merged if each iteration of the outer one continues where the inner one ends.
    let (src, dst) = (BoxLayout::at_start(&[3, 4, 9]).unwrap(), BoxLayout::at_start(&[3, 4, 7]).unwrap());
    let plan = plan_rows(&[3, 4, 5], 4, &src, &dst).unwrap();
    assert_eq!(plan.iter().count(), 12);
    assert_eq!(
        plan,
        plan_rows(
            &[12, 5],
            4,
            &BoxLayout::at_start(&[12, 9]).unwrap(),
            &BoxLayout::at_start(&[12, 7]).unwrap()
        )
        .unwrap()
    );
}

#[test]
fn item_byte_offset_is_exact_or_none() {
    let extents = [0, 1, 2, 5, 1 << 20, i64::MAX, -1];
    let starts = [0, 1, 4, 1 << 40, i64::MAX, -1];
    let of =
        |values: &[i64], number: usize| [1, 10, 100].map(|power| values[number / power % 10 % values.len()]);
    let mut found = 0;
    let (step, least) = if cfg!(miri) { (11, 10) } else { (1, 1000) };
    let numbers = (0..1000).flat_map(|a| (0..1000).step_by(7).map(move |b| (a, b)));
    for (shape, start) in numbers.step_by(step * step * step) {
        let ([a, b, c], [x, y, z]) = (of(&extents, shape), of(&starts, start));
        for typesize in [1, 7, 255] {
            let layout = BoxLayout::in_shape(&[a, b, c], &[x, y, z]);
            let rows = layout.ok().and_then(|layout| plan_rows(&[1, 1, 1], typesize, &layout, &layout).ok());
            let place = item_byte_offset(&[a, b, c], &[x, y, z], typesize);
            // An offset that is returned is correct; `None` is returned exactly where no box can be planned.
            if let Some(place) = place {
                found += 1;
                let items = (i128::from(x) * i128::from(b) + i128::from(y)) * i128::from(c) + i128::from(z);
                assert_eq!(place as i128, items * i128::from(typesize));
            }
            assert!(rows.is_some() || place.is_none(), "{a} {b} {c}, {x} {y} {z}, {typesize}");
        }
    }
    assert!(found > least, "{found}");
    assert_eq!((item_byte_offset(&[], &[], 4), item_byte_offset(&[-3], &[2], 4)), (Some(0), Some(8)));
}

#[test]
fn boxes_of_every_item_size_are_copied() {
    for typesize in (1..=300).step_by(if cfg!(miri) { 60 } else { 1 }) {
        for dims in [
            vec![(3, [0, 1, 1, 0]), (1, [1, 1, 0, 2])],
            vec![(2, [1, 0, 0, 0]), (3, [0, 0, 1, 1]), (1, [1, 0, 0, 1])],
            vec![(5, [0, 0, 0, 0]), (1, [0, 0, 1, 0])],
        ] {
            Case::new(&dims, typesize).assert_copied();
        }
    }
}

#[test]
fn invalid_shapes_and_strides_are_rejected() {
    let layout = BoxLayout::in_shape(&[3, 4], &[0, 0]).unwrap();
    let kind = |result: Result<Rows>| result.err().map(|error| error.kind());
    assert_eq!(kind(plan_rows(&[3, 4], 1, &layout, &layout)), None);
    for (shape, typesize) in [(&[3][..], 1), (&[3, -1], 1), (&[3, 4], 0), (&[3, 4], -4)] {
        assert_eq!(
            kind(plan_rows(shape, typesize, &layout, &layout)),
            Some(InvalidParam),
            "{shape:?} {typesize}"
        );
    }
    let far = BoxLayout::in_shape(&[2, i64::MAX], &[0, 0]).unwrap();
    assert_eq!(kind(plan_rows(&[1, 5], 1, &far, &far)), None);
    assert_eq!(kind(plan_rows(&[2, 5], 1, &far, &far)), Some(InvalidParam));
    assert_eq!(kind(plan_rows(&[1, i64::MAX], 2, &far, &far)), Some(InvalidParam));
    assert!(BoxLayout::in_shape(&[3, i64::MAX], &[2, 0]).is_err());
    assert!(BoxLayout::in_shape(&[3, 4], &[0]).is_err());
    assert!(BoxLayout::in_shape(&[3, 4], &[0, -1]).is_err());
    assert!(BoxLayout::in_shape(&[3, -4], &[0, 0]).is_err());
    assert!(BoxLayout::in_shape(&[1; 17], &[0; 17]).is_err());
    assert!(BoxLayout::at_start(&[1; 17]).is_err());
}

fn dimension() -> impl Strategy<Value = (i64, [i64; 4])> {
    let margin = || prop_oneof![2 => Just(0i64), 1 => 1i64..3];
    (prop_oneof![1 => Just(0i64), 10 => 1i64..4, 6 => 4i64..12], [margin(), margin(), margin(), margin()])
}

proptest! {
    #[test]
    fn boxes_are_copied_and_filled(
        dims in prop_oneof![
            9 => prop::collection::vec(dimension(), 0..=8),
            1 => prop::collection::vec(dimension(), 16),
        ],
        typesize in prop_oneof![2 => 1usize..=16, 1 => 1usize..=300],
        value in prop::collection::vec(any::<u8>(), 300),
        byte in any::<u8>(),
    ) {
        let case = Case::new(&dims, typesize);
        case.assert_copied();
        case.assert_filled(&value[..typesize]);
        case.assert_filled(&vec![byte; typesize]);
    }

    /// Rows longer than the limit of one copy are filled by several copies.
    #[test]
    fn long_rows_are_filled(nitems in 1i64..if cfg!(miri) { 100 } else { 60_000 }, typesize in 1usize..10, value in any::<[u8; 10]>()) {
        let case = Case::new(&[], typesize);
        let case = Case {
            shape: vec![2, nitems],
            src_shape: vec![2, nitems],
            src_start: vec![0, 0],
            dst_shape: vec![2, nitems + 1],
            dst_start: vec![0, 1],
            ..case
        };
        case.assert_filled(&value[..typesize]);
    }

    #[test]
    fn arbitrary_boxes_do_not_panic(
        shape in prop::collection::vec(any::<i64>(), 3),
        strides in prop::collection::vec(any::<i64>(), 3),
        start in prop::collection::vec(0i64..3, 3),
        typesize in any::<i32>(),
        small in prop::collection::vec(0i64..4, 3),
    ) {
        let mut dst = [0u8; 64];
        for shape in [&shape, &small] {
            for layout in [BoxLayout::with_strides(&strides, &start), BoxLayout::with_strides(&small, &start), BoxLayout::in_shape(shape, &start)] {
                let Ok(layout) = layout else { continue };
                for typesize in [typesize, 3] {
                    if let Ok(plan) = plan_rows(shape, typesize, &layout, &layout) {
                        let _ = plan.copy(&[7; 64], &mut dst);
                    }
                }
            }
        }
    }
}
