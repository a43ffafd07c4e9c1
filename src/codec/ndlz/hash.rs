//! XXH32 with seed 1, of pieces whose length is a multiple of 4 (`codecs.md` 8.4).

const P1: u32 = 2_654_435_761;
const P2: u32 = 2_246_822_519;
const P3: u32 = 3_266_489_917;
const P4: u32 = 668_265_263;
const P5: u32 = 374_761_393;

const SEED: u32 = 1;

/// The hash of `bytes`.
#[inline(always)]
pub fn hash<const N: usize>(bytes: &[u8; N]) -> u32 {
    const { assert!(N.is_multiple_of(4)) };
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let stripes = N / 16;
    let mut h = SEED.wrapping_add(P5);
    if stripes > 0 {
        let mut lanes =
            [SEED.wrapping_add(P1).wrapping_add(P2), SEED.wrapping_add(P2), SEED, SEED.wrapping_sub(P1)];
        for stripe in 0..stripes {
            for (n, lane) in lanes.iter_mut().enumerate() {
                let word = word(16 * stripe + 4 * n);
                *lane = lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(13).wrapping_mul(P1);
            }
        }
        h = 0;
        for (lane, shift) in lanes.into_iter().zip([1, 7, 12, 18]) {
            h = h.wrapping_add(lane.rotate_left(shift));
        }
    }
    h = h.wrapping_add(N as u32);
    for at in (16 * stripes..N).step_by(4) {
        h = h.wrapping_add(word(at).wrapping_mul(P3)).rotate_left(17).wrapping_mul(P4);
    }
    h ^= h >> 15;
    h = h.wrapping_mul(P2);
    h ^= h >> 13;
    h = h.wrapping_mul(P3);
    h ^ h >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_document() {
        fn counted<const N: usize>() -> [u8; N] {
            std::array::from_fn(|i| i as u8)
        }
        assert_eq!(hash(&counted::<16>()), 0xc65a_436e);
        assert_eq!(hash(&counted::<12>()), 0x3cff_c34f);
        assert_eq!(hash(&counted::<8>()), 0xf75f_026c);
        assert_eq!(hash(&counted::<64>()), 0x55e9_e5a0);
        assert_eq!(hash(&counted::<24>()), 0xeb0e_891c);
    }
}
