//! Everything that can go wrong, as one enum with fields, and the exit code each kind of failure maps to.

use crate::game::ParseForbiddenError;

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be done. The message says what was wrong, the value given, and what would work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A game needs at least one heap, and the kernels' stencils grow as 2^heaps.
    #[error("a game of {} is out of range: give 1 to {most} heaps", in_heaps(*.heaps))]
    Heaps {
        /// The number of heaps given.
        heaps: u32,
        /// The greatest number of heaps supported.
        most: u32,
    },
    /// A width must name how many different heaps a move touches.
    #[error(
        "--width {width} is out of range: a move in a game of {} touches 1 to {heaps} of them",
        in_heaps(*.heaps)
    )]
    Width {
        /// The width given.
        width: u32,
        /// The number of heaps of the game.
        heaps: u32,
    },
    /// A game that needs a width, and none was given.
    #[error("{game} needs --width: how many different heaps a move touches, 1 to {heaps}")]
    WidthMissing {
        /// The game's name on the command line.
        game: &'static str,
        /// The number of heaps of the game.
        heaps: u32,
    },
    /// A game that has no width, and one was given.
    #[error("{game} takes no --width: a move takes from one heap")]
    WidthGiven {
        /// The game's name on the command line.
        game: &'static str,
    },
    /// A set of forbidden totals that cannot be read.
    #[error(transparent)]
    Forbid(#[from] ParseForbiddenError),
    /// A position that cannot be read.
    #[error("cannot read the position {text:?}: {reason}; write heap sizes with commas, such as 5,4,2")]
    PositionSyntax {
        /// The text given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A position with another number of heaps than the game.
    #[error(
        "the position {position} has {}, the game has {heaps}; give {heaps} sizes, 0 for an empty heap",
        in_heaps(*.given as u32)
    )]
    PositionHeaps {
        /// The position as given.
        position: String,
        /// How many heaps it has.
        given: usize,
        /// How many heaps the game has.
        heaps: u32,
    },
    /// A position whose region cannot be counted.
    #[error("the position {position} is too large: with {}, the largest can be up to {largest}", in_heaps(*.heaps))]
    PositionSize {
        /// The position.
        position: String,
        /// How many heaps it has.
        heaps: u32,
        /// The greatest size of a heap whose region can be counted.
        largest: u64,
    },
    /// A region whose positions cannot be counted in 64 bits or its totals in 30.
    #[error(
        "--max {max} is out of range: with {}, at most 2^64 positions and totals up to 2^30, it can be up to {largest}",
        in_heaps(*.heaps)
    )]
    Region {
        /// The number of heaps.
        heaps: u32,
        /// The cap as given, which may be above any integer type.
        max: String,
        /// The greatest cap that can be counted.
        largest: u64,
    },
    /// A modulus below 2.
    #[error("--modulus {modulus} is out of range: residues need a modulus of 2 or more")]
    Modulus {
        /// The modulus given.
        modulus: u32,
    },
    /// A claim that is not in the table.
    #[error("no claim is called {name:?}; {}", other_claims(.similar, .known))]
    UnknownClaim {
        /// The name given.
        name: String,
        /// Names that could have been meant.
        similar: Vec<&'static str>,
        /// All names there are.
        known: Vec<&'static str>,
    },
    /// A claim does not hold where it was checked.
    #[error("violated: {claims}")]
    Violated {
        /// Which claims, and on how many of their regions.
        claims: String,
    },
    /// A claim that says nothing about the game asked for.
    #[error("{claim} cannot be checked so: {reason}")]
    ClaimCase {
        /// The claim's name.
        claim: &'static str,
        /// What does not fit, and what would.
        reason: String,
    },
    /// A file name that does not tell what to write.
    #[error("cannot tell what kind of file {} should be: give it a name that ends in {known}", .path.display())]
    Format {
        /// The name given.
        path: std::path::PathBuf,
        /// The endings that are known.
        known: &'static str,
    },
    /// A picture of what has no two axes.
    #[error("a picture shows the completions of two heaps by a third, so of 3 heaps and not of {}; .json, .csv and .npy hold any number", in_heaps(*.heaps))]
    Picture {
        /// The number of heaps.
        heaps: u32,
    },
    /// A slice that a store does not have.
    #[error("--fix {given} is no slice of the store: {reason}")]
    Slice {
        /// What was given.
        given: String,
        /// Why not, and what would be one.
        reason: String,
    },
    /// A picture of a store, and nothing said of what it is to show.
    #[error("{}", what_to_draw(*.heaps))]
    NoSlice {
        /// How many heaps the store's positions have.
        heaps: u32,
    },
    /// A coordinate that positions do not have.
    #[error(
        "--density {coordinate} is no coordinate here: give 1 (the largest heap) to {heaps} (the smallest), or total"
    )]
    Coordinate {
        /// What was given.
        coordinate: String,
        /// How many heaps the positions have.
        heaps: u32,
    },
    /// A picture too large to be looked at.
    #[error("the picture would be {size} pixels large, and up to {most} each way are drawn; {remedy}")]
    PictureSize {
        /// Its width and height, or what is known of them.
        size: String,
        /// The greatest width and height.
        most: u32,
        /// What would work.
        remedy: String,
    },
    /// An option that changes nothing of what is exported, or a kind of file that cannot be had so.
    #[error("{option} {reason}")]
    ExportOption {
        /// As on the command line.
        option: &'static str,
        /// What it is about, and what would work.
        reason: &'static str,
    },
    /// A file too large for any program that would read it.
    #[error("{what} would take {}, and up to {} are written; {remedy}", bytes(*.needed), bytes(u128::from(*.most)))]
    ExportSize {
        /// What would be written.
        what: String,
        /// Its bytes.
        needed: u128,
        /// The most that are written.
        most: u64,
        /// What would work.
        remedy: String,
    },
    /// A file that may not be replaced.
    #[error("{} is not overwritten: {reason}; give another name", .path.display())]
    Overwrite {
        /// The name given.
        path: std::path::PathBuf,
        /// What is in the way.
        reason: &'static str,
    },
    /// A table of completions that is too large.
    #[error("--max {max} is out of range: completions of {} are found up to {largest}", in_heaps(*.heaps))]
    CompletionSize {
        /// The number of heaps.
        heaps: u32,
        /// The cap as given, which may be above any integer type.
        max: String,
        /// The greatest cap.
        largest: u64,
    },
    /// More numbers than anyone wants to see scroll by.
    #[error("{what} on a terminal; {remedy}")]
    Terminal {
        /// What is too much.
        what: String,
        /// What would work.
        remedy: String,
    },
    /// A region in which games may last longer than remoteness is counted.
    #[error(
        "--max {max} is out of range: the remoteness of its positions may be {bound}, and up to 65534 is stored; the largest --max that works is {largest}"
    )]
    TooLong {
        /// The cap given.
        max: u32,
        /// The greatest remoteness that its positions may have.
        bound: u64,
        /// The greatest cap whose positions are within what is stored.
        largest: u64,
    },
    /// The M-rule is about another game.
    #[error(
        "the M-rule is about exact slow Nim with --width one less than --heaps and nothing forbidden, not about {rules}"
    )]
    NoMRule {
        /// The rules given.
        rules: String,
    },
    /// Remoteness is solved only where a move takes one stone from each heap it touches.
    #[error(
        "{option} works with bounded-moore and exact-slow, whose moves take one stone from a heap, and not with {game}"
    )]
    NoRemoteness {
        /// What was asked for, as on the command line.
        option: &'static str,
        /// The game's name on the command line.
        game: &'static str,
    },
    /// A line of play that is too long to be written down.
    #[error(
        "--line would play out {moves} moves, and does up to {most}; leave it out to see the position alone"
    )]
    LineLength {
        /// How many moves the game lasts.
        moves: String,
        /// The greatest number of moves that is written down.
        most: u32,
    },
    /// The solver's kernels do not cover this kind of take.
    #[error("no kernel solves {what}; the oracle does, for small regions")]
    NoKernel {
        /// The rule that no kernel covers.
        what: String,
    },
    /// A region whose strata need more memory than there is, or than was allowed.
    #[error("solving {} up to {max} needs {}, {} {source_of_limit}; {}", in_heaps(*.heaps), needed_bytes(*.needed), bytes(u128::from(*.available)), largest_cap(*.largest, *.heaps))]
    RegionMemory {
        /// The number of heaps.
        heaps: u32,
        /// The cap of the region.
        max: u32,
        /// Bytes needed; `None` for more than can be addressed.
        needed: Option<u128>,
        /// Bytes that may be used.
        available: u64,
        /// Where the limit comes from: "free" or "allowed by --memory".
        source_of_limit: &'static str,
        /// The greatest cap that fits, if any does.
        largest: Option<u64>,
    },
    /// More memory than there is, or than was allowed.
    #[error("{what} needs {}, {} {source_of_limit}; {remedy}", needed_bytes(*.needed), bytes(u128::from(*.available)))]
    Memory {
        /// What needs the memory.
        what: String,
        /// Bytes needed; `None` for more than can be addressed.
        needed: Option<u128>,
        /// Bytes that may be used.
        available: u64,
        /// Where the limit comes from: "free" or "allowed by --memory".
        source_of_limit: &'static str,
        /// What would work.
        remedy: String,
    },
    /// No Vulkan, Metal or DirectX 12 adapter at all.
    #[error(
        "no GPU adapter found: install a Vulkan driver (Debian: mesa-vulkan-drivers brings one that runs on the CPU), or leave out --backend gpu and --adapter, to use the CPU"
    )]
    NoAdapter,
    /// No adapter whose name contains the text asked for.
    #[error("no adapter's name contains {wanted:?}; found: {}", .found.join(", "))]
    AdapterNotFound {
        /// The text asked for.
        wanted: String,
        /// The names of the adapters that are there.
        found: Vec<String>,
    },
    /// An adapter was named for a run on the CPU.
    #[error("--adapter {adapter:?} names a GPU and --backend cpu uses none; leave one of them out")]
    AdapterOnCpu {
        /// The text given.
        adapter: String,
    },
    /// The device was lost, ran out of memory, or refused a command.
    #[error("the GPU {adapter} failed: {reason}; --backend cpu would work")]
    Device {
        /// The adapter's name.
        adapter: String,
        /// What the driver said.
        reason: String,
    },
    /// A kernel cannot bind what it must see at once.
    #[error("the GPU {adapter} binds at most {} at once and this region needs {}; use --backend cpu", bytes(u128::from(*.limit)), bytes(u128::from(*.needed)))]
    Binding {
        /// The adapter's name.
        adapter: String,
        /// Bytes needed in one binding.
        needed: u64,
        /// Bytes that one binding may have.
        limit: u64,
    },
    /// The user stopped the run.
    #[error(
        "interrupted after {done} of {strata} strata; the same command {}",
        if *.goes_on { "goes on from there" } else { "starts over" }
    )]
    Interrupted {
        /// Strata solved.
        done: u64,
        /// Strata in the region.
        strata: u64,
        /// Whether they were kept.
        goes_on: bool,
    },
    /// A folder without a store.
    #[error("{} is no store: {reason}; solve with --out writes one", .path.display())]
    NoStore {
        /// The folder.
        path: std::path::PathBuf,
        /// What is not as in a store.
        reason: String,
    },
    /// A store that a run has left unfinished.
    #[error(
        "the store {} is not finished: it has {done} of {strata} strata; the solve command that began it goes on",
        .path.display()
    )]
    UnfinishedStore {
        /// The folder.
        path: std::path::PathBuf,
        /// Strata that are there.
        done: u64,
        /// Strata in the region.
        strata: u64,
    },
    /// A store in a format that this program does not know.
    #[error(
        "{} has format version {version}, and this program reads versions up to {supported}; a newer nimstrata reads it",
        .path.display()
    )]
    StoreVersion {
        /// The file.
        path: std::path::PathBuf,
        /// The version it says.
        version: u64,
        /// The latest known.
        supported: u32,
    },
    /// A folder that holds a store of something else.
    #[error("{} holds {there}, and {wanted} was asked for; give another name", .path.display())]
    OtherStore {
        /// The folder or file.
        path: std::path::PathBuf,
        /// What is there.
        there: String,
        /// What was to be written or read.
        wanted: String,
    },
    /// A position that a store does not hold.
    #[error(
        "{position} is not in {}, which holds positions of {}, none above {max}{}",
        .path.display(), in_heaps(*.heaps), total_bound(*.last)
    )]
    OutsideStore {
        /// The folder.
        path: std::path::PathBuf,
        /// The position asked for.
        position: String,
        /// How many heaps those in the store have.
        heaps: u32,
        /// The largest heap in the store.
        max: u32,
        /// The greatest total, where the store is bounded by one.
        last: Option<u32>,
    },
    /// Remoteness asked of a store of verdicts.
    #[error(
        "{} holds verdicts, and {option} needs remoteness: a store of `solve --quantity remoteness` has it, and without --store it is solved",
        .path.display()
    )]
    NoStoredRemoteness {
        /// The folder.
        path: std::path::PathBuf,
        /// What was asked for.
        option: &'static str,
    },
    /// A folder that holds something else.
    #[error("{} holds other files, such as {name}; give a new or an empty folder", .path.display())]
    Foreign {
        /// The folder.
        path: std::path::PathBuf,
        /// One of them.
        name: String,
    },
    /// A store that another run writes.
    #[error("{} is being written by another run; wait for it, or give another folder", .path.display())]
    StoreBusy {
        /// The folder.
        path: std::path::PathBuf,
    },
    /// A disk without room for what is to be written.
    #[error(
        "writing {} needs {}, {} free on its disk, after {done} of {strata} strata; the same command goes on when there is room",
        .path.display(), bytes(u128::from(*.needed)), bytes(u128::from(*.free))
    )]
    Disk {
        /// The folder.
        path: std::path::PathBuf,
        /// Bytes still to be written.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// Strata that are there.
        done: u64,
        /// Strata in the region.
        strata: u64,
    },
    /// A file that is not as it was written.
    #[error("{} is damaged: {what}", .path.display())]
    Damaged {
        /// The file or folder.
        path: std::path::PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The user stopped what is not counted in strata.
    #[error("interrupted {when}, nothing was kept; the same command starts over")]
    Stopped {
        /// At which point, such as `after 12 % of the pairs`.
        when: String,
    },
    /// Reading or writing failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
}

