//! `blosc2 recompress`: other parameters, the same content and metalayers.

mod commands;

use blosc2::{AnyArray, Array, Codec, Filter, OpenOptions, Params, SuperChunk};
use commands::{Cli, numbers, random};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Returns chunks of the same size, except the last.
fn contents() -> Vec<Vec<u8>> {
    vec![numbers(80_000), random(80_000, 5), vec![0; 80_000], numbers(1000)]
}

/// Writes a frame with metalayers.
fn write_frame(cli: &Cli, name: &str, contents: &[Vec<u8>]) {
    let params = Params::new().codec(Codec::Lz4).typesize(4);
    let mut schunk = SuperChunk::create(cli.path(name), &params).unwrap();
    let mut layers = schunk.metalayers_mut().unwrap();
    layers.set_fixed("z", b"first").unwrap();
    layers.set_fixed("a", b"").unwrap();
    layers.set_variable("v", &numbers(10_000)).unwrap();
    layers.set_variable("b", b"x").unwrap();
    for content in contents {
        let chunk = blosc2::compress(content, &params).unwrap();
        schunk.append_chunk(&chunk).unwrap();
    }
}

/// Checks content and metalayers of a frame of [`write_frame`].
fn check_frame(cli: &Cli, name: &str, content: &[u8]) -> SuperChunk {
    let schunk = SuperChunk::open(cli.path(name)).unwrap();
    assert_eq!(schunk.contents().map(Result::unwrap).collect::<Vec<_>>().concat(), content);
    let layers = schunk.metalayers();
    assert_eq!(layers.fixed_names(), ["z", "a"]);
    assert_eq!(layers.variable_names(), ["v", "b"]);
    assert_eq!(layers.fixed("z").unwrap().unwrap(), b"first");
    assert_eq!(layers.fixed("a").unwrap().unwrap(), b"");
    assert_eq!(layers.variable("v").unwrap().unwrap(), numbers(10_000));
    assert_eq!(layers.variable("b").unwrap().unwrap(), b"x");
    assert!(blosc2::verify(cli.path(name), 1).unwrap().is_empty());
    schunk
}

#[test]
fn frames_get_other_parameters_and_keep_content_and_metalayers() {
    let cli = Cli::new();
    write_frame(&cli, "a.b2frame", &contents());
    let content = contents().concat();
    for codec in ["zstd", "blosclz", "lz4hc", "zlib"] {
        cli.succeed(&["recompress", "a.b2frame", "-c", codec, "-l", "9", "--filters", "bitshuffle"], b"");
        let params = check_frame(&cli, "a.b2frame", &content).info().params;
        assert_eq!(params.get_codec().to_string(), codec);
        assert_eq!((params.get_level(), params.get_filters()), (9, &[Filter::Bitshuffle][..]));
        assert_eq!(params.get_typesize(), 4);
    }
    assert_eq!(cli.names(), ["a.b2frame", "tmp"]);
}

#[test]
fn chunks_keep_their_sizes_or_get_another() {
    let cli = Cli::new();
    let contents = vec![numbers(400), random(80_000, 6), numbers(4), numbers(1000)];
    write_frame(&cli, "a.b2frame", &contents);
    cli.succeed(&["recompress", "a.b2frame", "-c", "zstd"], b"");
    let schunk = check_frame(&cli, "a.b2frame", &contents.concat());
    let sizes: Vec<usize> = (0..4).map(|n| schunk.chunk_info(n).unwrap().nbytes).collect();
    assert_eq!(sizes, [400, 80_000, 4, 1000]);
    // A size is rounded down to whole items.
    cli.succeed(&["recompress", "a.b2frame", "--chunksize", "30003"], b"");
    let schunk = check_frame(&cli, "a.b2frame", &contents.concat());
    assert_eq!((schunk.info().chunksize, schunk.nchunks()), (Some(30_000), 3));
}

/// Writes the array `a.b2nd` with a metalayer of each kind. Returns its items.
fn write_array(cli: &Cli) -> Vec<f64> {
    let items: Vec<f64> = (0..60 * 70).map(f64::from).collect();
    let builder = Array::<f64>::builder([60, 70]).chunks([20, 30]).blocks([10, 10]);
    let mut array = builder.metalayer("unit", b"m").create_from(cli.path("a.b2nd"), &items).unwrap();
    array.metalayers_mut().unwrap().set_variable("note", b"text").unwrap();
    items
}

