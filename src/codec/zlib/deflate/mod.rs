//! Our own deflate encoders (RFC 1951): [`quick`], with the fixed codes, for level 1, and [`literals`], for bytes in which
//! nothing comes again. Never decides which streams come here.

mod bits;
mod block;
mod huffman;
mod literals;
mod matches;
mod quick;

pub use literals::compress as compress_literals;
pub use matches::REACH;
pub use quick::{Positions, compress as compress_quickly};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zlib::inflate::Inflater;

    #[test]
    fn every_decoder_gets_the_stream_back() {
        let mut x = 1u64;
        let mut random = move |bound: usize| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % bound
        };
        let (mut positions, mut inflater) = (Positions::default(), Inflater::default());
        for round in 0..400 {
            let len = [round, random(5000), random(300_000)][round % 3];
            let mut src: Vec<u8> = vec![];
            while src.len() < len {
                match random(4) {
                    0 => src.extend((0..random(500)).map(|_| random(256) as u8)),
                    1 => src.extend(std::iter::repeat_n(random(256) as u8, random(5000))),
                    2 if src.len() > 9 => {
                        let distance = 1 + random(src.len().min(50_000));
                        (0..random(700)).for_each(|_| src.push(src[src.len() - distance]));
                    }
                    _ => src.extend((0..random(500)).map(|_| random(5) as u8)),
                }
            }
            let mut dest = vec![0xa5; src.len() + src.len() / 1000 + 64];
            let written = compress_quickly(&mut positions, &src, &mut dest).expect("there is room");
            assert!(dest[written + 8..].iter().all(|&byte| byte == 0xa5));
            let mut back = vec![0; src.len()];
            flate2::Decompress::new(false)
                .decompress(&dest[..written], &mut back, flate2::FlushDecompress::Finish)
                .expect("a good stream");
            assert!(back == src, "round {round}");
            back.fill(0);
            assert_eq!(inflater.raw(&dest[..written], &mut back), Some((written, src.len())));
            assert!(back == src, "round {round}");
            let room = written.saturating_sub(1 + random(3));
            let mut tight = vec![0; written];
            assert_eq!(compress_quickly(&mut positions, &src, &mut tight[..room]), None);
            assert_eq!(compress_quickly(&mut positions, &src, &mut tight), Some(written));
            assert!(tight == dest[..written], "the same stream twice");
        }
    }
}
