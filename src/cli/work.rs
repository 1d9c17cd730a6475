//! How much a kernel has to do for a region, from the layout: the words or cells that it solves, and what its time grows
//! with. Counted in some strata, spread over all of them, and scaled by their positions.

use nimstrata::cpu::take_one;
use nimstrata::game::{Ruleset, Take};
use nimstrata::solver::Quantity;
use nimstrata::space::{
    Cell, FOLDED_ALIGNMENT, FOLDED_HEAPS, FOLDED_PLACES, FoldedLayout, Layout, Region, remoteness_cell,
};
use nimstrata::{Error, Result};

/// Strata that are looked at, at most and at least.
const SAMPLES: (u64, u64) = (48, 3);
/// Lanes of blocks or rows of runs that are looked at, at most, about.
const LOOKS: u64 = 100_000_000;

/// What the cells of a region hold.
pub fn cell(rules: &Ruleset, region: &Region, quantity: Quantity) -> Result<Cell> {
    let (max, last) = (u64::from(region.max()), u64::from(region.strata().end) - 1);
    match quantity {
        Quantity::Verdict => Ok(Cell::Verdicts),
        Quantity::Remoteness => remoteness_cell(rules, max, last)
            .ok_or_else(|| Error::NoKernel { what: format!("the remoteness of {rules}") }),
    }
}

/// Whether the CPU solves in the [`FoldedLayout`].
pub fn is_folded(rules: &Ruleset, quantity: Quantity) -> bool {
    rules.take == Take::One && rules.heaps >= FOLDED_HEAPS && quantity == Quantity::Verdict
}

/// The sampled strata of a region, from the middle of the first part to that of the last.
pub fn samples(layout: &Layout, region: &Region) -> impl Iterator<Item = u32> + use<> {
    spread(region, layout.blocks() as u64 * (u64::from(region.max()) / 2 + 1))
}

/// Strata of a region, as many as can be looked at if each takes so many looks.
fn spread(region: &Region, looks: u64) -> impl Iterator<Item = u32> + use<> {
    let strata = region.strata().end;
    let samples = (LOOKS / looks.max(1)).clamp(SAMPLES.1, SAMPLES.0);
    // Odd, so that no parity is preferred.
    let step = (strata / samples as u32) | 1;
    (step.min(strata) / 2..strata).step_by(step as usize)
}

/// Cells of a stratum that hold positions.
pub fn useful_cells(layout: &Layout, total: u32) -> u64 {
    let values = layout.cell().row_values() as i32;
    let mut cells = 0;
    for_each_lane(layout, total, |first, last| cells += (last / values - first / values + 1) as u64);
    cells
}

/// Cells of a stratum that hold positions where the CPU solves in the [`FoldedLayout`], and the lanes that they are in.
pub fn useful_folded_cells(layout: &Layout, total: u32) -> (u64, u64) {
    let (mut cells, mut lanes) = (0, 0);
    for_each_lane(layout, total, |first, last| {
        cells += u64::from((last - first + 1).cast_unsigned().div_ceil(FOLDED_PLACES));
        lanes += 1;
    });
    (cells, lanes)
}

/// Visits every lane of a stratum that has positions, with their first and last x₂.
fn for_each_lane(layout: &Layout, total: u32, mut visit: impl FnMut(i32, i32)) {
    let mut active = Vec::new();
    layout.active_blocks(total, &mut active);
    for rank in active {
        let window = layout.window(layout.block(rank).coordinates, total, 0);
        for lane in window.first_lane..=window.last_lane {
            let (first, last) = layout.second_heap(&window, lane);
            if first <= last {
                visit(first, last);
            }
        }
    }
}

/// What the time of a solve grows with, within a game, on the CPU or a GPU: lane groups, or where the CPU solves in the
/// [`FoldedLayout`], cells.
pub fn amount(rules: &Ruleset, region: &Region, quantity: Quantity, on_cpu: bool) -> Result<f64> {
    if on_cpu && is_folded(rules, quantity) {
        folded_cells(region)
    } else {
        lane_groups(rules, region, quantity)
    }
}

