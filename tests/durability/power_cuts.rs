//! Power cuts. The calls of an operation are recorded in a child process; then files that may be on disk after a power
//! cut are drawn many times ([`crate::disk_model`]), and read.
//!
//! `BLOSC2_POWER_CUTS` sets the number of draws of each test, `BLOSC2_POWER_SEED` the seed, and `BLOSC2_POWER_DRAW`
//! selects one draw.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::child::{Task, run, run_expecting_success};
use crate::contents::{Form, Outcome, State};
use crate::disk_model::{Disk, Image, NameOrder, Snapshot, write_image};
use crate::faults::{Fault, Prepared, copy_directory, frame_in};
use crate::histories::{HistoryKind, Model};
use crate::levels::Level;
use crate::operations::{Group, all, of_group, ours};
use crate::recording::{Event, parse};
use crate::recoveries::journal_of;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

const DEFAULT_SEED: u64 = 20_251_125;
/// The C library reads one draw of this number, on average.
const DRAWS_PER_REFERENCE_READ: usize = 10;
/// The number of events before the cut that a failure prints.
const PRINTED_EVENTS: usize = 24;
/// The number of recordings of which a failed draw is described.
const MAX_FAILURES: usize = 8;

/// The recorded calls of one or several operations on the same files.
pub struct Recording {
    pub name: String,
    form: Form,
    readers: Vec<&'static Library>,
    /// The directory of the files at the time of the recording. It does not exist any more.
    root: PathBuf,
    start: Snapshot,
    pub events: Vec<Event>,
    /// The state before the first operation, and after each of them.
    states: Vec<State>,
    /// The number of events before the first one at which the power may be cut.
    first_cut: usize,
    /// Whether every state is allowed after every cut; otherwise an operation that has returned must not be lost.
    is_any_state_allowed: bool,
}

/// A directory to which images are written, to be read by a library.
struct Reader {
    scratch: ScratchDir,
}

impl Reader {
    fn new() -> Reader {
        Reader { scratch: ScratchDir::in_memory() }
    }

    /// Writes an image to the host's disk, and returns the directory.
    fn write(&self, image: &Image, root: &Path) -> PathBuf {
        let directory = self.scratch.path().join("files");
        write_image(image, root, &directory);
        directory
    }

    fn read(&self, library: &'static Library, image: &Image, root: &Path, form: Form) -> State {
        State::read(library, &frame_in(&self.write(image, root)), form)
    }
}

/// A new directory for files that are recorded, and the path of the log.
fn new_root(scratch: &ScratchDir) -> (PathBuf, PathBuf) {
    let root = fs::canonicalize(scratch.path()).expect("a directory").join("files");
    (root, scratch.path().join("log"))
}

impl Recording {
    /// Records operation `index`.
    pub fn of_operation(index: usize, store: Store, level: Level) -> Recording {
        let operation = &all()[index];
        let scratch = ScratchDir::in_memory();
        let (root, log) = new_root(&scratch);
        fs::create_dir(&root).expect("a directory");
        let path = frame_in(&root);
        run_expecting_success(Task::Make { operation: index, store }, level, &path, None);
        let start = Snapshot::read(&root);
        let task = Task::Change { operation: index, fault: Fault::None, call: 0 };
        run_expecting_success(task, level, &path, Some(&log));
        let name = operation.full_name(store);
        Recording::new(name, operation.form(), operation.readers(store), root, start, &log)
    }

    /// Records the first `steps` steps of a history.
    pub fn of_history(kind: HistoryKind, seed: u64, steps: u64, level: Level) -> Recording {
        let scratch = ScratchDir::in_memory();
        let (root, log) = new_root(&scratch);
        fs::create_dir(&root).expect("a directory");
        let path = frame_in(&root);
        run_expecting_success(Task::MakeHistory { kind }, level, &path, None);
        let start = Snapshot::read(&root);
        run_expecting_success(Task::History { kind, seed, steps }, level, &path, Some(&log));
        let readers = if kind.has_journal() { vec![ours()] } else { crate::support::all_libraries() };
        let name = format!("history {seed}, {kind:?}");
        let recording = Recording::new(name, kind.form(), readers, root, start, &log);
        let mut model = Model::new(kind);
        assert_eq!(recording.states.len() as u64, steps + 1, "{}", recording.name);
        for (number, state) in recording.states.iter().enumerate() {
            let frame = state.frame.as_ref().expect("a frame");
            assert!(model.matches(frame), "{}: the state after {number} steps", recording.name);
            model.advance(seed, number as u64);
        }
        recording
    }