#[test]
fn arrays_stay_arrays() {
    let cli = Cli::new();
    let items = write_array(&cli);
    cli.succeed(&["recompress", "a.b2nd", "-c", "zstd", "-l", "7", "-T", "2"], b"");
    let array = Array::<f64>::open(cli.path("a.b2nd")).unwrap();
    assert_eq!(array.read(..).unwrap(), items);
    assert_eq!((array.chunkshape(), array.blockshape()), (&[20, 30][..], &[10, 10][..]));
    assert_eq!(array.metalayers().unwrap().fixed("unit").unwrap().unwrap(), b"m");
    assert_eq!(array.metalayers().unwrap().variable("note").unwrap().unwrap(), b"text");
    let params = array.info().unwrap().params;
    assert_eq!((params.get_codec(), params.get_level()), (Codec::Zstd, 7));
    for option in ["--chunksize", "--blocksize"] {
        assert!(cli.fail(&["recompress", "a.b2nd", option, "4K"], 2).contains("is an array"));
    }
    assert_eq!(AnyArray::open(cli.path("a.b2nd")).unwrap().nitems(), 4200);
    assert_eq!(cli.names(), ["a.b2nd", "tmp"]);
}

#[test]
fn the_mode_is_kept_and_the_file_of_a_link_is_replaced() {
    let cli = Cli::new();
    write_frame(&cli, "a.b2frame", &contents());
    fs::set_permissions(cli.path("a.b2frame"), PermissionsExt::from_mode(0o440)).unwrap();
    symlink("a.b2frame", cli.path("link")).unwrap();
    cli.succeed(&["recompress", "link", "-c", "zstd"], b"");
    let schunk = check_frame(&cli, "a.b2frame", &contents().concat());
    assert_eq!(schunk.info().params.get_codec(), Codec::Zstd);
    assert_eq!(cli.path("a.b2frame").metadata().unwrap().permissions().mode() & 0o7777, 0o440);
    assert!(cli.path("link").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn parameters_that_change_the_content_are_refused() {
    let cli = Cli::new();
    write_frame(&cli, "a.b2frame", &contents());
    let before = cli.read("a.b2frame");
    for (option, value) in [
        ("--filters", "shuffle,trunc_prec:10"),
        ("--filters", "int_trunc:8"),
        ("--filters", "ndmean:4"),
        ("-c", "zfp_acc"),
        ("-c", "zfp_prec"),
        ("-c", "zfp_rate"),
    ] {
        let message = cli.fail(&["recompress", "a.b2frame", option, value], 2);
        let name = value.trim_start_matches("shuffle,");
        assert!(message.contains(name) && message.contains("changes the content"), "{message}");
    }
    assert_eq!(cli.read("a.b2frame"), before);
    assert_eq!(cli.names(), ["a.b2frame", "tmp"]);
}

#[test]
fn files_of_which_something_would_be_lost_are_refused() {
    let cli = Cli::new();
    write_frame(&cli, "a.b2frame", &contents());
    let frame = cli.read("a.b2frame");
    let mut damaged = frame.clone();
    let header_len = usize::from(frame[14]);
    damaged[header_len + 32..header_len + 48].fill(0xee);
    for (content, expected) in [
        (damaged, " is damaged"),
        ([&frame[..], b"more"].concat(), "and no more"),
        (frame[..frame.len() / 2].to_vec(), "a.b2frame: "),
        (b"no frame".to_vec(), "a.b2frame: "),
    ] {
        cli.write("a.b2frame", &content);
        let message = cli.fail(&["recompress", "a.b2frame", "-c", "zstd"], 1);
        assert!(message.contains(expected), "{message}");
        assert_eq!(cli.read("a.b2frame"), content);
    }
    assert_eq!(cli.names(), ["a.b2frame", "tmp"]);
}

#[test]
fn directories_of_chunks_are_replaced_and_missing_files_do_not_stop_the_others() {
    let cli = Cli::new();
    let options = OpenOptions::new().write(true).create_new(true).directory(true);
    let mut schunk = options.open(cli.path("d.b2frame")).unwrap();
    schunk.append(&numbers(8000)).unwrap();
    schunk.metalayers_mut().unwrap().set_variable("v", b"text").unwrap();
    drop(schunk);
    let items: Vec<i16> = (0..600).collect();
    let builder = Array::<i16>::builder([20, 30]).chunks([20, 30]).directory(true);
    builder.create_from(cli.path("a.b2nd"), &items).unwrap();
    let output = cli.run(&["recompress", "missing", "d.b2frame", "a.b2nd", "-c", "lz4"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(commands::stderr(&output).starts_with("blosc2: missing: "));
    let schunk = SuperChunk::open(cli.path("d.b2frame")).unwrap();
    assert_eq!(schunk.contents().map(Result::unwrap).collect::<Vec<_>>().concat(), numbers(8000));
    assert_eq!(schunk.metalayers().variable("v").unwrap().unwrap(), b"text");
    let array = Array::<i16>::open(cli.path("a.b2nd")).unwrap();
    assert_eq!(array.read(..).unwrap(), items);
    for info in [schunk.info(), array.info().unwrap()] {
        assert_eq!((info.params.get_codec(), info.is_contiguous), (Codec::Lz4, false));
    }
    assert_eq!(cli.names(), ["a.b2nd", "d.b2frame", "tmp"]);
    // Other files in the directory are kept: it is not replaced.
    cli.write("d.b2frame/notes", b"text");
    let message = cli.fail(&["recompress", "d.b2frame", "-c", "zlib"], 1);
    assert!(message.contains("the directory has \"notes\""), "{message}");
    assert_eq!(cli.read("d.b2frame/notes"), b"text");
    cli.succeed(&["recompress", "d.b2frame", "-c", "zlib", "-o", "new.b2frame"], b"");
    assert_eq!(SuperChunk::open(cli.path("new.b2frame")).unwrap().info().params.get_codec(), Codec::Zlib);
}

#[test]
fn arrays_get_chunks_and_blocks_of_other_shapes() {
    let cli = Cli::new();
    let items = write_array(&cli);
    for (options, chunks, blocks) in [
        (&["--chunks=7,70"][..], [7, 70], None),
        (&["--chunks", "60,9", "--blocks", "8,3"], [60, 9], Some([8, 3])),
        (&["--blocks=5,9", "-o", "b.b2nd"], [60, 9], Some([5, 9])),
    ] {
        cli.succeed(&[&["recompress", "a.b2nd"], options].concat(), b"");
        let name = if options.contains(&"-o") { "b.b2nd" } else { "a.b2nd" };
        let array = Array::<f64>::open(cli.path(name)).unwrap();
        assert_eq!((array.chunkshape(), array.read(..).unwrap()), (&chunks[..], items.clone()));
        if let Some(blocks) = blocks {
            assert_eq!(array.blockshape(), blocks);
        }
        assert_eq!(array.metalayers().unwrap().fixed("unit").unwrap().unwrap(), b"m");
        assert_eq!(array.metalayers().unwrap().variable("note").unwrap().unwrap(), b"text");
    }
    let before = cli.read("a.b2nd");
    for (options, expected) in [
        (&["--chunks=7"][..], "expected 2"),
        (&["--chunks=0,7"], "at least 1"),
        (&["--chunks=7,7", "--blocks=8,8"], "expected at most --chunks"),
    ] {
        assert!(cli.fail(&[&["recompress", "a.b2nd"], options].concat(), 2).contains(expected));
    }
    assert_eq!(cli.read("a.b2nd"), before);
    write_frame(&cli, "a.b2frame", &contents());
    assert!(cli.fail(&["recompress", "a.b2frame", "--chunks=7"], 2).contains("is no array"));
}

#[test]
fn trees_are_recompressed_and_a_dry_run_writes_nothing() {
    let cli = Cli::new();
    fs::create_dir_all(cli.path("t/u")).unwrap();
    write_frame(&cli, "t/a.b2frame", &contents());
    write_frame(&cli, "t/u/b.b2frame", &contents());
    cli.write("t/text", b"no frame");
    let before = cli.read("t/a.b2frame");
    let arguments = ["recompress", "-r", "t", "-c", "zlib", "--dry-run"];
    let listed = String::from_utf8(cli.succeed(&arguments, b"")).unwrap();
    assert_eq!(
        listed,
        "t/a.b2frame -> t/a.b2frame: zlib, level 5\nt/u/b.b2frame -> t/u/b.b2frame: zlib, level 5\n"
    );
    assert_eq!(cli.read("t/a.b2frame"), before);
    cli.succeed(&arguments[..5], b"");
    for name in ["t/a.b2frame", "t/u/b.b2frame"] {
        let schunk = check_frame(&cli, name, &contents().concat());
        assert_eq!(schunk.info().params.get_codec(), Codec::Zlib);
    }
    assert_eq!(commands::names(&cli.path("t")), ["a.b2frame", "text", "u"]);
    assert!(cli.fail(&["recompress", "t", "-c", "zlib"], 1).contains("t: a directory"));
}
