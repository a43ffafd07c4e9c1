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
        cli.succeed(&["recompress", "a.b2frame", "-c", codec, "-l", "9", "-f", "bitshuffle"], b"");
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

#[test]
fn arrays_stay_arrays() {
    let cli = Cli::new();
    let items: Vec<f64> = (0..60 * 70).map(f64::from).collect();
    let builder = Array::<f64>::builder([60, 70]).chunks([20, 30]).blocks([10, 10]);
    let mut array = builder.metalayer("unit", b"m").create_from(cli.path("a.b2nd"), &items).unwrap();
    array.metalayers_mut().unwrap().set_variable("note", b"text").unwrap();
    drop(array);
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
        ("-f", "shuffle,trunc_prec:10"),
        ("-f", "int_trunc:8"),
        ("-f", "ndmean:4"),
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
fn a_directory_is_a_usage_error_and_the_other_files_follow() {
    let cli = Cli::new();
    let options = OpenOptions::new().write(true).create_new(true).directory(true);
    options.open(cli.path("d.b2frame")).unwrap().append(&[1; 800]).unwrap();
    write_frame(&cli, "a.b2frame", &contents());
    let output = cli.run(&["recompress", "d.b2frame", "missing", "a.b2frame", "-c", "zstd"]);
    assert_eq!(output.status.code(), Some(2));
    let message = commands::stderr(&output);
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines[0], "blosc2: d.b2frame: is a directory, expected a file");
    assert!(lines[1].starts_with("blosc2: missing: "), "{message}");
    assert!(lines[2].starts_with("a.b2frame: ") && lines[2].contains(" -> "), "{message}");
    let schunk = check_frame(&cli, "a.b2frame", &contents().concat());
    assert_eq!(schunk.info().params.get_codec(), Codec::Zstd);
}
