//! How much a kernel has to do for a region, from the layout: the words that it solves, and the lane groups that it solves
//! them in. Counted in some strata, spread over all of them, and scaled by their positions.

use nimstrata::game::Ruleset;
use nimstrata::solver::Quantity;
use nimstrata::space::{Cell, Layout, Region, remoteness_cell};
use nimstrata::{Error, Result};

/// Strata that are looked at, at most and at least.
const SAMPLES: (u64, u64) = (48, 3);
/// Lanes of blocks that are looked at, at most, about.
const LANES: u64 = 100_000_000;

/// What the cells of a region hold.
pub fn cell(rules: &Ruleset, region: &Region, quantity: Quantity) -> Result<Cell> {
    let (max, last) = (u64::from(region.max()), u64::from(region.strata().end) - 1);
    match quantity {
        Quantity::Verdict => Ok(Cell::Verdicts),
        Quantity::Remoteness => remoteness_cell(rules, max, last)
            .ok_or_else(|| Error::NoKernel { what: format!("the remoteness of {rules}") }),
    }
}

/// The sampled strata of a region, from the middle of the first part to that of the last.
pub fn samples(layout: &Layout, region: &Region) -> impl Iterator<Item = u32> + use<> {
    let strata = region.strata().end;
    let lanes = layout.blocks() as u64 * (u64::from(region.max()) / 2 + 1);
    let samples = (LANES / lanes).clamp(SAMPLES.1, SAMPLES.0);
    // Odd, so that no parity is preferred.
    let step = (strata / samples as u32) | 1;
    (step.min(strata) / 2..strata).step_by(step as usize)
}

/// Cells of a stratum that hold positions.
pub fn useful_cells(layout: &Layout, total: u32) -> u64 {
    let values = layout.cell().row_values() as i32;
    let mut active = Vec::new();
    layout.active_blocks(total, &mut active);
    let mut cells = 0;
    for rank in active {
        let window = layout.window(layout.block(rank).coordinates, total, 0);
        for lane in window.first_lane..=window.last_lane {
            let (first, last) = layout.second_heap(&window, lane);
            if first <= last {
                cells += (last / values - first / values + 1) as u64;
            }
        }
    }
    cells
}

/// Lane groups of a region's windows, all strata together: what the time of a solve grows with, within a game.
pub fn lane_groups(rules: &Ruleset, region: &Region, quantity: Quantity) -> Result<f64> {
    let layout = Layout::with_cells(region, cell(rules, region, quantity)?)?;
    let (values, group) = (layout.cell().row_values() as i32, layout.cell().group() as i32);
    let (mut groups, mut positions) = (0, 0);
    let mut active = Vec::new();
    for total in samples(&layout, region) {
        active.clear();
        layout.active_blocks(total, &mut active);
        for &rank in &active {
            let window = layout.window(layout.block(rank).coordinates, total, 0);
            let (first, last) = layout.second_range(&window);
            if !window.is_empty() && first <= last {
                let rows = last / values - first / values + 1;
                groups += i64::from(rows * (window.last_lane / group - window.first_lane / group + 1));
            }
        }
        positions += region.stratum_size(total);
    }
    Ok(groups as f64 * (region.positions() as f64 / positions.max(1) as f64))
}

#[cfg(test)]
mod tests {
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
}