impl Error {
    /// The process exit code for this error: 1 a check failed, 2 bad usage or input, 3 no device or not enough
    /// memory or disk, 4 damaged data, 130 stopped by the user (128 + SIGINT, as shells expect).
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Violated { .. } => 1,
            // A path that cannot be is no fault of the machine.
            Self::Io { source, .. }
                if matches!(
                    source.kind(),
                    std::io::ErrorKind::NotFound
                        | std::io::ErrorKind::AlreadyExists
                        | std::io::ErrorKind::NotADirectory
                        | std::io::ErrorKind::IsADirectory
                        | std::io::ErrorKind::InvalidFilename
                ) =>
            {
                2
            }
            Self::Heaps { .. }
            | Self::Width { .. }
            | Self::WidthMissing { .. }
            | Self::WidthGiven { .. }
            | Self::Forbid(_)
            | Self::PositionSyntax { .. }
            | Self::PositionHeaps { .. }
            | Self::PositionSize { .. }
            | Self::Region { .. }
            | Self::Modulus { .. }
            | Self::TooLong { .. }
            | Self::NoMRule { .. }
            | Self::NoRemoteness { .. }
            | Self::LineLength { .. }
            | Self::UnknownClaim { .. }
            | Self::Format { .. }
            | Self::Picture { .. }
            | Self::Overwrite { .. }
            | Self::Slice { .. }
            | Self::NoSlice { .. }
            | Self::Coordinate { .. }
            | Self::PictureSize { .. }
            | Self::ExportOption { .. }
            | Self::ExportSize { .. }
            | Self::CompletionSize { .. }
            | Self::Terminal { .. }
            | Self::ClaimCase { .. }
            | Self::NoKernel { .. }
            | Self::NoStore { .. }
            | Self::UnfinishedStore { .. }
            | Self::StoreVersion { .. }
            | Self::OtherStore { .. }
            | Self::OutsideStore { .. }
            | Self::NoStoredRemoteness { .. }
            | Self::Foreign { .. }
            | Self::AdapterOnCpu { .. } => 2,
            Self::RegionMemory { .. }
            | Self::Memory { .. }
            | Self::NoAdapter
            | Self::AdapterNotFound { .. }
            | Self::Device { .. }
            | Self::Binding { .. }
            | Self::StoreBusy { .. }
            | Self::Disk { .. }
            | Self::Io { .. } => 3,
            Self::Damaged { .. } => 4,
            Self::Interrupted { .. } | Self::Stopped { .. } => 130,
        }
    }
}