/// Lane groups of a region's windows, all strata together.
fn lane_groups(rules: &Ruleset, region: &Region, quantity: Quantity) -> Result<f64> {
    let layout = Layout::with_cells(region, cell(rules, region, quantity)?)?;
    let (values, group) = (layout.cell().row_values() as i32, layout.cell().group() as i32);
    let mut active = Vec::new();
    Ok(in_all(region, samples(&layout, region), |total| {
        let mut groups = 0;
        active.clear();
        layout.active_blocks(total, &mut active);
        for &rank in &active {
            let window = layout.window(layout.block(rank).coordinates, total, 0);
            let (first, last) = layout.second_range(&window);
            if !window.is_empty() && first <= last {
                let rows = last / values - first / values + 1;
                groups += (rows * (window.last_lane / group - window.first_lane / group + 1)) as u64;
            }
        }
        groups
    }))
}

/// Cells that the CPU goes through in the [`FoldedLayout`], all strata together. A row of a run counts as many more as the
/// widest register has: to set it up takes about as long.
fn folded_cells(region: &Region) -> Result<f64> {
    let layout = FoldedLayout::new(region)?;
    let looks = layout.bases().len() as u64 * layout.row_count() as u64;
    Ok(in_all(region, spread(region, looks), |total| {
        let swept = take_one::swept(&layout, total);
        swept.cells + FOLDED_ALIGNMENT as u64 * swept.rows
    }))
}

/// What is counted in some strata, scaled to all of a region.
fn in_all(region: &Region, samples: impl Iterator<Item = u32>, mut count: impl FnMut(u32) -> u64) -> f64 {
    let (mut counted, mut positions) = (0, 0);
    for total in samples {
        counted += count(total);
        positions += region.stratum_size(total);
    }
    counted as f64 * (region.positions() as f64 / positions.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn every_position_is_in_a_useful_cell_and_every_cell_in_a_group() {
        let rules = Ruleset::bounded_moore(5, 2).unwrap();
        let region = Region::new(5, 8).unwrap();
        // Up to the cap of 8 a cell holds all values of x₂, and a group all lanes.
        let groups = lane_groups(&rules, &region, Quantity::Verdict).unwrap();
        let layout = Layout::new(&region).unwrap();
        let cells = region.strata().map(|total| useful_cells(&layout, total)).sum::<u64>() as f64;
        assert!(groups <= cells * 1.2 && cells <= region.positions() as f64, "{groups} {cells}");
        let keys = lane_groups(&rules, &region, Quantity::Remoteness).unwrap();
        assert!(keys > groups, "{keys} {groups}");
    }

    #[test]
    fn a_lane_has_a_folded_cell_for_every_sixteen_positions() {
        for (heaps, max, total) in [(4, 70, 90), (4, 70, 150), (5, 40, 60), (6, 9, 20)] {
            let region = Region::new(heaps, max).unwrap();
            let mut lanes = HashMap::<_, u64>::new();
            for position in region.stratum(total) {
                let sizes = position.sizes();
                *lanes.entry(sizes[..sizes.len() - 2].to_vec()).or_default() += 1;
            }
            let cells = lanes.values().map(|positions| positions.div_ceil(16)).sum::<u64>();
            let layout = Layout::new(&region).unwrap();
            assert_eq!(useful_folded_cells(&layout, total), (cells, lanes.len() as u64), "{heaps} {max}");
        }
    }

    #[test]
    fn the_cpu_goes_through_every_cell_with_positions() {
        let rules = Ruleset::bounded_moore(5, 2).unwrap();
        // So few strata are all looked at.
        let region = Region::new(5, 9).unwrap();
        let amount = |on_cpu| amount(&rules, &region, Quantity::Verdict, on_cpu).unwrap();
        let (layout, folded) = (Layout::new(&region).unwrap(), FoldedLayout::new(&region).unwrap());
        let (mut useful, mut all) = (0, 0);
        for total in region.strata() {
            let swept = take_one::swept(&folded, total);
            useful += useful_folded_cells(&layout, total).0;
            assert!(useful_folded_cells(&layout, total).0 <= swept.cells, "{total}");
            all += swept.cells + 32 * swept.rows;
        }
        assert!((amount(true) - all as f64).abs() < 1e-6 && all > useful, "{all} {useful}");
        assert!((amount(false) - amount(true)).abs() > 1.0, "a GPU goes through lane groups");
    }
}
