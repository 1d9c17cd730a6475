//! Claims on completions: which heap completes an (n−1)-multiset to a P₁ position.
//!
//! For three heaps f(x,y) ≤ x + y + 1 is claimed, so all completions of heaps up to the cap lie among heaps up to
//! twice the cap and one; that larger box is solved, and f is read from its bitmaps.

use super::fts::{about, about_else, rules};
use super::{Case, Finding};
use crate::completion::{self, Completions};
use crate::error::{Error, Result};
use crate::solver::{self, Options, Solver, Watch};
use crate::space::{Region, largest_cap_within};

/// Solves what is needed to complete the multisets of a case.
fn solve(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<(Completions, u64)> {
    let rules = rules(case)?;
    let options = &reserving(case, options)?;
    let refuse = |error| about_larger(case, error);
    let region = match &options.source {
        // More positions only hold more completions of larger heaps.
        Some(source) => source.region().clone(),
        None if case.heaps == 3 => {
            let region = Region::new(3, case.max.saturating_mul(2).saturating_add(1)).map_err(refuse)?;
            region.up_to_total(4 * case.max + 1)
        }
        None => Region::new(case.heaps, case.max)?,
    };
    let mut completions = Completions::new(case.heaps, case.max as u32);
    let mut solver = Solver::new(&rules, &region, options).map_err(refuse)?;
    let summary = solver.run(&mut [&mut completions], watch)?;
    Ok((completions, summary.positions))
}

/// The greatest cap of a case for which a region has what is solved for it.
pub(super) fn largest_within(region: &Region) -> Option<u64> {
    let (max, bound) = (u64::from(region.max()), region.bound().map(u64::from));
    match region.heaps() {
        3 => Some((max.checked_sub(1)? / 2).min(bound.unwrap_or(u64::MAX).checked_sub(1)? / 4)),
        _ => Some(max),
    }
}

/// The options with memory set aside for the completions.
fn reserving(case: &Case, options: &Options) -> Result<Options> {
    let bytes = |max: u64| {
        // The claims on three heaps keep a table and what they find in its rows.
        let size = u128::from(max) + 1;
        let table = if case.heaps == 3 { size.saturating_mul(size).saturating_mul(12) } else { 0 };
        completion::bytes(case.heaps, max).saturating_add(table)
    };
    let available = options.memory.unwrap_or_else(solver::free_memory).saturating_sub(options.reserved);
    let within = |max, limit| Some(bytes(max)).filter(|&bytes| bytes <= limit);
    let max = case.max.min(u64::MAX - 1);
    let (largest, needed) = largest_cap_within(max, available, within);
    if largest != Some(max) {
        return Err(Error::Memory {
            what: format!("keeping the completions of {case}"),
            needed,
            available,
            source_of_limit: if options.memory.is_some() { "allowed by --memory" } else { "free" },
            remedy: match largest {
                Some(largest) => format!("the largest --max that fits is {largest}"),
                None => "no --max fits".to_owned(),
            },
        });
    }
    Ok(Options { reserved: options.reserved + bytes(max) as u64, ..options.clone() })
}

/// What an error about the larger region means for the case.
fn about_larger(case: &Case, error: Error) -> Error {
    if case.heaps != 3 {
        return error;
    }
    let cap = |largest: u64| largest.saturating_sub(1) / 2;
    match error {
        Error::Region { heaps, largest, .. } => {
            Error::Region { heaps, max: case.max.to_string(), largest: cap(largest) }
        }
        Error::RegionMemory { heaps, max, needed, available, source_of_limit, largest } => Error::Memory {
            what: format!("completing 2 heaps up to {} takes {heaps} heaps up to {max}, which", case.max),
            needed,
            available,
            source_of_limit,
            remedy: match largest {
                Some(largest) => format!("the largest --max that fits is {}", cap(largest)),
                None => "no --max fits".to_owned(),
            },
        },
        other => other,
    }
}

/// f for three heaps: a square table, row-major; `None` where there is not exactly one completion.
fn solve_three(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<(Table, u64)> {
    if case.heaps != 3 {
        return Err(about_else("three heaps", "leave --heaps out", options));
    }
    let (completions, positions) = solve(case, options, watch)?;
    let size = case.max as usize + 1;
    let mut table = Table { size, f: vec![None; size * size] };
    for (pair, found) in completions.iter() {
        let (&[x, y], &[z]) = (pair.sizes(), found) else { continue };
        table.f[x as usize * size + y as usize] = Some(z);
        table.f[y as usize * size + x as usize] = Some(z);
    }
    Ok((table, positions))
}

struct Table {
    size: usize,
    f: Vec<Option<u32>>,
}

impl Table {
    fn get(&self, x: usize, y: usize) -> Option<u32> {
        self.f[x * self.size + y]
    }

    /// All (x,y) with x ≤ y, by total and then in canonical order.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let max = self.size - 1;
        (0..=2 * max)
            .flat_map(move |total| (total.saturating_sub(max)..=total / 2).map(move |x| (x, total - x)))
    }
}

/// Collects violations in the order of their totals.
#[derive(Default)]
struct Violations {
    count: u64,
    first: Option<String>,
}

impl Violations {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(what);
    }

    fn finding(self, positions: u64, note: Option<String>) -> Finding {
        Finding { positions, violations: self.count, counterexample: self.first, note }
    }
}

