//! Density maps on the CPU against counting one position after another.

mod common;

use std::ops::ControlFlow;

use common::Bitmaps;
use nimstrata::Error;
use nimstrata::density::Density;
use nimstrata::game::Ruleset;
use nimstrata::solver::{BackendChoice, Options};
use nimstrata::space::{Coordinate, Region};
use proptest::prelude::*;

fn options(threads: usize) -> Options {
    Options { backend: BackendChoice::Cpu, threads, ..Options::default() }
}

proptest! {
    #![proptest_config(common::cases(150))]

    #[test]
    fn the_twin_agrees_with_counting_one_by_one(
        case in common::take_one_case(),
        axes in any::<[prop::sample::Index; 2]>(),
        threads in 1usize..4,
    ) {
        let (region, bitmaps) = (&case.region, Bitmaps(common::oracle_bitmaps(&case)));
        let axes = common::axes(region.heaps(), axes);
        let watch = &mut |_| ControlFlow::Continue(());
        let density = Density::count(&bitmaps, region, axes, &options(threads), watch).unwrap();
        prop_assert_eq!(common::counts(&density), common::density_by_definition(region, &bitmaps, axes));
        prop_assert_eq!(density.sums()[0], region.positions());
    }
}

/// A small map: two heaps of Nim, of which the P-positions are those with equal heaps.
fn nim(watch: &mut nimstrata::density::Watch<'_>) -> nimstrata::Result<Density> {
    let rules = Ruleset::forbidden_total_size(2).unwrap();
    let region = Region::new(2, 2).unwrap();
    let bitmaps = Bitmaps(common::oracle_bitmaps(&common::Case { rules, region: region.clone() }));
    Density::count(&bitmaps, &region, [Coordinate::Heap(1), Coordinate::Total], &options(2), watch)
}

#[test]
fn a_numpy_file_has_the_axes_in_order_and_nan_without_positions() {
    let density = nim(&mut |_| ControlFlow::Continue(())).unwrap();
    let mut file = Vec::new();
    density.write_npy(&mut file).unwrap();
    let header = "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 5), }";
    assert!(file.starts_with(b"\x93NUMPY\x01\x00\x76\x00") && file[10..].starts_with(header.as_bytes()));
    let values = file[128..].chunks(2).map(|pair| half::f16::from_le_bytes([pair[0], pair[1]]).to_f32());
    let written = values.map(|value| value.to_string()).collect::<Vec<_>>().join(" ");
    // The largest heap is 0, 1, 2; equal heaps have twice its total.
    assert_eq!(written, "1 NaN NaN NaN NaN NaN 0 1 NaN NaN NaN NaN 0 0 1");
    assert_eq!((density.share([0, 1]), density.greatest()), (None, 1.0));
}

#[test]
fn counting_stops_when_it_is_told_to() {
    let region = Region::new(5, 30).unwrap();
    let bitmaps = Bitmaps(vec![vec![0; 1 << 16]; region.strata().len()]);
    let axes = [Coordinate::Heap(2), Coordinate::Heap(1)];
    let stopped = Density::count(&bitmaps, &region, axes, &options(1), &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Stopped { .. })));
    // Stopping after the last position is too late.
    assert!(
        nim(&mut |done| if done == 6 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }).is_ok()
    );
}

#[test]
fn maps_that_do_not_fit_are_refused() {
    let region = Region::new(3, 1000).unwrap();
    let options = Options { memory: Some(1 << 20), ..options(1) };
    let axes = [Coordinate::Heap(1), Coordinate::Total];
    let watch = &mut |_| ControlFlow::Continue(());
    let refused = Density::count(&Bitmaps(Vec::new()), &region, axes, &options, watch).err().unwrap();
    assert_eq!(
        refused.to_string(),
        "a density map of 1001 x 3001 cells needs 91.7 MiB, 1.0 MiB allowed by --memory; fewer --threads or a store \
         of smaller heaps need less"
    );
}
