//! Random rulesets and regions, and the oracle's answer to them, shared by the property tests.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod program;

use nimstrata::game::{ForbiddenTotals, Ruleset, Take};
use std::ops::ControlFlow;

use nimstrata::backend::Backend;
use nimstrata::oracle;
use nimstrata::solver::{Options, Quantity, Solver};
use nimstrata::space::{Canonical, CanonicalBuf, Coordinate, Region, Stratum};
use nimstrata::store::{Subject, Writer};
use proptest::prelude::*;

/// So many random cases, without a file of failures: what fails is worth a test of its own.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A ruleset with a region small enough for the oracle.
#[derive(Clone, Debug)]
pub struct Case {
    pub rules: Ruleset,
    pub region: Region,
}

/// Sets of forbidden totals of every kind, among them none, zero, and all.
pub fn forbidden_totals() -> impl Strategy<Value = ForbiddenTotals> {
    prop_oneof![
        3 => Just(String::new()),
        1 => Just("0".to_owned()),
        1 => Just("k".to_owned()),
        2 => (1u64..9).prop_map(|step| format!("{step}k")),
        2 => (2u64..9, 0u64..12).prop_map(|(step, first)| format!("{step}k+{first}")),
        2 => (0u64..20, 0u64..9).prop_map(|(first, more)| format!("{first}..{}", first + more)),
        1 => (0u64..9, 10u64..15, 3u64..7).prop_map(|(one, range, step)| format!("{one},{range}..{},{step}k+1", range + 2)),
    ]
    .prop_map(|text| if text.is_empty() { ForbiddenTotals::default() } else { text.parse().unwrap() })
}

/// A number of heaps with a cap, around word edges where the oracle can follow.
fn heaps_and_cap() -> impl Strategy<Value = (u32, u64)> {
    let edge = prop_oneof![Just(31u64), Just(32), Just(33), Just(63), Just(64), Just(65)];
    prop_oneof![
        2 => (1u32..=2, prop_oneof![0u64..40, edge.clone()]),
        2 => (Just(3u32), prop_oneof![0u64..24, 30u64..35]),
        2 => (Just(4u32), 0u64..15),
        1 => (Just(5u32), 0u64..9),
        1 => (Just(6u32), 0u64..7),
        1 => (7u32..=8, 0u64..4),
        1 => (9u32..=10, 0u64..3),
        1 => (Just(3u32), edge.prop_map(|cap| cap.min(35))),
    ]
}

pub fn take_one_case() -> impl Strategy<Value = Case> {
    take_one(heaps_and_cap())
}

/// The same with regions in which blocks have several words and groups of lanes: too large for the oracle.
pub fn long_take_one_case() -> impl Strategy<Value = Case> {
    take_one(prop_oneof![
        2 => (Just(3u32), 120u64..150),
        2 => (Just(4u32), 60u64..75),
        3 => (Just(5u32), 30u64..45),
        1 => (Just(6u32), 16u64..20),
        1 => (Just(7u32), 9u64..12),
    ])
}

