//! A log in a super-chunk, whose writer is killed in the middle: each entry that the writer has reported is in the file
//! afterwards, and the next writer continues.
//!
//! `cargo run --release -p blosc2-safe --example crash_log -- events.b2frame`
//!
//! Without an argument, the file is in the directory for temporary files.

use blosc2::{Codec, Durability, OpenOptions, Params, SuperChunk};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LINES_PER_ENTRY: u64 = 500;
/// Number of entries after which the writer is killed, in each round.
const ROUNDS: [u64; 3] = [5, 20, 60];

/// Returns entry `n`: some lines.
fn entry(n: u64) -> Vec<u8> {
    let lines =
        (0..LINES_PER_ENTRY).map(|line| format!("{n} {line} {}\n", (n * 7919 + line * 104_729) % 65_537));
    lines.collect::<String>().into_bytes()
}

/// Appends entries until the process is killed, and reports the number of each that is committed.
fn write(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut log = OpenOptions::new()
        .write(true)
        .create(true)
        .durability(Durability::Kill)
        .params(Params::new().codec(Codec::Zstd).typesize(1))
        .open(path)?;
    let mut reports = std::io::stdout().lock();
    // Entries have different lengths. The index of the log is in a metalayer, which changes together with the chunks.
    for n in log.nchunks().. {
        log.transaction(|log| {
            log.append(&entry(n))?;
            log.metalayers_mut()?.set_variable("last", &n.to_le_bytes())
        })?;
        writeln!(reports, "{n}")?;
        reports.flush()?;
    }
    Ok(())
}

/// Starts a writer, and kills it once it has reported `count` entries. Returns the number of the last entry reported.
fn write_and_kill(path: &Path, count: u64) -> Result<u64, Box<dyn Error>> {
    let mut writer =
        Command::new(std::env::current_exe()?).arg("write").arg(path).stdout(Stdio::piped()).spawn()?;
    let reports = BufReader::new(writer.stdout.take().ok_or("no pipe")?);
    let mut last = None;
    for report in reports.lines() {
        last = Some(report?.parse()?);
        if last >= Some(count) {
            // The writer is in the middle of a later entry. Its reports until it ends are read, too.
            writer.kill()?;
        }
    }
    writer.wait()?;
    last.ok_or_else(|| "the writer has reported nothing".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if let [verb, path] = &arguments[..]
        && verb.as_os_str() == "write"
    {
        return write(path);
    }
    let path = arguments.first().cloned().unwrap_or_else(|| std::env::temp_dir().join("events.b2frame"));
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    for count in ROUNDS {
        let reported = write_and_kill(&path, count)?;
        let log = SuperChunk::open(&path)?;
        let last = log.metalayers().variable("last")?.ok_or("no metalayer")?;
        println!("the writer was killed after entry {reported}; {} entries are in the file", log.nchunks());
        assert!(log.nchunks() > reported, "entry {reported} is lost");
        assert_eq!(last, (log.nchunks() - 1).to_le_bytes(), "a transaction is in the file in part");
        for (n, content) in log.prefetch_contents(2)?.enumerate() {
            assert_eq!(content?, entry(n as u64));
        }
        assert!(blosc2::verify(&path, 1)?.is_empty());
    }
    Ok(())
}