    /// Records a process that is killed in an operation and leaves an undo journal, and another one that opens the
    /// files. The power is cut while the second process runs. Returns a recording for some of the calls.
    pub fn of_recoveries(prepared: &Prepared, index: usize, store: Store, level: Level) -> Vec<Recording> {
        let mut recordings = Vec::new();
        for call in 0..prepared.calls.len() {
            let scratch = ScratchDir::in_memory();
            let (root, log) = new_root(&scratch);
            let copy = prepared.copy_original();
            copy_directory(&copy, &root);
            fs::remove_dir_all(&copy).expect("removed");
            let path = frame_in(&root);
            let start = Snapshot::read(&root);
            let task = Task::Change { operation: index, fault: Fault::Kill, call };
            assert!(run(task, level, &path, Some(&log)).is_none(), "{}: not killed", prepared.name());
            if !journal_of(&path).exists() {
                continue;
            }
            let killed = parse(&fs::read(&log).expect("a log")).len();
            let form = prepared.operation.form();
            run_expecting_success(Task::Open { form, fault: Fault::None, call: 0 }, level, &path, Some(&log));
            let name =
                format!("recovery after {}, killed in call {call}", prepared.operation.full_name(store));
            let recording = Recording::new(name, form, vec![ours()], root, start, &log);
            recordings.push(Recording {
                states: vec![prepared.before.clone(), prepared.after.clone()],
                first_cut: killed,
                is_any_state_allowed: true,
                ..recording
            });
        }
        recordings
    }

    /// Reads the log, and checks that it explains all files in `root`.
    fn new(
        name: String,
        form: Form,
        readers: Vec<&'static Library>,
        root: PathBuf,
        start: Snapshot,
        log: &Path,
    ) -> Recording {
        let events = parse(&fs::read(log).expect("a log"));
        let reader = Reader::new();
        let mut states = Vec::new();
        let mut disk = Disk::new(&start, NameOrder::Any);
        for event in &events {
            disk.apply(event);
            if let Event::Mark(done) = event
                && *done == states.len() as u64
            {
                states.push(reader.read(ours(), &disk.image_of_cache(), &root, form));
            }
        }
        let first_mark = events.iter().position(|event| matches!(event, Event::Mark(_))).expect("a mark");
        let files = Snapshot::read(&root).image();
        let replayed = disk.image_of_cache();
        assert!(replayed == files, "{name}: the log does not explain the files");
        Recording {
            name,
            form,
            readers,
            root,
            start,
            events,
            states,
            first_cut: first_mark,
            is_any_state_allowed: false,
        }
    }

    /// Returns the number of events that synchronise files, among those at which the power may be cut.
    fn syncs(&self) -> usize {
        self.events[self.first_cut..]
            .iter()
            .filter(|event| matches!(event, Event::Sync { .. } | Event::SyncAll))
            .count()
    }

    /// Returns the numbers of the states that may be read after a cut before event `cut`.
    fn allowed_states(&self, cut: usize) -> Range<usize> {
        if self.is_any_state_allowed {
            return 0..self.states.len();
        }
        let mut done = 0;
        for event in &self.events[..cut] {
            if let Event::Mark(number) = event {
                done = *number as usize;
            }
        }
        done..(done + 2).min(self.states.len())
    }

    /// Compares files after a cut with the allowed states.
    fn compare(&self, found: &State, allowed: Range<usize>) -> Verdict {
        if let Some(state) = self.states[allowed.clone()].iter().rposition(|state| state == found) {
            return if state == 0 { Verdict::Allowed(Outcome::Old) } else { Verdict::Allowed(Outcome::New) };
        }
        if self.states[..allowed.start].contains(found) {
            return Verdict::Lost;
        }
        let states = &self.states[allowed];
        Verdict::Damaged(found.compare(&states[0], &states[states.len() - 1]))
    }
}