/// What to say where nothing was said of what a picture is to show.
fn what_to_draw(heaps: u32) -> String {
    if heaps == 1 {
        return "a slice shows two heaps and the store has 1; --density 1,total works".to_owned();
    }
    let example = vec!["0"; heaps.saturating_sub(2) as usize].join(",");
    format!(
        "two of the {heaps} heaps vary in a slice: give sizes for the others, such as --fix {example}, or draw --density 1,2"
    )
}

fn needed_bytes(needed: Option<u128>) -> String {
    needed.map_or_else(|| "more than can be addressed".to_owned(), bytes)
}

/// Which claims there are besides one that there is not.
fn other_claims(similar: &[&str], known: &[&str]) -> String {
    match similar {
        [] => format!("there are: {}", known.join(", ")),
        [one] => format!("did you mean {one}? check --list shows all {}", known.len()),
        [first @ .., last] => {
            format!("did you mean {} or {last}? check --list shows all {}", first.join(", "), known.len())
        }
    }
}

/// The bound on the total of all heaps, where there is one.
fn total_bound(last: Option<u32>) -> String {
    last.map_or_else(String::new, |last| format!(", of up to {last} in all"))
}

/// A number of heaps in words.
fn in_heaps(count: u32) -> String {
    if count == 1 { "1 heap".to_owned() } else { format!("{count} heaps") }
}

fn largest_cap(largest: Option<u64>, heaps: u32) -> String {
    largest.map_or_else(
        || format!("no region of {} fits", in_heaps(heaps)),
        |cap| format!("the largest --max that fits is {cap}"),
    )
}

/// A number of bytes as a person reads it, such as `15.6 GiB`.
#[must_use]
pub fn bytes(count: u128) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{count} byte{}", if count == 1 { "" } else { "s" })
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}
