//! Tests: the streams of the document, blocks of many shapes, and bad streams. `tests/plugins` compares with the
//! reference.

use super::*;
use crate::chunk::BlockShape;
use crate::error::ErrorKind;
use crate::random::Random;

fn hex(dump: &str) -> Vec<u8> {
    let digits: Vec<u8> = dump.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn container_of(blockshape: &[i32]) -> Container {
    Container { typesize: 1, blockshape: BlockShape::new(blockshape) }
}

/// Returns the stream of a block, after checking that it decodes to the block.
fn encode_checked(cell: u8, shape: [i32; 2], src: &[u8], room: usize) -> Vec<u8> {
    let mut stream = vec![0xa5; room];
    let mut tables = None;
    let len = compress(&mut tables, cell, Some(&container_of(&shape)), src, &mut stream).unwrap();
    stream.truncate(len);
    if len > 0 {
        let mut back = vec![0x5a; src.len()];
        assert_eq!(decompress(cell, &stream, &mut back), src.len(), "cell {cell} shape {shape:?}");
        assert_eq!(back, src, "cell {cell} shape {shape:?}");
    }
    stream
}

/// Returns a block made of a grid of cells.
fn block_of_cells<const C: usize>(cells: &[&[[u8; C]; C]], columns: usize) -> Vec<u8> {
    cells
        .chunks(columns)
        .flat_map(|cells| (0..C).flat_map(move |row| cells.iter().flat_map(move |c| c[row])))
        .collect()
}

#[test]
fn cells_of_4_encode_to_the_documented_streams() {
    let r: [[u8; 4]; 4] = std::array::from_fn(|row| std::array::from_fn(|i| (4 * row + i) as u8));
    let [r0, r1, r2, r3] = r;
    let (n, m) = ([0xf0; 4], [0xe1, 0xe2, 0xe3, 0xe4]);
    let cells = [
        r,
        [[0xaa; 4]; 4],
        r,
        [r0, r1, r2, n],
        [n, r1, r2, r3],
        [r0, r1, n, r2],
        [r0, m, r1, r2],
        [n, r0, m, r1],
        [m, n, r2, r3],
        [r0, r2, r1, r3],
        r,
        [r2, r3, r1, r2],
    ];
    let block = block_of_cells(&cells.each_ref(), 4);
    let expected = hex("020c0000001000000000000102030405060708090a0b0c0d0e0f40aac01200e81500f0f0f0f0e01800f0f0f0f0f02300f0
                        f0f0f0f82a00e1e2e3e4b83100f0f0f0f0e1e2e3e4803400e1e2e3e4f0f0f0f03047003f00c04c002847004b00");
    assert_eq!(encode_checked(4, [12, 16], &block, 192), expected);

    let block: Vec<u8> = (0..6).flat_map(|r| (0..10).map(move |c| c / 4 + 10 * (r / 4))).collect();
    let expected =
        hex("02060000000a00000040004001000202020202020202000a0a0a0a0a0a0a0a000b0b0b0b0b0b0b0b000c0c0c0c");
    assert_eq!(encode_checked(4, [6, 10], &block, 200), expected);
}

#[test]
fn cells_of_8_encode_to_the_documented_stream() {
    let q: [[u8; 8]; 8] = std::array::from_fn(|row| std::array::from_fn(|i| (8 * row + i) as u8));
    let z = [0xf0; 8];
    let cells = [
        q,
        [[7; 8]; 8],
        q,
        [z, q[0], q[1], q[2], z, z, z, z],
        [q[3], q[4], z, z, z, z, z, z],
        [z, z, z, z, z, z, q[6], q[7]],
    ];
    let mut expected = hex("02 10000000 18000000 00");
    expected.extend(0..0x40);
    expected.extend(hex("4007 c04200 a94500"));
    expected.extend([0xf0; 40]);
    expected.extend(hex("885800"));
    expected.extend([0xf0; 48]);
    expected.extend(hex("8e7300"));
    expected.extend([0xf0; 48]);
    assert_eq!(encode_checked(8, [16, 24], &block_of_cells(&cells.each_ref(), 3), 384), expected);
}

/// Returns random bytes with occasional repetitions.
fn random_rows(len: usize, seed: u64, kinds: usize) -> Vec<u8> {
    let random = &mut Random(seed);
    let rows = random.bytes(4 * kinds, 256);
    let mut bytes: Vec<u8> =
        (0..len.div_ceil(4)).flat_map(|_| rows[4 * random.below(kinds)..][..4].to_owned()).collect();
    bytes.truncate(len);
    bytes
}

#[test]
fn blocks_of_many_shapes_round_trip() {
    let mut coded = 0;
    for cell in [4, 8] {
        let step = if cfg!(miri) { 6 } else { 1 };
        for height in (1..20).chain([64, 100]).step_by(step) {
            for width in (1..20).chain([33, 64]).step_by(step) {
                for kinds in [2, 4, 30] {
                    let block = random_rows((height * width) as usize, 7, kinds);
                    let mut stream = vec![0; block.len()];
                    let mut tables = None;
                    let container = container_of(&[height, width]);
                    let done = compress(&mut tables, cell, Some(&container), &block, &mut stream);
                    assert_eq!(done.is_err(), block.len() < 9, "{height} {width}");
                    if done.is_ok() {
                        coded += usize::from(
                            !encode_checked(cell, [height, width], &block, block.len()).is_empty(),
                        );
                    }
                }
            }
        }
    }
    assert!(coded > if cfg!(miri) { 2 } else { 300 }, "{coded} blocks are shorter when coded");
}

#[test]
fn encoder_rejects_invalid_cells_and_shapes() {
    let block = vec![1; 64];
    let mut dest = vec![0; 64];
    let mut tables = None;
    let mut refused = |cell, container: Option<Container>| {
        let error = compress(&mut tables, cell, container.as_ref(), &block, &mut dest).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
    };
    for cell in [0, 1, 5, 16, 255] {
        refused(cell, Some(container_of(&[8, 8])));
    }
    refused(4, None);
    refused(4, Some(Container { typesize: 1, blockshape: None }));
    for shape in
        [&[][..], &[64], &[4, 4, 4], &[8, 9], &[-8, -8], &[0, 64], &[65536, 65536], &[1 << 30, 1 << 30]]
    {
        refused(4, Some(container_of(shape)));
    }
    assert_eq!(compress(&mut tables, 8, Some(&container_of(&[8, 8])), &block, &mut dest[..16]).unwrap(), 0);
}

#[test]
fn truncated_and_invalid_streams_return_0() {
    for cell in [4u8, 8] {
        let block = random_rows(40 * 48, 5, 3);
        let stream = encode_checked(cell, [40, 48], &block, block.len());
        assert!(!stream.is_empty());
        let mut out = vec![0; block.len()];
        for len in (0..stream.len()).step_by(if cfg!(miri) { 97 } else { 1 }) {
            assert_eq!(decompress(cell, &stream[..len], &mut out), 0, "{len} bytes");
        }
        assert_eq!(decompress(cell, &stream, &mut out[..1919]), 0);
        assert_eq!(decompress(5, &stream, &mut out), 0);
        let random = &mut Random(1);
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            let mut bad = stream.clone();
            for _ in 0..3 {
                bad[random.below(stream.len())] = random.next() as u8;
            }
            decompress(cell, &bad, &mut out);
        }
        for extents in [[0, 5], [5, 0], [-1, -1], [i32::MIN, 2], [i32::MAX, i32::MAX], [0, i32::MAX]] {
            let mut bad = vec![2];
            bad.extend(extents.iter().flat_map(|extent: &i32| extent.to_le_bytes()));
            bad.resize(100, 0);
            assert_eq!(decompress(cell, &bad, &mut out), 0, "{extents:?}");
        }
    }
}