fn take_one(heaps_and_cap: impl Strategy<Value = (u32, u64)>) -> impl Strategy<Value = Case> {
    (
        heaps_and_cap,
        forbidden_totals(),
        any::<bool>(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0u32..9,
    )
        .prop_map(|((heaps, cap), forbidden, misere, one, other, cut)| {
            let (one, other) = (1 + one.index(heaps as usize) as u32, 1 + other.index(heaps as usize) as u32);
            let rules = Ruleset::touching(heaps, one.min(other), one.max(other), Take::One)
                .unwrap()
                .with_forbidden(forbidden)
                .with_misere(misere);
            let region = Region::new(heaps, cap).unwrap();
            // Now and then only the lower part of a region.
            let region = if cut == 0 { region.up_to_total(u64::from(heaps) * cap * 2 / 3) } else { region };
            Case { rules, region }
        })
}

/// A ruleset of moves of any size from one heap, with a region small enough for the oracle.
pub fn single_heap_case() -> impl Strategy<Value = Case> {
    single_heap(heaps_and_cap(), forbidden_totals())
}

/// The same with regions in which rows fill many words and lanes: too large for the oracle.
pub fn long_single_heap_case() -> impl Strategy<Value = Case> {
    let heaps_and_cap = prop_oneof![
        3 => (Just(3u32), 100u64..150),
        2 => (Just(4u32), 74u64..84),
        1 => (Just(2u32), 900u64..1100),
        1 => (Just(5u32), 32u64..36),
    ];
    let stretch = (0u64..150, 30u64..120)
        .prop_map(|(first, more)| format!("{first}..{}", first + more).parse().unwrap());
    single_heap(heaps_and_cap, prop_oneof![2 => forbidden_totals(), 1 => stretch])
}

fn single_heap(
    heaps_and_cap: impl Strategy<Value = (u32, u64)>,
    forbidden: impl Strategy<Value = ForbiddenTotals>,
) -> impl Strategy<Value = Case> {
    let rest = (forbidden, any::<bool>(), 0u32..9);
    (heaps_and_cap, rest).prop_map(|((heaps, cap), (forbidden, misere, cut))| {
        let rules =
            Ruleset::forbidden_total_size(heaps).unwrap().with_forbidden(forbidden).with_misere(misere);
        let region = Region::new(heaps, cap).unwrap();
        // Now and then only the lower part of a region.
        let region = if cut == 0 { region.up_to_total(u64::from(heaps) * cap * 2 / 3) } else { region };
        Case { rules, region }
    })
}

/// The oracle's verdicts of every stratum, as canonical bitmaps.
pub fn oracle_bitmaps(case: &Case) -> Vec<Vec<u8>> {
    let verdicts = oracle::verdicts(&case.rules, &case.region);
    case.region
        .strata()
        .map(|total| {
            let mut bitmap = vec![0u8; case.region.stratum_size(total).div_ceil(8) as usize];
            for (index, position) in case.region.stratum(total).enumerate() {
                bitmap[index / 8] |= u8::from(verdicts[&position]) << (index % 8);
            }
            bitmap
        })
        .collect()
}

/// The canonical bitmap of a solved stratum, checked against its counts.
pub fn canonical(stratum: &Stratum<'_>) -> Vec<u8> {
    let canonical = stratum.canonical();
    let bitmap = match canonical.view() {
        Canonical::Verdicts(bitmap) => bitmap.to_vec(),
        remoteness => bitmap_of((0..stratum.positions).map(|index| remoteness.is_p(index))),
    };
    let ones: u64 = bitmap.iter().map(|byte| u64::from(byte.count_ones())).sum();
    assert_eq!(ones, canonical.view().p_positions());
    assert_eq!(ones, stratum.p_positions, "the count of stratum {}", stratum.total);
    assert_eq!(bitmap.len() as u64, stratum.positions.div_ceil(8));
    bitmap
}

/// Bits, least significant of a byte first.
fn bitmap_of(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bitmap = Vec::new();
    for (index, bit) in bits.enumerate() {
        if index % 8 == 0 {
            bitmap.push(0);
        }
        bitmap[index / 8] |= u8::from(bit) << (index % 8);
    }
    bitmap
}

/// The oracle's remoteness of every stratum, in canonical order.
pub fn oracle_remoteness(case: &Case) -> Vec<Vec<u16>> {
    let solved = oracle::remoteness(&case.rules, &case.region);
    let stratum = |total| case.region.stratum(total).map(|position| solved[&position] as u16).collect();
    case.region.strata().map(stratum).collect()
}

/// The remoteness of every stratum that a backend finds, in canonical order, checked against its counts and bits.
pub fn solve_remoteness(backend: &mut dyn Backend) -> Vec<Vec<u16>> {
    let mut solved = Vec::new();
    backend
        .run(true, &mut |stratum| {
            let solved_now = stratum.canonical();
            let value = |index| solved_now.view().remoteness(index).expect("the backend solves remoteness");
            let values = (0..stratum.positions).map(|index| value(index) as u16).collect::<Vec<_>>();
            let bitmap = bitmap_of(values.iter().map(|value| value % 2 == 0));
            assert_eq!(canonical(stratum), bitmap, "the verdicts of stratum {}", stratum.total);
            solved.push(values);
            ControlFlow::Continue(())
        })
        .unwrap();
    solved
}

/// Stops one backend after about `stop` strata, lets another one for the same region go on from there, and then the first
/// one. Returns what they solved with the first part: twice the same, if all is well.
pub fn stopped_and_resumed<'a>(
    first: &'a mut dyn Backend,
    second: &'a mut dyn Backend,
    bits: bool,
    stop: usize,
) -> [Vec<(u32, u64, Option<CanonicalBuf>)>; 2] {
    let seen = |stratum: &Stratum<'_>| {
        let canonical = bits.then(|| stratum.canonical());
        (stratum.total, stratum.p_positions, canonical)
    };
    let mut below = Vec::new();
    first.restart().unwrap();
    let mut visit = |stratum: &Stratum<'_>| {
        below.push(seen(stratum));
        if below.len() > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    first.go_on(bits, &mut visit).unwrap();
    let past = first.past().unwrap();
    assert_eq!(past.next as usize, below.len());
    second.resume(&past).unwrap();
    assert_eq!(second.past().unwrap(), past);
    [second, first].map(|backend| {
        let mut all = below.clone();
        let mut visit = |stratum: &Stratum<'_>| {
            all.push(seen(stratum));
            ControlFlow::Continue(())
        };
        backend.go_on(bits, &mut visit).unwrap();
        all
    })
}

