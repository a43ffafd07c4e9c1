//! The command line: the options and their defaults in quick and full mode.

use std::path::PathBuf;
use std::time::Duration;

use crate::datasets;

pub const USAGE: &str = "\
Without options 55 seconds of processor time; --full, by a sample of its cells, a quarter of an hour for the group
chunks (1200 cells, 0.7 s each), and more for the others.

options (lists are separated by commas):
  --full            larger chunks, all data sets, more rounds
  --group LIST      chunks, small, items, shuffles, schunk, boxes, arrays, plugins,
                    apart, durable, blosc1, blosc1-small, blosc1-items,
                    blosc1-drawn                            (default: all but durable and blosc1)
  --codecs LIST     blosclz, lz4, lz4hc, zlib, zstd               (default: all)
  --levels LIST     0-9, or `all`                                 (default: 1,5,9; --full: 1,3,5,7,9)
  --filters LIST    none, shuffle, bitshuffle                     (default: shuffle,bitshuffle)
  --threads LIST    numbers of threads                            (default: 1; --full: 1,2)
  --data LIST       data sets by name                             (default: a few; --full: all)
  --kib N           size of a chunk in KiB                        (default: 512; --full: 4096)
  --only TEXT       the cells with this in their name
  --seed N          seed of the drawn cells                         (default: 1)
  --cells N         number of drawn cells                           (default: 1000)
  --sizes           only sizes, in the groups blosc1, blosc1-small and blosc1-drawn
  --rounds N        batches of each library per figure            (default: 5; --full: 15), fewer of long calls
  --summary         only means and worst cells
  --table FILE      writes means and worst cells as a Markdown table, too (`-`: prints it)
  --svg FILE        draws them as a bar chart, too";

/// The parsed command line.
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
    /// Only cells whose name contains this text are measured.
    pub only: String,
    pub chunk_nbytes: usize,
    /// The seed and the number of the cells of the groups whose cells are drawn.
    pub seed: u64,
    pub cells: u64,
    /// Whether only sizes are measured.
    pub sizes: bool,
    pub rounds: usize,
    /// The least duration of a timed batch.
    pub min_batch: Duration,
    /// After this time no further round of a figure begins, except the first three.
    pub budget: Duration,
    /// The output files of the Markdown table and of the chart.
    pub table: Option<PathBuf>,
    pub svg: Option<PathBuf>,
}

const CODECS: [(u8, &str); 5] = [(0, "blosclz"), (1, "lz4"), (2, "lz4hc"), (4, "zlib"), (5, "zstd")];
const FILTERS: [(u8, &str); 3] = [(0, "none"), (1, "shuffle"), (2, "bitshuffle")];

impl Options {
    /// Parses the arguments. Returns `None` after printing the usage for `--help`, and a message for arguments that are
    /// not valid. `--group` accepts `groups`; without it, `default_groups` are measured.
    pub fn parse(
        arguments: impl Iterator<Item = String>,
        groups: &[&str],
        default_groups: &[&str],
    ) -> Result<Option<Options>, String> {
        let arguments: Vec<String> = arguments.collect();
        let full = arguments.iter().any(|argument| argument == "--full");
        let mut options = Options {
            full,
            summary: false,
            groups: default_groups.iter().map(|name| name.to_string()).collect(),
            codecs: CODECS.to_vec(),
            levels: if full { vec![1, 3, 5, 7, 9] } else { vec![1, 5, 9] },
            filters: FILTERS[1..].to_vec(),
            threads: if full { vec![1, 2] } else { vec![1] },
            data: datasets::names(full),
            only: String::new(),
            chunk_nbytes: if full { 4096 } else { 512 } * 1024,
            seed: 1,
            cells: 1000,
            sizes: false,
            rounds: if full { 15 } else { 5 },
            min_batch: Duration::from_millis(if full { 4 } else { 2 }),
            budget: Duration::from_millis(if full { 600 } else { 30 }),
            table: None,
            svg: None,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                // `cargo bench` adds `--bench`.
                "--full" | "--bench" => {}
                "--summary" => options.summary = true,
                "--group" => options.groups = parse_names(&value()?, groups)?,
                "--codecs" => options.codecs = parse_pairs(&value()?, &CODECS)?,
                "--filters" => options.filters = parse_pairs(&value()?, &FILTERS)?,
                "--levels" => {
                    let list = value()?;
                    options.levels = if list == "all" { (0..=9).collect() } else { parse_numbers(&list)? };
                }
                "--threads" => options.threads = parse_numbers(&value()?)?,
                "--data" => {
                    let known = datasets::names(true);
                    options.data =
                        parse_names(&value()?, &known.iter().map(String::as_str).collect::<Vec<_>>())?;
                }
                "--only" => options.only = value()?,
                "--table" => options.table = Some(value()?.into()),
                "--svg" => options.svg = Some(value()?.into()),
                "--kib" => options.chunk_nbytes = parse_number::<usize>(&value()?)?.max(1) * 1024,
                "--seed" => options.seed = parse_number(&value()?)?,
                "--cells" => options.cells = parse_number(&value()?)?,
                "--sizes" => options.sizes = true,
                "--rounds" => options.rounds = parse_number::<usize>(&value()?)?.max(1),
                "--help" | "-h" => {
                    println!("{USAGE}");
                    return Ok(None);
                }
                _ => return Err(format!("unknown option {argument}")),
            }
        }
        Ok(Some(options))
    }

    /// Returns whether `--only` selects a cell.
    pub fn is_selected(&self, family: &str, name: &str) -> bool {
        format!("{family} {name}").contains(&self.only)
    }
}

fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is not a number, or out of range"))
}

fn parse_numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>, String> {
    list.split(',').map(parse_number).collect()
}

fn parse_names(list: &str, known: &[&str]) -> Result<Vec<String>, String> {
    list.split(',')
        .map(|name| match known.contains(&name) {
            true => Ok(name.to_string()),
            false => Err(format!("unknown name {name}, expected one of {}", known.join(", "))),
        })
        .collect()
}

fn parse_pairs(list: &str, known: &[(u8, &'static str)]) -> Result<Vec<(u8, &'static str)>, String> {
    let all: Vec<&str> = known.iter().map(|entry| entry.1).collect();
    parse_names(list, &all)?;
    Ok(list.split(',').flat_map(|name| known.iter().filter(move |entry| entry.1 == name)).copied().collect())
}
