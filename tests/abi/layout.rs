//! Pins the ABI: size and offset of every field of every public struct and the value of every constant, in Rust and
//! in C, against one table, `capi-tests/abi-table.def`, which repeats `abi.md` 3 and 5. If the headers of the
//! reference are available, the same C program compiled against them must print the same. The table of the extensions
//! is `capi-tests/blosc2x-table.def`. With pointers of 32 bits, the sizes and offsets that the C program prints replace
//! those of the table.
#![cfg(all(unix, not(feature = "abi7")))]

use std::ffi::OsString;
use std::mem::{offset_of, size_of};
use std::path::Path;

use blosc2::abi::*;

use crate::c_program::{build, reference_include, root, stdout_of};

/// The tables in `capi-tests/`, and the least number of lines of each.
const TABLE: (&str, usize) = ("abi-table.def", 380);
const EXTENSIONS_TABLE: (&str, usize) = ("blosc2x-table.def", 17);

/// Returns the lines of a table without the C types, as `capi-tests/layout.c` prints them.
fn table_lines((name, least): (&str, usize)) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("capi-tests").join(name)).expect("the table");
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(inside) = line.strip_prefix("FIELD(").and_then(|rest| rest.strip_suffix(')')) {
            let parts: Vec<_> = inside.split(", ").collect();
            let [item, field, .., offset, size] = parts.as_slice() else { panic!("{line}") };
            lines.push(format!("FIELD({item}, {field}, {offset}, {size})"));
        } else if ["SIZE(", "VALUE(", "TEXT("].iter().any(|start| line.starts_with(start)) {
            lines.push(line.to_string());
        }
    }
    assert!(lines.len() >= least, "{name}: {} lines, expected at least {least}", lines.len());
    lines
}