/// At most one completion each; for three heaps exactly one.
pub(super) fn unique(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let (completions, positions) = solve(case, options, watch)?;
    let mut violations = Violations::default();
    if case.heaps == 3 {
        for total in 0..=2 * case.max {
            let total = total as u32;
            for pair in Region::new(2, case.max)?.stratum(total) {
                let found = completions.of(&pair);
                if found.len() != 1 {
                    violations.add(|| format!("{pair} is completed by {found:?}"));
                }
            }
        }
    } else {
        for (others, found) in completions.iter().filter(|(_, found)| found.len() > 1) {
            violations.add(|| format!("{others} is completed by {found:?}"));
        }
    }
    Ok(violations.finding(positions, None))
}

/// f(x,y) is the least number that keeps the total allowed and is not in its row and column before it.
pub(super) fn mex(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let d = case.d.unwrap_or(u64::MAX);
    if d < 2 {
        return Err(about("d of 2 or more: with --d 1 no move arrives anywhere"));
    }
    let (table, positions) = solve_three(case, options, watch)?;
    let mut violations = Violations::default();
    // For each x the values f(x,y′) met so far: taken before y in the order of totals means y′ < y.
    let mut used = vec![vec![false; 2 * table.size + 2]; table.size];
    for (x, y) in table.pairs() {
        let forbidden = |z: usize| ((x + y + z) as u64).is_multiple_of(d);
        // At most x + y numbers are used, and never two in a row forbidden.
        let least =
            (0..=2 * (x + y) + 1).find(|&z| !forbidden(z) && !is_used(&used, x, z) && !is_used(&used, y, z));
        let f = table.get(x, y);
        if f.map(|f| f as usize) != least {
            let least = least.unwrap_or(0);
            violations.add(|| format!("f({x},{y}) = {}, the mex is {least}", show(f)));
        }
        for (heap, f) in [x, y].into_iter().filter_map(|heap| Some((heap, f?))) {
            if let Some(entry) = used[heap].get_mut(f as usize) {
                *entry = true;
            }
        }
    }
    Ok(violations.finding(positions, None))
}

fn is_used(used: &[Vec<bool>], x: usize, z: usize) -> bool {
    used[x].get(z).copied().unwrap_or(false)
}

/// |x−y| − 1 ≤ f ≤ x+y+1, the upper bound only where d divides 2(x+y). Notes where the converse of that fails.
pub(super) fn bounds(case: &Case, options: &Options, watch: &mut Watch<'_>) -> Result<Finding> {
    let (table, positions) = solve_three(case, options, watch)?;
    let d = case.d.unwrap_or(u64::MAX);
    let (mut violations, mut converse) = (Violations::default(), Violations::default());
    for (x, y) in table.pairs() {
        let sum = (x + y) as u64;
        let divides = (2 * sum).is_multiple_of(d);
        let f = table.get(x, y);
        let within = f.is_some_and(|f| {
            let f = u64::from(f);
            f <= sum + 1 && f + 1 >= x.abs_diff(y) as u64 && (f <= sum || divides)
        });
        if !within {
            violations.add(|| format!("f({x},{y}) = {}", show(f)));
        }
        if divides && f.map(u64::from) != Some(sum + 1) {
            converse.add(|| format!("f({x},{y}) = {}", show(f)));
        }
    }
    let note = converse.first.map(|first| {
        let count = converse.count;
        format!("d dividing 2(x+y) does not give f = x+y+1: it fails for {count} pairs, first {first}")
    });
    Ok(violations.finding(positions, note))
}

fn show(f: Option<u32>) -> String {
    f.map_or_else(|| "none".to_owned(), |f| f.to_string())
}
