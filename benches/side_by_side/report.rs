//! The table of a group, its means and its worst cells, and the layout of the printed output.

use crate::summary::{MeanAndWorst, SummaryLine, geometric_mean};

/// Names of columns that the summary handles differently from the others.
pub const SIZE: &str = "size";
pub const COMPRESS: &str = "compress";
pub const SPEED: &str = "speed";
pub const BY_MEMCPY: &str = "by memcpy";

/// The ratio of lengths above which a chunk is counted as longer than the reference's.
const LONGER: f64 = 1.01;

/// The cells of one group.
pub struct Report {
    group: &'static str,
    columns: &'static [&'static str],
    cells: Vec<Cell>,
    quiet: bool,
}

/// One line of the table: the name of the measurement, and a ratio per column.
struct Cell {
    /// The subset of cells for which a separate mean is printed, such as the codec.
    family: &'static str,
    name: String,
    ratios: Vec<f64>,
}

impl Report {
    /// Returns an empty table. With `quiet` the cells are not printed, only the summary.
    pub fn new(group: &'static str, columns: &'static [&'static str], quiet: bool) -> Report {
        if !quiet {
            println!("{group}");
            print_line("", columns.iter().map(|column| column.to_string()));
        }
        Report { group, columns, cells: Vec::new(), quiet }
    }

    /// Adds a cell and prints it, unless the table is quiet.
    pub fn add(&mut self, family: &'static str, name: String, ratios: Vec<f64>) {
        assert_eq!(ratios.len(), self.columns.len(), "a ratio per column");
        if !self.quiet {
            print_line(&format!("{family} {name}"), ratios.iter().map(|ratio| format!("{ratio:.2}")));
        }
        self.cells.push(Cell { family, name, ratios });
    }

    /// Prints the geometric means of each family and of all cells, and the worst cells.
    pub fn summarise(&self) {
        println!("\n{}: geometric means of {} cells", self.group, self.cells.len());
        print_line("", self.columns.iter().map(|column| column.to_string()));
        let mut families: Vec<&str> = self.cells.iter().map(|cell| cell.family).collect();
        families.dedup();
        families.sort_unstable();
        families.dedup();
        for family in families {
            self.print_means(family, |cell| cell.family == family);
            self.print_worst(family);
        }
        self.print_means("all", |_| true);
        for (number, column) in self.columns.iter().enumerate() {
            let worst = self.cells.iter().min_by(|a, b| a.ratios[number].total_cmp(&b.ratios[number]));
            if let Some(cell) = worst {
                println!("  worst {column}: {:.2} at {} {}", cell.ratios[number], cell.family, cell.name);
            }
            if *column == SIZE {
                let longer = self.cells.iter().filter(|cell| cell.ratios[number] < 1.0 / LONGER).count();
                println!(
                    "  over {:.0} % longer: {longer} of {} cells",
                    100.0 * (LONGER - 1.0),
                    self.cells.len()
                );
            }
        }
        println!();
    }

    /// Returns the lines of the summary: one for each column of speeds relative to the reference and each part of the
    /// group.
    pub fn lines(&self) -> Vec<SummaryLine> {
        let mut lines = Vec::new();
        for (number, &column) in self.columns.iter().enumerate() {
            if column == SIZE || column == BY_MEMCPY {
                continue;
            }
            for part in self.parts() {
                let figure = |column: usize| {
                    let cells =
                        self.cells.iter().filter(|cell| part.is_none_or(|part| self.part(cell) == part));
                    let names = cells.clone().map(|cell| format!("{} {}", cell.family, cell.name));
                    let names: Vec<String> = names.collect();
                    let ratios = cells.map(|cell| cell.ratios[column]);
                    MeanAndWorst::from_cells(names.iter().map(String::as_str).zip(ratios))
                        .map(|figure| (names.len(), figure))
                };
                let Some((cells, speed)) = figure(number) else { continue };
                let size = self.columns.iter().position(|&other| other == SIZE && column == COMPRESS);
                lines.push(SummaryLine {
                    group: self.group,
                    label: match (part, column) {
                        (None, SPEED) => "all".to_string(),
                        (None, _) => format!("{column}, all"),
                        (Some(part), SPEED) => part.to_string(),
                        (Some(part), _) => format!("{column}, {part}"),
                    },
                    cells,
                    speed,
                    size: size.and_then(figure).map(|figure| figure.1),
                });
            }
        }
        lines
    }

    /// Returns the parts of the group that have a line in the summary, in the order of the cells; `None` is the whole
    /// group.
    fn parts(&self) -> Vec<Option<&'static str>> {
        let mut parts = Vec::new();
        for cell in &self.cells {
            let part = Some(self.part(cell));
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        match self.group {
            "chunks" => parts.insert(0, None),
            "schunk" | "shuffles" => {}
            _ => parts = vec![None],
        }
        parts
    }

    /// Returns the part of the group that a cell belongs to: its family, or in the group `schunk` its operation.
    fn part(&self, cell: &Cell) -> &'static str {
        const OPERATIONS: [(&str, &str); 4] = [
            ("append", "append"),
            ("decompress_chunk", "read in sequence"),
            ("get_s", "random slices"),
            ("", "update, open, copy, metadata"),
        ];
        match self.group {
            "schunk" => {
                let operation = OPERATIONS.iter().find(|operation| cell.name.starts_with(operation.0));
                operation.map_or(cell.family, |operation| operation.1)
            }
            _ => cell.family,
        }
    }

    /// Prints the cell of a family with the lowest ratio in the first column.
    fn print_worst(&self, family: &str) {
        let cells = self.cells.iter().filter(|cell| cell.family == family);
        if let Some(cell) = cells.min_by(|a, b| a.ratios[0].total_cmp(&b.ratios[0])) {
            println!("    worst: {:.2} at {}", cell.ratios[0], cell.name);
        }
    }

    fn print_means(&self, name: &str, wanted: impl Fn(&&Cell) -> bool + Copy) {
        let means = (0..self.columns.len()).map(|column| {
            let ratios = self.cells.iter().filter(wanted).map(move |cell| cell.ratios[column]);
            format!("{:.2}", geometric_mean(ratios))
        });
        print_line(name, means);
    }
}

fn print_line(name: &str, columns: impl Iterator<Item = String>) {
    print!("  {name:<58}");
    columns.for_each(|column| print!(" {column:>11}"));
    println!();
}