fn size_of_field<S, F>(_: impl Fn(&S) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! structs {
    ($($name:ident { $($field:ident),* })*) => {{
        let mut lines = Vec::new();
        $(
            let c_name = if stringify!($name) == "chunk_cache_s" { "struct chunk_cache_s" } else { stringify!($name) };
            lines.push(format!("SIZE({c_name}, {})", size_of::<$name>()));
            $(lines.push(format!(
                "FIELD({c_name}, {}, {}, {})",
                stringify!($field),
                offset_of!($name, $field),
                size_of_field(|s: &$name| &s.$field)
            ));)*
        )*
        lines
    }};
}

macro_rules! values {
    ($($name:ident),* $(,)?) => { vec![$(format!("VALUE({}, {})", stringify!($name), $name)),*] };
}

macro_rules! texts {
    ($($name:ident),* $(,)?) => { vec![$(format!("TEXT({}, {:?})", stringify!($name), $name)),*] };
}

fn rust_structs() -> Vec<String> {
    structs! {
        blosc2_cparams { compcode, compcode_meta, clevel, use_dict, typesize, nthreads, blocksize, splitmode, schunk, filters, filters_meta, prefilter, preparams, tuner_params, tuner_id, instr_codec, codec_params, filter_params }
        blosc2_dparams { nthreads, schunk, postfilter, postparams, typesize }
        blosc2_storage { contiguous, urlpath, cparams, dparams, io }
        blosc2_io { id, name, params }
        blosc2_io_cb { id, name, is_allocation_necessary, open, close, size, write, read, truncate, destroy }
        blosc2_schunk { version, compcode, compcode_meta, clevel, splitmode, typesize, blocksize, chunksize, flags2, use_dict, filters, filters_meta, nchunks, current_nchunk, nbytes, cbytes, data, data_len, storage, frame, cctx, dctx, metalayers, nmetalayers, vlmetalayers, nvlmetalayers, tuner_params, tuner_id, ndim, blockshape, view, change_tick }
        blosc2_metalayer { name, content, content_len }
        b2nd_array_t { sc, shape, chunkshape, extshape, blockshape, extchunkshape, nitems, chunknitems, extnitems, blocknitems, extchunknitems, ndim, chunk_cache, item_array_strides, item_chunk_strides, item_extchunk_strides, item_block_strides, block_chunk_strides, chunk_array_strides, dtype, dtype_format, last_tick }
        chunk_cache_s { data, nchunk }
        blosc2_prefilter_params { user_data, input, output, output_size, output_typesize, output_offset, nchunk, nblock, tid, ttmp, ttmp_nbytes, ctx, output_is_disposable }
        blosc2_postfilter_params { user_data, input, output, size, typesize, offset, nchunk, nblock, tid, ttmp, ttmp_nbytes, ctx }
        blosc2_codec { compcode, compname, complib, version, encoder, decoder }
        blosc2_filter { id, name, version, forward, backward }
        blosc2_tuner { init, next_blocksize, next_cparams, update, free, id, name }
        blosc2_instr { cratio, cspeed, filter_speed, flags }
        blosc2_stdio_file { file }
        blosc2_stdio_params { locking }
        blosc2_stdio_mmap { mode, initial_mapping_size, needs_free, addr, urlpath, file_size, mapping_size, is_memory_only, file, fd, access_flags, map_flags }
        codec_info { encoder, decoder }
        filter_info { forward, backward }
        tuner_info { init, next_blocksize, next_cparams, update, free }
    }
}

fn rust_constants() -> Vec<String> {
    let mut lines: Vec<String> = values![
        BLOSC2_VERSION_MAJOR,
        BLOSC1_VERSION_FORMAT_PRE1,
        BLOSC2_VERSION_MINOR,
        BLOSC1_VERSION_FORMAT,
        BLOSC2_VERSION_RELEASE,
        BLOSC2_VERSION_FORMAT_ALPHA,
        BLOSC2_VERSION_FORMAT_BETA1,
        BLOSC2_VERSION_FORMAT_STABLE,
        BLOSC2_VERSION_FRAME_FORMAT_BETA2,
        BLOSC2_VERSION_FORMAT_VL_BLOCKS,
        BLOSC2_VERSION_FRAME_FORMAT_RC1,
        BLOSC2_VERSION_FORMAT,
        BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS,
        B2ND_METALAYER_VERSION,
        BLOSC2_VERSION_FRAME_FORMAT,
        BLOSC2_ERROR_SUCCESS,
        BLOSC2_ERROR_FAILURE,
        BLOSC2_ERROR_STREAM,
        BLOSC2_ERROR_DATA,
        BLOSC2_ERROR_MEMORY_ALLOC,
        BLOSC2_ERROR_READ_BUFFER,
        BLOSC2_ERROR_WRITE_BUFFER,
        BLOSC2_ERROR_CODEC_SUPPORT,
        BLOSC2_ERROR_CODEC_PARAM,
        BLOSC2_ERROR_CODEC_DICT,
        BLOSC2_ERROR_VERSION_SUPPORT,
        BLOSC2_ERROR_INVALID_HEADER,
        BLOSC2_ERROR_INVALID_PARAM,
        BLOSC2_ERROR_FILE_READ,
        BLOSC2_ERROR_FILE_WRITE,
        BLOSC2_ERROR_FILE_OPEN,
        BLOSC2_ERROR_NOT_FOUND,
        BLOSC2_ERROR_RUN_LENGTH,
        BLOSC2_ERROR_FILTER_PIPELINE,
        BLOSC2_ERROR_CHUNK_INSERT,
        BLOSC2_ERROR_CHUNK_APPEND,
        BLOSC2_ERROR_CHUNK_UPDATE,
        BLOSC2_ERROR_2GB_LIMIT,
        BLOSC2_ERROR_SCHUNK_COPY,
        BLOSC2_ERROR_FRAME_TYPE,
        BLOSC2_ERROR_FILE_TRUNCATE,
        BLOSC2_ERROR_THREAD_CREATE,
        BLOSC2_ERROR_POSTFILTER,
        BLOSC2_ERROR_FRAME_SPECIAL,
        BLOSC2_ERROR_SCHUNK_SPECIAL,
        BLOSC2_ERROR_PLUGIN_IO,
        BLOSC2_ERROR_FILE_REMOVE,
        BLOSC2_ERROR_NULL_POINTER,
        BLOSC2_ERROR_INVALID_INDEX,
        BLOSC2_ERROR_METALAYER_NOT_FOUND,
        BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED,
        BLOSC2_ERROR_TUNER,
        BLOSC2_ERROR_LOCK,
        BLOSC_MIN_HEADER_LENGTH,
        BLOSC2_MAXDICTSIZE,
        BLOSC_EXTENDED_HEADER_LENGTH,
        BLOSC2_MINUSEFULDICT,
        BLOSC2_MAX_OVERHEAD,
        BLOSC2_MAXBLOCKSIZE,
        BLOSC2_MAX_BUFFERSIZE,
        BLOSC2_MAXTYPESIZE,
        BLOSC_MAX_TYPESIZE,
        BLOSC2_MAX_METALAYERS,
        BLOSC_MIN_BUFFERSIZE,
        BLOSC2_METALAYER_NAME_MAXLEN,
        BLOSC2_MAX_FILTERS,
        BLOSC2_MAX_VLMETALAYERS,
        BLOSC2_MAX_UDFILTERS,
        BLOSC2_VLMETALAYERS_NAME_MAXLEN,
        B2ND_MAX_DIM,
        B2ND_MAX_METALAYERS,
        BLOSC_BLOSCLZ,
        BLOSC_BLOSCLZ_LIB,
        BLOSC_LZ4,
        BLOSC_LZ4_LIB,
        BLOSC_LZ4HC,
        BLOSC_ZLIB_LIB,
        BLOSC_ZLIB,
        BLOSC_ZSTD_LIB,
        BLOSC_ZSTD,
        BLOSC_UDCODEC_LIB,
        BLOSC_LAST_CODEC,
        BLOSC_SCHUNK_LIB,
        BLOSC_LAST_REGISTERED_CODEC,
        BLOSC_CODEC_NDLZ,
        BLOSC_CODEC_ZFP_FIXED_ACCURACY,
        BLOSC_CODEC_ZFP_FIXED_PRECISION,
        BLOSC_CODEC_ZFP_FIXED_RATE,
        BLOSC_CODEC_OPENHTJ2K,
        BLOSC_CODEC_GROK,
        BLOSC_CODEC_OPENZL,
        BLOSC_CODEC_J2K,
        BLOSC_CODEC_HTJ2K,
        BLOSC_FILTER_NDCELL,
        BLOSC_FILTER_NDMEAN,
        BLOSC_FILTER_BYTEDELTA_BUGGY,
        BLOSC_FILTER_BYTEDELTA,
        BLOSC_FILTER_INT_TRUNC,
        BLOSC_NOSHUFFLE,
        BLOSC_DOSHUFFLE,
        BLOSC2_USEDICT,
        BLOSC_NOFILTER,
        BLOSC_MEMCPYED,
        BLOSC2_BIGENDIAN,
        BLOSC_SHUFFLE,
        BLOSC_DOBITSHUFFLE,
        BLOSC2_INSTR_CODEC,
        BLOSC_BITSHUFFLE,
        BLOSC_DODELTA,
        BLOSC2_VL_BLOCKS,
        BLOSC_DELTA,
        BLOSC_TRUNC_PREC,
        BLOSC_LAST_FILTER,
        BLOSC_LAST_REGISTERED_FILTER,
        BLOSC2_CHUNK_VERSION,
        BLOSC2_CHUNK_CBYTES,
        BLOSC2_CHUNK_VERSIONLZ,
        BLOSC2_CHUNK_FILTER_CODES,
        BLOSC2_CHUNK_FLAGS,
        BLOSC2_CHUNK_FILTER_META,
        BLOSC2_CHUNK_TYPESIZE,
        BLOSC2_CHUNK_BLOSC2_FLAGS2,
        BLOSC2_CHUNK_NBYTES,
        BLOSC2_CHUNK_BLOSC2_FLAGS,
        BLOSC2_CHUNK_BLOCKSIZE,
        BLOSC2_NO_SPECIAL,
        BLOSC_ALWAYS_SPLIT,
        BLOSC2_SPECIAL_ZERO,
        BLOSC_NEVER_SPLIT,
        BLOSC2_SPECIAL_NAN,
        BLOSC_AUTO_SPLIT,
        BLOSC2_SPECIAL_VALUE,
        BLOSC_FORWARD_COMPAT_SPLIT,
        BLOSC2_SPECIAL_UNINIT,
        BLOSC_STUNE,
        BLOSC2_SPECIAL_LASTID,
        BLOSC_LAST_TUNER,
        BLOSC2_SPECIAL_MASK,
        BLOSC_LAST_REGISTERED_TUNE,
        BLOSC2_IO_FILESYSTEM,
        BLOSC2_IO_BLOSC_DEFINED,
        BLOSC2_IO_FILESYSTEM_MMAP,
        BLOSC2_IO_REGISTERED,
        BLOSC_IO_LAST_BLOSC_DEFINED,
        BLOSC2_IO_USER_DEFINED,
        BLOSC_IO_LAST_REGISTERED,
        DTYPE_NUMPY_FORMAT,
        B2ND_DEFAULT_DTYPE_FORMAT,
        BLOSC_BLOSCLZ_VERSION_FORMAT,
        BLOSC_LZ4_VERSION_FORMAT,
        BLOSC_LZ4HC_VERSION_FORMAT,
        BLOSC_ZLIB_VERSION_FORMAT,
        BLOSC_ZSTD_VERSION_FORMAT,
        BLOSC_UDCODEC_VERSION_FORMAT,
        BLOSC_BLOSCLZ_FORMAT,
        BLOSC_LZ4_FORMAT,
        BLOSC_LZ4HC_FORMAT,
        BLOSC_ZLIB_FORMAT,
        BLOSC_ZSTD_FORMAT,
        BLOSC_UDCODEC_FORMAT,
        BLOSC2_DEFINED_CODECS_START,
        BLOSC2_DEFINED_CODECS_STOP,
        BLOSC2_GLOBAL_REGISTERED_CODECS_START,
        BLOSC2_GLOBAL_REGISTERED_CODECS_STOP,
        BLOSC2_GLOBAL_REGISTERED_CODECS,
        BLOSC2_USER_REGISTERED_CODECS_START,
        BLOSC2_USER_REGISTERED_CODECS_STOP,
        BLOSC2_DEFINED_FILTERS_START,
        BLOSC2_DEFINED_FILTERS_STOP,
        BLOSC2_GLOBAL_REGISTERED_FILTERS_START,
        BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP,
        BLOSC2_GLOBAL_REGISTERED_FILTERS,
        BLOSC2_USER_REGISTERED_FILTERS_START,
        BLOSC2_USER_REGISTERED_FILTERS_STOP,
        BLOSC2_DEFINED_TUNER_START,
        BLOSC2_DEFINED_TUNER_STOP,
        BLOSC2_GLOBAL_REGISTERED_TUNER_START,
        BLOSC2_GLOBAL_REGISTERED_TUNER_STOP,
        BLOSC2_GLOBAL_REGISTERED_TUNERS,
        BLOSC2_USER_REGISTERED_TUNER_START,
        BLOSC2_USER_REGISTERED_TUNER_STOP,
        BLOSC_BTUNE,
    ];
    lines.extend(texts![
        BLOSC2_VERSION_STRING,
        BLOSC2_VERSION_DATE,
        BLOSC_BLOSCLZ_COMPNAME,
        BLOSC_BLOSCLZ_LIBNAME,
        BLOSC_LZ4_COMPNAME,
        BLOSC_LZ4_LIBNAME,
        BLOSC_LZ4HC_COMPNAME,
        BLOSC_ZLIB_LIBNAME,
        BLOSC_ZLIB_COMPNAME,
        BLOSC_ZSTD_LIBNAME,
        BLOSC_ZSTD_COMPNAME,
        B2ND_DEFAULT_DTYPE,
    ]);
    lines
}

/// Returns the lines of a table as they are on this target.
fn expected_lines(table: (&str, usize)) -> Vec<String> {
    let mut lines = table_lines(table);
    if !cfg!(target_pointer_width = "64") {
        let is_constant = |line: &String| line.starts_with("VALUE(") || line.starts_with("TEXT(");
        let (count, arguments): (_, &[OsString]) =
            (lines.len(), if table == EXTENSIONS_TABLE { &[WITH_EXTENSIONS.into()] } else { &[] });
        lines.retain(is_constant);
        let tag = format!("expected-{}", table.0.replace('.', "-"));
        let printed = lines_printed_with(&root().join("include"), &tag, arguments);
        lines.extend(printed.into_iter().filter(|line| !is_constant(line)));
        assert_eq!(lines.len(), count, "{}: sizes and offsets", table.0);
    }
    lines
}

/// Compares in both directions: no line is missing, and there is no additional line.
fn assert_equals_table(table: (&str, usize), mut found: Vec<String>, what: &str) {
    let mut expected = expected_lines(table);
    expected.sort();
    found.sort();
    let missing: Vec<_> = expected.iter().filter(|line| found.binary_search(line).is_err()).collect();
    let wrong: Vec<_> = found.iter().filter(|line| expected.binary_search(line).is_err()).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "{what}: expected {missing:#?}, found {wrong:#?}");
    assert_eq!(found, expected, "{what}");
}

