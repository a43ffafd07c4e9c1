//! Block sizes and flags of written chunks (blosc1.md 6.2, 6.3), against a model of the rules. The model is compared with
//! the headers of the reference, then with those of this library.
//!
//! `BLOSC1_LAYOUTS` is the number of cases (default 2000), `BLOSC1_SEED` the seed.

use crate::support::{CODECS, FORWARD_COMPAT_SPLIT, Library, Random, from_environment, libraries};

const ALWAYS: i32 = 1;
const NEVER: i32 = 2;
const AUTO: i32 = 3;
const DONT_SPLIT: u8 = 0x10;
const STORED_PLAIN: u8 = 0x02;

/// The arguments on which the layout of a chunk depends.
#[derive(Clone, Copy, Debug)]
struct Case {
    codec: usize,
    clevel: i32,
    doshuffle: i32,
    typesize: usize,
    nbytes: usize,
    forced: usize,
    splitmode: i32,
}

impl Case {
    fn draw(random: &mut Random, max_len: usize) -> Case {
        let forced = [
            0,
            0,
            random.below(100_000),
            random.below(3000),
            i32::MAX as usize,
            (1 << 31) + 5,
            usize::try_from((1_u64 << 32) + 4096).unwrap_or(0),
        ];
        let typesizes = [1, 2, 4, 8, 15, 16, 17, 255, 256, 1 + random.below(300)];
        let limit = [400, 40_000, max_len][random.below(3)];
        Case {
            codec: random.below(CODECS.len()),
            clevel: random.below(10) as i32,
            doshuffle: random.below(3) as i32,
            typesize: typesizes[random.below(typesizes.len())],
            nbytes: random.below(limit),
            forced: forced[random.below(forced.len())],
            splitmode: [ALWAYS, NEVER, AUTO, FORWARD_COMPAT_SPLIT][random.below(4)],
        }
    }

    fn name(&self) -> &'static str {
        CODECS[self.codec].to_str().expect("a name")
    }

    /// Returns whether readers expect blocks of that size to be split.
    fn may_be_split(typesize: i64, blocksize: i64) -> bool {
        typesize <= 16 && blocksize / typesize >= 128
    }

    /// Returns whether a writer splits blocks of that size. In the mode ALWAYS the reference also splits blocks of which
    /// readers expect that they are not split (blosc1.md 12.7).
    fn is_split(&self, typesize: i64, blocksize: i64, is_reference: bool) -> bool {
        let name = self.name();
        match self.splitmode {
            ALWAYS => is_reference || Case::may_be_split(typesize, blocksize),
            NEVER => false,
            AUTO => matches!(name, "blosclz" | "snappy") && Case::may_be_split(typesize, blocksize),
            _ => name != "zstd" && Case::may_be_split(typesize, blocksize),
        }
    }

    /// Returns the block size in the header, and whether blocks are split.
    fn expected(&self, is_reference: bool) -> (i64, bool) {
        let typesize = if self.typesize > 255 { 1 } else { self.typesize as i64 };
        let nbytes = self.nbytes as i64;
        if nbytes < typesize {
            return (1, self.is_split(typesize, 1, is_reference));
        }
        let level = self.clevel as usize;
        let forced = self.forced as i32;
        let mut blocksize = if forced != 0 {
            i64::from(forced).clamp(128, 715_827_542)
        } else if nbytes < 32_768 {
            nbytes
        } else if matches!(self.name(), "lz4hc" | "zlib" | "zstd") {
            [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024][level] << 10
        } else {
            [8, 16, 32, 64, 128, 128, 256, 256, 256, 256][level] << 10
        };
        if self.clevel > 0 && self.is_split(typesize, blocksize, is_reference) {
            blocksize = (blocksize.min(262_144) * typesize).clamp(65_536, 1_048_576);
        }
        blocksize = blocksize.min(nbytes);
        if blocksize > typesize {
            blocksize -= blocksize % typesize;
        }
        (blocksize, self.is_split(typesize, blocksize, is_reference))
    }

    /// Returns the first 16 bytes that the library writes; `None` if it refuses or has no space for them. With few bytes
    /// in `destsize` the reference writes the header only.
    fn header(&self, library: &Library, content: &[u8], destsize: usize) -> Option<[u8; 16]> {
        // SAFETY: a setting.
        unsafe { (library.blosc_set_splitmode)(self.splitmode) };
        let mut dest = vec![0_u8; destsize.max(64)];
        // SAFETY: buffers of these lengths.
        let rc = unsafe {
            (library.blosc_compress_ctx)(
                self.clevel,
                self.doshuffle,
                self.typesize,
                self.nbytes,
                content.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                destsize,
                CODECS[self.codec].as_ptr(),
                self.forced,
                1,
            )
        };
        assert!(rc >= 0, "{self:?}: {rc}");
        (dest[0] != 0).then(|| dest[..16].try_into().expect("16 bytes"))
    }
}

