//! The command line of the drawn benchmark.

use crate::cell::{CODECS, DrawRanges};

pub const USAGE: &str = "\
options (lists are separated by commas):
  --seed N          seed of the run                                             (default: 1)
  --cells N         number of cells                                             (default: 1000)
  --first N         index of the first cell                                     (default: 0)
  --cell SEED:INDEX one cell, as a report names it
  --named           the cells with names, from real programs and reports
  --codecs LIST     blosclz, lz4, lz4hc, zlib, zstd                             (default: all)
  --kib N           longest chunk in KiB                                        (default: 4096)
  --rounds N        timed rounds of each library per figure                     (default: 5), fewer of long calls
  --sizes           only sizes: the same as --rounds 0
  --releases        sizes beside releases 2.15.2 and 2.22.1 of the C library
  --list N          cells to list for each limit that is exceeded               (default: 20)
  --verbose         prints every cell
--codecs and --kib are drawn from as well: a cell has to be repeated with the same ones.";

/// Which cells to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CellSelection {
    /// The cell of a seed and an index.
    Single(u64, u64),
    Named,
    Drawn {
        seed: u64,
        cells: u64,
        first: u64,
    },
}

pub struct Options {
    pub which: CellSelection,
    pub draw: DrawRanges,
    /// The number of rounds; 0 measures sizes only.
    pub rounds: usize,
    /// The number of cells to list for each limit that is exceeded.
    pub list: usize,
    /// Whether earlier releases are the reference.
    pub releases: bool,
    verbose: bool,
}

impl Options {
    /// Parses the arguments. Returns `None` after printing the usage for `--help`, and a message for arguments that are
    /// not valid.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let (mut seed, mut cells, mut first) = (1, 1000, 0);
        let mut which = None;
        let mut options = Options {
            which: CellSelection::Named,
            draw: DrawRanges::default(),
            rounds: 5,
            list: 20,
            releases: false,
            verbose: false,
        };
        let mut rest = arguments;
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                // `cargo bench` adds `--bench`.
                "--bench" => {}
                "--seed" => seed = number(&value()?)?,
                "--cells" => cells = number(&value()?)?,
                "--first" => first = number(&value()?)?,
                "--cell" => {
                    let text = value()?;
                    let (seed, index) =
                        text.split_once(':').ok_or_else(|| format!("{text} is not SEED:INDEX"))?;
                    which = Some(CellSelection::Single(number(seed)?, number(index)?));
                }
                "--named" => which = Some(CellSelection::Named),
                "--codecs" => {
                    options.draw.codecs = value()?
                        .split(',')
                        .map(|name| {
                            let known = CODECS.iter().find(|codec| codec.1 == name);
                            known.copied().ok_or_else(|| format!("unknown codec {name}"))
                        })
                        .collect::<Result<_, _>>()?;
                }
                "--kib" => options.draw.max_chunk_len = (number(&value()?)? as usize).max(8) << 10,
                "--rounds" => options.rounds = number(&value()?)? as usize,
                "--sizes" => options.rounds = 0,
                "--releases" => options.releases = true,
                "--list" => options.list = number(&value()?)? as usize,
                "--verbose" => options.verbose = true,
                "--help" | "-h" => {
                    println!("{USAGE}");
                    return Ok(None);
                }
                _ => return Err(format!("unknown option {argument}")),
            }
        }
        options.which = which.unwrap_or(CellSelection::Drawn { seed, cells, first });
        Ok(Some(options))
    }

    /// Returns whether every cell is printed.
    pub fn prints_all(&self) -> bool {
        self.verbose || !matches!(self.which, CellSelection::Drawn { .. })
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number, or out of range"))
}