/// The result of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The state before or after the operation in progress.
    Allowed(Outcome),
    /// A state before an operation that has returned.
    Lost,
    /// No state.
    Damaged(Outcome),
}

impl Verdict {
    const COLUMNS: [(&'static str, Verdict); 6] = [
        ("old", Verdict::Allowed(Outcome::Old)),
        ("new", Verdict::Allowed(Outcome::New)),
        ("lost", Verdict::Lost),
        ("mixed", Verdict::Damaged(Outcome::Mixed)),
        ("unreadable", Verdict::Damaged(Outcome::Unreadable)),
        ("wrong", Verdict::Damaged(Outcome::Wrong)),
    ];

    fn is_allowed(self) -> bool {
        matches!(self, Verdict::Allowed(_))
    }
}

/// The results of many draws.
#[derive(Default)]
pub struct Tally {
    by_recording: BTreeMap<String, BTreeMap<Verdict, usize>>,
    draws: usize,
    /// Draws with changes that were not synchronised.
    draws_with_pending: usize,
    reads_by_reference: usize,
    /// The first failed draw of some recordings.
    failures: BTreeMap<String, Failure>,
}

/// A draw that is not allowed.
struct Failure {
    text: String,
    image: Image,
    root: PathBuf,
}

impl Failure {
    /// Writes the files to the directory of the test run, and returns the description.
    fn keep(self, number: usize) -> String {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("durability-power-cut-{number}"));
        write_image(&self.image, &self.root, &kept);
        format!("{}  kept in {}", self.text, kept.display())
    }
}

impl Tally {
    /// Returns the number of draws with this property of the verdict, among the recordings whose name contains `name`.
    fn count(&self, name: &str, is_counted: impl Fn(Verdict) -> bool) -> usize {
        let recordings = self.by_recording.iter().filter(|(recording, _)| recording.contains(name));
        recordings
            .flat_map(|(_, verdicts)| verdicts)
            .filter(|(verdict, _)| is_counted(**verdict))
            .map(|(_, count)| count)
            .sum()
    }

    /// Returns the number of draws that lost an operation or damaged the files.
    pub fn damaged(&self, name: &str) -> usize {
        self.count(name, |verdict| !verdict.is_allowed())
    }

    /// Returns the number of draws of a recording.
    pub fn draws(&self, name: &str) -> usize {
        self.count(name, |_| true)
    }

    /// Prints a line for each recording.
    fn print(&self, what: &str) {
        let names = self.by_recording.keys().map(String::as_str).chain([what]);
        let width = names.map(str::len).max().unwrap_or(0);
        let mut table = format!("{what:width$}");
        for (title, _) in Verdict::COLUMNS {
            write!(table, " {title:>10}").expect("a string");
        }
        for (name, verdicts) in &self.by_recording {
            write!(table, "\n{name:width$}").expect("a string");
            for (_, verdict) in Verdict::COLUMNS {
                write!(table, " {:>10}", verdicts.get(&verdict).unwrap_or(&0)).expect("a string");
            }
        }
        println!("{table}");
        println!(
            "{what}: {} draws, {} with unsynchronised changes, {} also read by the C library, {} lost or damaged",
            self.draws,
            self.draws_with_pending,
            self.reads_by_reference,
            self.damaged("")
        );
    }
}

