//! The public struct for the worked layouts, placeholders, and the limits (b2nd.md 2.2, 2.6, 13.3).

use blosc2::abi::b2nd_array_t;

use super::{create_filled_array, for_each_library_and_store, layout_a};
use crate::support::all_libraries;
use crate::support::array::ArraySpec;

fn item_counts(fields: &b2nd_array_t) -> [i64; 5] {
    [
        fields.nitems,
        fields.extnitems,
        fields.extchunknitems,
        i64::from(fields.chunknitems),
        i64::from(fields.blocknitems),
    ]
}

#[test]
fn geometry_of_layout_a_matches_the_document() {
    for_each_library_and_store(|library, store, path| {
        let array = create_filled_array(library, layout_a(), store, path);
        let fields = array.fields();
        assert_eq!((&fields.shape[..3], &fields.chunkshape[..3]), (&[5, 7, 1][..], &[3, 4, 1][..]));
        assert_eq!((&fields.extshape[..3], &fields.extchunkshape[..3]), (&[6, 8, 1][..], &[4, 4, 1][..]));
        assert_eq!((&fields.blockshape[..3], fields.blockshape[15]), (&[2, 2, 1][..], 1));
        assert_eq!(item_counts(fields), [35, 48, 16, 12, 4]);
        assert_eq!(fields.item_array_strides[..2], [7, 1]);
        assert_eq!(fields.item_chunk_strides[..2], [4, 1]);
        assert_eq!(fields.item_extchunk_strides[..2], [4, 1]);
        assert_eq!(fields.item_block_strides[..2], [2, 1]);
        assert_eq!(fields.block_chunk_strides[..2], [2, 1]);
        assert_eq!(fields.chunk_array_strides[..2], [32, 1]);
        assert!(fields.chunk_cache.data.is_null() && fields.chunk_cache.nchunk == -1);
        let schunk = array.schunk();
        assert_eq!((schunk.chunksize(), schunk.blocksize(), schunk.nbytes()), (16, 4, 64));
        // For a sparse array in memory, the header of each replaced chunk is counted again (Q10).
        let memory = store == crate::support::super_chunk::Store::Memory;
        assert_eq!(schunk.cbytes(), if memory { 320 } else { 192 }, "{}: {store:?}", library.name);
    });
}

#[test]
fn geometry_of_placeholder_dimensions_matches_the_document() {
    for_each_library_and_store(|library, store, path| {
        let spec = ArraySpec::new(&[100, 0, 12], &[31, 0, 12], &[10, 0, 12], 1).with_store(store, path);
        let array = spec.zeros(library);
        let fields = array.fields();
        assert_eq!(fields.extshape[..3], [124, 0, 12]);
        assert_eq!(fields.extchunkshape[..3], [40, 0, 12]);
        assert_eq!(item_counts(fields), [0; 5]);
        assert_eq!(fields.item_array_strides[..3], [0, 12, 1]);
        assert_eq!(fields.block_chunk_strides[..3], [0, 1, 1]);
        assert_eq!(fields.chunk_array_strides[..3], [0, 144, 1]);
        let schunk = array.schunk();
        assert_eq!((schunk.chunksize(), schunk.blocksize(), schunk.nchunks()), (0, 0, 0));
    });
    for library in all_libraries() {
        let array = ArraySpec::new(&[0, 5], &[3, 2], &[2, 1], 1).zeros(library);
        let fields = array.fields();
        assert_eq!((&fields.extshape[..2], &fields.extchunkshape[..2]), (&[0, 6][..], &[4, 2][..]));
        assert_eq!((fields.chunknitems, fields.extchunknitems), (6, 8));
        let schunk = array.schunk();
        assert_eq!((schunk.chunksize(), schunk.blocksize(), schunk.nchunks()), (8, 2, 0));
    }
}

/// Invalid geometries, and their return codes (b2nd.md 2.1, 2.2, 6.1, 6.2, Q17).
#[test]
fn invalid_geometries_return_the_documented_codes() {
    let far = i64::MAX;
    for library in all_libraries() {
        let create = |shape: &[i64], chunk: &[i32], block: &[i32], typesize| {
            let context = ArraySpec::new(shape, chunk, block, typesize).try_context(library, None)?;
            Some(context.zeros().0)
        };
        let name = library.name;
        assert_eq!(create(&[65_536, 65_536], &[65_536, 65_536], &[65_536, 65_536], 1), None, "{name}");
        for (shape, chunk, block) in [([-1], [1], [1]), ([1], [-1], [1]), ([1], [1], [-1]), ([1], [1], [0])] {
            assert_eq!(create(&shape, &chunk, &block, 1), None, "{name}: {shape:?} {chunk:?} {block:?}");
        }
        assert_eq!(create(&[1 << 62, 4], &[1, 1], &[1, 1], 1), Some(-12), "{name}");
        assert_eq!(create(&[far], &[1_000_000], &[1], 1), Some(-12), "{name}");
        assert_eq!(create(&[0, far, far], &[1, 1, 1], &[1, 1, 1], 1), Some(0), "{name}");
        assert_eq!(create(&[far, far, 0], &[1, 1, 1], &[1, 1, 1], 1), Some(-12), "{name}");
        assert_eq!(create(&[1], &[2_147_483_615], &[1000], 1), Some(-35), "{name}");
        assert_eq!(create(&[1], &[2_147_483_615], &[5], 1), Some(0), "{name}");
        assert_eq!(create(&[1], &[2_147_483_616], &[1], 1), Some(-35), "{name}");
        assert_eq!(create(&[1 << 40], &[1], &[1], 1), Some(-1), "{name}");
        assert_eq!(create(&[5], &[3], &[2], 0), Some(-12), "{name}");
        assert_eq!(create(&[5], &[3], &[2], -4), None, "{name}");
    }
}