/// Returns the block size of a header, and whether the flags say that blocks are split.
fn layout_of(header: &[u8; 16]) -> (i64, bool) {
    let blocksize = i32::from_le_bytes(header[8..12].try_into().expect("4 bytes"));
    (i64::from(blocksize), header[2] & DONT_SPLIT == 0)
}

#[test]
fn the_model_is_that_of_the_reference() {
    let Some(([_, reference], _guard)) = libraries() else { return };
    let seed = from_environment("BLOSC1_SEED", 25);
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
    let content = vec![0_u8; 8 << 20];
    for number in 0..from_environment("BLOSC1_LAYOUTS", 2000) {
        let case = Case::draw(&mut random, content.len());
        let header = case.header(&reference, &content, 24).expect("a header");
        assert_eq!(layout_of(&header), case.expected(true), "seed {seed}, case {number}: {case:?}");
    }
}

/// Also: the flags of a plain chunk are those of an encoded one, and blocks are split only where readers expect it. In
/// the default mode they are split exactly there, except with zstd.
#[test]
fn written_headers_follow_the_model() {
    let Some(([ours, _], _guard)) = libraries() else { return };
    let seed = from_environment("BLOSC1_SEED", 25);
    let mut random = Random(0x5851_F42D_4C95_7F2D ^ seed);
    let noise = (0..1 << 19).map(|_| random.next() as u8).collect();
    let contents = [vec![0_u8; 1 << 19], noise];
    let (mut plain, mut split) = (0, 0);
    for number in 0..from_environment("BLOSC1_LAYOUTS", 2000) {
        let case = Case::draw(&mut random, contents[0].len());
        let what = format!("seed {seed}, case {number}: {case:?}");
        let is_noise = random.below(8) == 0 && case.nbytes < 50_000;
        let header =
            case.header(&ours, &contents[usize::from(is_noise)], case.nbytes + 16).expect("a header");
        let (blocksize, is_split) = layout_of(&header);
        let typesize = i64::from(header[3]);
        assert_eq!((blocksize, is_split), case.expected(false), "{what}");
        assert_eq!(header[3], if case.typesize > 255 { 1 } else { case.typesize as u8 }, "{what}");
        assert_eq!(header[2] & 0x05, [0, 1, 4][case.doshuffle as usize], "{what}");
        assert_eq!(header[2] >> 5, [0, 1, 1, 2, 3, 4][case.codec], "{what}");
        let is_expected = Case::may_be_split(typesize, blocksize);
        assert!(is_expected || !is_split, "{what}");
        if case.splitmode == FORWARD_COMPAT_SPLIT && case.name() != "zstd" {
            assert_eq!(is_split, is_expected, "{what}");
        }
        plain += u64::from(header[2] & STORED_PLAIN != 0);
        split += u64::from(is_split);
    }
    assert!(plain > 100 && split > 100, "{plain} plain chunks, {split} split ones");
}