/// Draws files after a power cut `draws` times, each time from one of the recordings, and reads them. `test` is the
/// name of the test, for the line that tells how to repeat a draw.
pub fn draw(test: &str, recordings: &[Recording], draws: u64, is_reference_asked: bool) -> Tally {
    let seed = from_environment("BLOSC2_POWER_SEED", DEFAULT_SEED);
    let range = match std::env::var("BLOSC2_POWER_DRAW") {
        Ok(_) => {
            let draw = from_environment("BLOSC2_POWER_DRAW", 0);
            draw..draw + 1
        }
        Err(_) => 0..from_environment("BLOSC2_POWER_CUTS", draws),
    };
    println!("{test}: BLOSC2_POWER_SEED={seed}, {} recordings", recordings.len());
    let reader = Reader::new();
    let mut tally = Tally::default();
    for number in range {
        let mut random = Random::of_item(seed, number);
        // Every recording has the same share; the order is that of the list.
        let recording = &recordings[(number % recordings.len() as u64) as usize];
        let order = *random.pick(&[NameOrder::Any, NameOrder::Journal]);
        let cut = recording.first_cut + random.below(recording.events.len() + 1 - recording.first_cut);
        let mut disk = Disk::new(&recording.start, order);
        recording.events[..cut].iter().for_each(|event| disk.apply(event));
        tally.draws += 1;
        tally.draws_with_pending += usize::from(disk.pending() > 0);
        let image = disk.image_after_cut(&mut random);
        let allowed = recording.allowed_states(cut);
        let mut worst = None;
        for &library in &recording.readers {
            let is_ours = std::ptr::eq(library, ours());
            let is_asked = is_ours || (is_reference_asked && random.one_in(DRAWS_PER_REFERENCE_READ));
            if !is_asked {
                continue;
            }
            tally.reads_by_reference += usize::from(!is_ours);
            let found = reader.read(library, &image, &recording.root, recording.form);
            let verdict = recording.compare(&found, allowed.clone());
            let is_described = tally.failures.contains_key(&recording.name);
            if !verdict.is_allowed() && !is_described && tally.failures.len() < MAX_FAILURES {
                let text = describe(test, seed, number, recording, order, cut, library, verdict);
                let failure = Failure { text, image: image.clone(), root: recording.root.clone() };
                tally.failures.insert(recording.name.clone(), failure);
            }
            worst = worst.max(Some(verdict));
            if !verdict.is_allowed() {
                break;
            }
        }
        let verdicts = tally.by_recording.entry(recording.name.clone()).or_default();
        *verdicts.entry(worst.expect("a reader")).or_default() += 1;
    }
    tally.print(test);
    tally
}

/// Describes a draw that is not allowed.
#[allow(clippy::too_many_arguments, reason = "all of them are printed")]
fn describe(
    test: &str,
    seed: u64,
    number: u64,
    recording: &Recording,
    order: NameOrder,
    cut: usize,
    library: &Library,
    verdict: Verdict,
) -> String {
    let mut text = format!(
        "{}: cut before event {cut} of {}, names in order {order:?}: {} reads {verdict:?}\n",
        recording.name,
        recording.events.len(),
        library.name,
    );
    let draw = format!("BLOSC2_POWER_SEED={seed} BLOSC2_POWER_DRAW={number}");
    writeln!(text, "repeat with: {draw} cargo test --test durability {test} -- --exact --nocapture")
        .expect("a string");
    for (index, event) in
        recording.events.iter().enumerate().take(cut).skip(cut.saturating_sub(PRINTED_EVENTS))
    {
        writeln!(text, "  {index}: {event}").expect("a string");
    }
    text
}

/// The number of steps of a recorded history.
const HISTORY_STEPS: u64 = 40;
/// The number of recorded histories of each kind.
const HISTORIES: u64 = 3;

/// Records all operations of the groups.
fn record_groups(groups: &[Group], level: Level) -> Vec<Recording> {
    let indices = groups.iter().flat_map(|&group| of_group(group));
    let stores = |index: usize| all()[index].setup.stores().iter().map(move |&store| (index, store));
    indices.flat_map(stores).map(|(index, store)| Recording::of_operation(index, store, level)).collect()
}

/// Records histories of every kind.
fn record_histories(level: Level) -> Vec<Recording> {
    let kinds = HistoryKind::ALL.into_iter().flat_map(|kind| (0..HISTORIES).map(move |seed| (kind, seed)));
    kinds.map(|(kind, seed)| Recording::of_history(kind, seed, HISTORY_STEPS, level)).collect()
}