fn lines_printed_with(include: &Path, tag: &str, arguments: &[OsString]) -> Vec<String> {
    stdout_of(&build("layout.c", include, tag, arguments)).lines().map(String::from).collect()
}

/// The argument of the compiler that selects the table and the header of the extensions.
const WITH_EXTENSIONS: &str = "-DBLOSC2X";

#[test]
fn rust_items_are_those_of_the_table() {
    let mut lines = rust_structs();
    lines.extend(rust_constants());
    assert_equals_table(TABLE, lines, "src/abi");
}

#[test]
fn extensions_are_those_of_their_table() {
    let mut lines = structs! {
        blosc2x_damage { part, cause, nchunk, offset, length, message }
        blosc2x_io_range { urlpath, start, stop }
        blosc2x_tuner_params { size, mode, tradeoff }
        blosc2x_verify_options { size, nthreads, offset }
    };
    lines.extend(values![
        BLOSC2X_DURABILITY_OFF,
        BLOSC2X_DURABILITY_KILL,
        BLOSC2X_DURABILITY_POWER,
        BLOSC2X_PART_HEADER,
        BLOSC2X_PART_METALAYER,
        BLOSC2X_PART_VLMETALAYER,
        BLOSC2X_PART_INDEX,
        BLOSC2X_PART_TRAILER,
        BLOSC2X_PART_CHUNK,
        BLOSC2X_PART_FILE,
        BLOSC2X_PART_OTHER_DATA,
        BLOSC2X_TUNER_BALANCED,
        BLOSC2X_TUNER_COMPRESSION,
        BLOSC2X_TUNER_DECOMPRESSION,
        BLOSC2X_TUNER_AUTO,
    ]);
    assert_equals_table(EXTENSIONS_TABLE, lines, "src/abi");
    let printed = lines_printed_with(&root().join("include"), "extensions", &[WITH_EXTENSIONS.into()]);
    assert_equals_table(EXTENSIONS_TABLE, printed, "include/");
}