/// What a backend solves in one go, as [`stopped_and_resumed`] has it.
pub fn undisturbed(backend: &mut dyn Backend, bits: bool) -> Vec<(u32, u64, Option<CanonicalBuf>)> {
    let mut all = Vec::new();
    let mut visit = |stratum: &Stratum<'_>| {
        all.push((stratum.total, stratum.p_positions, bits.then(|| stratum.canonical())));
        ControlFlow::Continue(())
    };
    backend.run(bits, &mut visit).unwrap();
    all
}

/// Solves a region into a store.
pub fn write_store(path: &std::path::Path, rules: &Ruleset, region: &Region, quantity: Quantity) {
    let subject = Subject { rules: rules.clone(), region: region.clone(), quantity };
    let mut writer = Writer::open(path, subject, &mut |_| ControlFlow::Continue(())).unwrap();
    let options = Options { quantity, threads: 2, ..Options::default() };
    let mut solver = Solver::new(rules, region, &options).unwrap();
    let summary = solver.run(&mut [&mut writer], &mut |_| ControlFlow::Continue(())).unwrap();
    writer.finish(&summary).unwrap();
}

/// Verdicts in memory, one canonical bitmap a stratum.
pub struct Bitmaps(pub Vec<Vec<u8>>);

impl nimstrata::density::Verdicts for Bitmaps {
    fn append(&self, total: u32, places: std::ops::Range<u64>, words: &mut Vec<u32>) {
        let bytes = places.start as usize / 8..places.end.div_ceil(8) as usize;
        nimstrata::density::append_bytes(&self.0[total as usize][bytes], words);
    }
}

/// Two coordinates of positions with this many heaps.
pub fn axes(heaps: u32, [one, other]: [prop::sample::Index; 2]) -> [Coordinate; 2] {
    [one, other].map(|index| match index.index(heaps as usize + 1) as u32 {
        0 => Coordinate::Total,
        heap => Coordinate::Heap(heap),
    })
}

/// Counts by two coordinates one position after another: positions, and P-positions among them.
pub fn density_by_definition(region: &Region, bitmaps: &Bitmaps, axes: [Coordinate; 2]) -> Vec<[u64; 2]> {
    let [width, height] = axes.map(|axis| axis.values(region) as usize);
    let mut counts = vec![[0; 2]; width * height];
    for total in region.strata() {
        for (index, position) in region.stratum(total).enumerate() {
            let value = |axis| match axis {
                Coordinate::Heap(heap) => position.sizes()[(region.heaps() - heap) as usize] as usize,
                Coordinate::Total => total as usize,
            };
            let count = &mut counts[value(axes[0]) * height + value(axes[1])];
            count[0] += 1;
            count[1] += u64::from(bitmaps.0[total as usize][index / 8] >> (index % 8) & 1);
        }
    }
    counts
}

/// All counts of a density map.
pub fn counts(density: &nimstrata::density::Density) -> Vec<[u64; 2]> {
    let [width, height] = density.shape();
    let cells = (0..width).flat_map(|first| (0..height).map(move |second| [first, second]));
    cells.map(|cell| density.at(cell)).collect()
}