/// Records recoveries from undo journals.
fn record_recoveries(level: Level) -> Vec<Recording> {
    let mut recordings = Vec::new();
    for index in of_group(Group::Journal).filter(|&index| !all()[index].is_close()) {
        let prepared = Prepared::new(index, Store::File, level);
        recordings.extend(Recording::of_recoveries(&prepared, index, Store::File, level));
    }
    recordings
}

/// Draws from recordings at level power, and checks that every draw gives a state that is allowed, and that every
/// operation synchronises files. The release of a handle, and a recovery from an incomplete journal, may have nothing
/// to do.
#[track_caller]
fn check(test: &str, recordings: &[Recording], draws: u64) {
    let tally = draw(test, recordings, draws, true);
    assert!(recordings.iter().any(|recording| recording.syncs() > 0), "nothing is synchronised");
    let has_to_synchronise = recordings
        .iter()
        .filter(|recording| !recording.name.contains("close after") && !recording.is_any_state_allowed);
    let unsynchronised = has_to_synchronise.filter(|recording| recording.syncs() == 0);
    let failures = unsynchronised.map(|recording| format!("{}: nothing is synchronised", recording.name));
    let failures: Vec<String> = failures
        .chain(tally.failures.into_values().enumerate().map(|(number, failure)| failure.keep(number)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(tally.draws_with_pending > 0 || tally.draws < 100, "every draw has synchronised files only");
}

/// After a power cut at any time, the files have the state before or after the operation in progress, and no operation
/// is lost that has returned.
mod level_power {
    use super::*;
    use crate::support::child::test_name;

    /// The number of draws of the tests, by default.
    const DRAWS: u64 = 2000;
    const FEW_DRAWS: u64 = 500;

    #[test]
    fn changes_survive() {
        let groups = [Group::Schunk, Group::Array, Group::ArrayShift, Group::Bracket, Group::Close];
        check(test_name!(), &record_groups(&groups, Level::Power), DRAWS);
    }

    #[test]
    fn creations_survive() {
        check(test_name!(), &record_groups(&[Group::Creation], Level::Power), FEW_DRAWS);
    }

    #[test]
    fn long_headers_and_offsets_survive() {
        check(test_name!(), &record_groups(&[Group::Journal], Level::Power), FEW_DRAWS);
    }

    #[test]
    fn histories_survive() {
        check(test_name!(), &record_histories(Level::Power), DRAWS);
    }

    /// The power is cut while an undo journal is applied.
    #[test]
    fn recoveries_survive() {
        let recordings = record_recoveries(Level::Power);
        assert!(!recordings.is_empty(), "no killed process leaves a journal");
        check(test_name!(), &recordings, FEW_DRAWS);
    }
}

mod level_off {
    use super::*;
    use crate::operations::controls::{CORRECT, UNSYNCHRONISED};
    use crate::support::child::test_name;

    /// The number of draws of the tests, by default.
    const DRAWS: u64 = 600;

    /// The table shows what a power cut does. The test fails only if the draws find no damage.
    #[test]
    fn is_damaged() {
        let groups = [Group::Schunk, Group::Array, Group::ArrayShift, Group::Bracket, Group::Creation];
        let mut recordings = record_groups(&groups, Level::Off);
        recordings.extend(record_histories(Level::Off));
        let tally = draw(test_name!(), &recordings, DRAWS, false);
        assert!(tally.damaged("") > 0 || tally.draws < 100, "no draw damages the files");
    }

    /// The draws find no damage after atomic changes of files, and find each missing synchronisation.
    #[test]
    fn draws_find_missing_synchronisation() {
        let controls = of_group(Group::Control);
        let recordings: Vec<Recording> =
            controls.map(|index| Recording::of_operation(index, Store::File, Level::Off)).collect();
        let tally = draw(test_name!(), &recordings, DRAWS, true);
        for name in CORRECT {
            let name = format!("{name}, super-chunk");
            assert_eq!(tally.damaged(&name), 0, "{name}");
            assert!(tally.draws(&name) > 0 || tally.draws < 100, "{name}");
        }
        for name in UNSYNCHRONISED {
            assert!(tally.damaged(name) > 0 || tally.draws < 100, "{name}: no damage is found");
        }
    }
}