#[test]
fn our_headers_are_those_of_the_table() {
    assert_equals_table(TABLE, lines_printed_with(&root().join("include"), "ours", &[]), "include/");
}

#[test]
fn the_reference_agrees_with_the_table() {
    if let Some(include) = reference_include() {
        let printed = lines_printed_with(&include, "theirs", &[]);
        assert_equals_table(TABLE, printed, "the reference's headers");
    }
}

/// A declaration that differs from the specification's is a compile error next to it.
#[test]
fn prototypes_are_those_of_the_specification() {
    let only_compile = ["-c".into()];
    build("prototypes.c", &root().join("include"), "ours.o", &["-c".into(), WITH_EXTENSIONS.into()]);
    if let Some(include) = reference_include() {
        build("prototypes.c", &include, "theirs.o", &only_compile);
    }
}

/// The headers for programs of SOVERSION 7; `capi-tests/clients/old-headers.sh` checks the same table against the
/// headers that the C library had at that version.
#[cfg(target_pointer_width = "64")]
#[test]
fn the_headers_of_abi7_have_its_layout() {
    let shared = root().join("include");
    build("abi7_layout.c", &crate::abi7_headers(), "abi7.o", &["-c".into(), "-I".into(), shared.into()]);
}

/// The offsets in the context that tuner plugins and white-box programs use (`abi.md` 4.3, 4.4).
#[cfg(target_pointer_width = "64")]
#[test]
fn context_field_offsets_match_the_document() {
    macro_rules! assert_offsets {
        ($name:ident { $($field:ident $offset:literal),* $(,)? }) => {
            $(assert_eq!(offset_of!($name, $field), $offset, stringify!($name.$field));)*
        };
    }
    assert_offsets!(ContextHead {
        src 0, dest 8, header_flags 16, blosc2_flags 17, blosc2_flags2 18, sourcesize 20, header_overhead 24,
        nblocks 28, leftover 32, blocksize 36, header_blocksize 40, splitmode 44, output_bytes 48, srcsize 52,
        destsize 56, typesize 60, bstarts 64, blocknbytes 72, blockoffsets 80, blockcbytes 88,
        vlblock_sources 96, vlblock_dests 104, special_type 112, compcode 116, compcode_meta 120, clevel 124,
        use_dict 128, dict_buffer 136, dict_size 144, dict_cdict 152, dict_ddict 160, filter_flags 168,
        filters 169, filters_meta 175, urfilters 184, prefilter 824, postfilter 832, preparams 840,
        postparams 848, block_maskout 856, block_maskout_nitems 864, schunk 872, serial_context 880,
        do_compress 888, tuner_params 896, tuner_id 904, codec_params 912, filter_params 920, nthreads 968,
        new_nthreads 970, thread_backend 972, threads_started 974, thread_contexts 976, thread_pool 984,
        pool_epoch 992, job 1000, count_mutex 1008, nchunk_mutex 1048, thread_giveup_code 1088,
        dref_not_init 1092, delta_mutex 1096, delta_cv 1136, dict_buffer_owned 1184, end_threads 1186,
        job_seq 1188, active_workers 1192, thread_nblock 1196, threads 1200, jobs_mutex 1208, jobs_ready 1248,
        jobs_done 1296,
    });
    assert_eq!(size_of::<ContextHead>(), 1344);
    assert_offsets!(b2nd_context_s {
        ndim 0, shape 8, chunkshape 136, blockshape 200, dtype 264, dtype_format 272, b2_storage 280,
        metalayers 288, nmetalayers 648,
    });
    assert_eq!(size_of::<b2nd_context_s>(), 656);
}

#[test]
fn any_nonzero_byte_is_true() {
    assert!(CBool(2).get() && CBool(0xFF).get() && CBool::TRUE.get() && !CBool::FALSE.get());
}
