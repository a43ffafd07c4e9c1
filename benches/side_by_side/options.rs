//! The command line. Owns what can be asked for and its defaults in quick and full mode.

use std::time::Duration;

use crate::datasets;

pub const USAGE: &str = "\
options (lists are separated by commas):
  --full            every level asked for on larger chunks and all data sets, with more rounds
  --group LIST      chunks, small, items, schunk, boxes, arrays, plugins  (default: all)
  --codecs LIST     blosclz, lz4, lz4hc, zlib, zstd               (default: all)
  --levels LIST     0-9, or `all`                                 (default: 1,5,9)
  --filters LIST    none, shuffle, bitshuffle                     (default: shuffle,bitshuffle)
  --threads LIST    numbers of threads                            (default: 1)
  --data LIST       data sets by name                             (default: a few; --full: all)
  --kib N           size of a chunk in KiB                        (default: 512; --full: 4096)
  --only TEXT       of groups schunk, arrays and plugins: the cells with this in their name
  --rounds N        batches of each library per figure            (default: 5; --full: 15)
  --summary         only means and worst cells";

/// What to measure.
pub struct Options {
    pub full: bool,
    pub summary: bool,
    pub groups: Vec<String>,
    /// Codec ids with their names.
    pub codecs: Vec<(u8, &'static str)>,
    pub levels: Vec<u8>,
    /// Filter ids with their names.
    pub filters: Vec<(u8, &'static str)>,
    pub threads: Vec<i16>,
    pub data: Vec<String>,
    /// Cells of super-chunks, arrays and plugins are measured if their name has this in it.
    pub only: String,
    pub chunk_nbytes: usize,
    pub rounds: usize,
    /// The shortest batch that is timed.
    pub batch: Duration,
}

const CODECS: [(u8, &str); 5] = [(0, "blosclz"), (1, "lz4"), (2, "lz4hc"), (4, "zlib"), (5, "zstd")];
const FILTERS: [(u8, &str); 3] = [(0, "none"), (1, "shuffle"), (2, "bitshuffle")];

impl Options {
    /// `None` when help was asked for, and given.
    pub fn parse(
        arguments: impl Iterator<Item = String>,
        groups: &[&str],
    ) -> Result<Option<Options>, String> {
        let arguments: Vec<String> = arguments.collect();
        let full = arguments.iter().any(|argument| argument == "--full");
        let mut options = Options {
            full,
            summary: false,
            groups: groups.iter().map(|name| name.to_string()).collect(),
            codecs: CODECS.to_vec(),
            levels: vec![1, 5, 9],
            filters: FILTERS[1..].to_vec(),
            threads: vec![1],
            data: datasets::names(full),
            only: String::new(),
            chunk_nbytes: if full { 4096 } else { 512 } * 1024,
            rounds: if full { 15 } else { 5 },
            batch: Duration::from_millis(if full { 4 } else { 2 }),
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                // Cargo adds `--bench`.
                "--full" | "--bench" => {}
                "--summary" => options.summary = true,
                "--group" => options.groups = names(&value()?, groups)?,
                "--codecs" => options.codecs = pick(&value()?, &CODECS)?,
                "--filters" => options.filters = pick(&value()?, &FILTERS)?,
                "--levels" => {
                    let list = value()?;
                    options.levels = if list == "all" { (0..=9).collect() } else { numbers(&list)? };
                }
                "--threads" => options.threads = numbers(&value()?)?,
                "--data" => {
                    let known = datasets::names(true);
                    options.data = names(&value()?, &known.iter().map(String::as_str).collect::<Vec<_>>())?;
                }
                "--only" => options.only = value()?,
                "--kib" => options.chunk_nbytes = number::<usize>(&value()?)?.max(1) * 1024,
                "--rounds" => options.rounds = number::<usize>(&value()?)?.max(1),
                "--help" | "-h" => {
                    println!("{USAGE}");
                    return Ok(None);
                }
                _ => return Err(format!("what is {argument}?")),
            }
        }
        Ok(Some(options))
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is no number, or out of range"))
}

fn numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>, String> {
    list.split(',').map(number).collect()
}

fn names(list: &str, known: &[&str]) -> Result<Vec<String>, String> {
    list.split(',')
        .map(|name| match known.contains(&name) {
            true => Ok(name.to_string()),
            false => Err(format!("{name} is none of {}", known.join(", "))),
        })
        .collect()
}

fn pick(list: &str, known: &[(u8, &'static str)]) -> Result<Vec<(u8, &'static str)>, String> {
    let all: Vec<&str> = known.iter().map(|entry| entry.1).collect();
    names(list, &all)?;
    Ok(list.split(',').flat_map(|name| known.iter().filter(move |entry| entry.1 == name)).copied().collect())
}
