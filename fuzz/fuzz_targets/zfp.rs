//! ZFP streams: repeated decoding gives the same result, whole and item by item, and the encoder's streams decode.

#![no_main]

use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry};
use libblosc2_fuzz::split_seed;
use libblosc2_fuzz::support::guard::GuardedBuffer;
use libblosc2_fuzz::support::random::Random;
use libfuzzer_sys::fuzz_target;

/// The largest block of this target, in bytes.
const CAPACITY: usize = 64 << 10;

struct ZfpCase {
    zfp: Zfp,
    blockshape: Vec<i32>,
    typesize: i32,
}

impl ZfpCase {
    fn draw(random: &mut Random) -> ZfpCase {
        let ndim = if random.one_in(30) { random.below(7) } else { 1 + random.below(4) };
        let longest = [40, 400, 40, 16, 8, 4, 2][ndim];
        let mut blockshape: Vec<i32> = (0..ndim).map(|_| 1 + random.below(longest) as i32).collect();
        if random.one_in(30) && ndim > 0 {
            blockshape[random.below(ndim)] = *random.pick(&[0, -1, i32::MAX, 65_536, i32::MIN]);
        }
        ZfpCase {
            zfp: Zfp {
                mode: *random.pick(&[Mode::Accuracy, Mode::Precision, Mode::Rate]),
                meta: random.byte(),
            },
            blockshape,
            typesize: if random.one_in(30) { random.below(10) as i32 } else { *random.pick(&[4, 8]) },
        }
    }

    fn geometry(&self) -> ZfpGeometry<'_> {
        ZfpGeometry { blockshape: &self.blockshape, typesize: self.typesize }
    }

    /// Returns the size of a block in bytes, `None` if it is not 1 to [`CAPACITY`].
    fn nbytes(&self) -> Option<usize> {
        let product =
            self.blockshape.iter().try_fold(self.typesize, |product, &extent| product.checked_mul(extent));
        product
            .and_then(|nbytes| usize::try_from(nbytes).ok())
            .filter(|nbytes| (1..=CAPACITY).contains(nbytes))
    }

    /// Decodes `stream` into `len` bytes filled with `before`. An inaccessible page is behind both buffers if `at_end`,
    /// else in front of them. Returns `None` if the decoder fails.
    fn decode(&self, stream: &[u8], len: usize, at_end: bool, before: u8) -> Option<Vec<u8>> {
        let (mut src, mut dest) = (GuardedBuffer::new(stream.len()), GuardedBuffer::new(len));
        let src = src.edge_bytes(stream.len(), at_end);
        src.copy_from_slice(stream);
        let dest = dest.edge_bytes(len, at_end);
        dest.fill(before);
        let written = self.zfp.decode(self.geometry(), src, dest).ok()?;
        assert_eq!(written, len);
        Some(dest.to_vec())
    }

    fn check(&self, stream: &[u8], random: &mut Random) {
        let Some(nbytes) = self.nbytes() else {
            assert!(
                self.decode(stream, CAPACITY, true, 0).is_none(),
                "a block of shape {:?}",
                self.blockshape
            );
            return;
        };
        if nbytes > 1 {
            assert!(
                self.decode(stream, random.below(nbytes), true, 0).is_none(),
                "a block was decoded into a shorter destination"
            );
        }
        let found = self.decode(stream, nbytes, true, 0xCC);
        assert!(
            self.decode(stream, nbytes, false, 0x33) == found,
            "the result depends on the address or the old bytes of a buffer"
        );
        assert!(
            self.decode(stream, nbytes + 9, true, 0x5A).is_none(),
            "a block was decoded into a longer destination"
        );
        let size = self.typesize as usize;
        let nitems = nbytes / size;
        for _ in 0..4 {
            let start = random.below(nitems + 1);
            let items = start..start + random.below((nitems - start + 1).min(1 + random.clone().below(40)));
            let mut dest = GuardedBuffer::new(items.len() * size);
            let dest = dest.last_bytes(items.len() * size);
            if let Ok(true) = self.zfp.decode_items(self.geometry(), stream, items.clone(), dest)
                && let Some(found) = &found
            {
                assert!(*dest == found[items.start * size..items.end * size], "items {items:?}");
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    let case = ZfpCase::draw(&mut random);
    let mut stream = data.to_vec();
    if let Some(nbytes) = case.nbytes().filter(|_| random.one_in(3) && !data.is_empty()) {
        let mut src = data.repeat(nbytes.div_ceil(data.len()));
        src.truncate(nbytes);
        let mut dest = GuardedBuffer::new(nbytes);
        let room = if random.one_in(3) { random.below(nbytes + 1) } else { nbytes };
        let dest = dest.last_bytes(room);
        let Ok(len) = case.zfp.encode(case.geometry(), &src, dest) else { return };
        assert!(len <= room, "{len} bytes in {room}");
        if len == 0 {
            return;
        }
        assert!(
            case.decode(&dest[..len], nbytes, true, 0).is_some(),
            "the decoder rejects the encoder's stream"
        );
        stream = dest[..len].to_vec();
        if random.one_in(2) {
            stream.truncate(random.below(len + 1));
        }
    }
    case.check(&stream, &mut random);
});
