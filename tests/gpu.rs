//! The shaders against the oracle and the CPU twins, bit for bit. Every test of this file runs on an adapter.
//!
//! A machine without any Vulkan, Metal or DirectX 12 adapter fails these tests; `NIMSTRATA_NO_GPU=1` lets them pass
//! without having run, and says so.

mod common;

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use nimstrata::backend::Backend;
use nimstrata::cpu;
use nimstrata::density::{Density, Verdicts};
use nimstrata::game::{Ruleset, Take};
use nimstrata::gpu;
use nimstrata::gpu::remoteness::Remoteness;
use nimstrata::gpu::sieve::Sieve;
use nimstrata::gpu::take_one::TakeOne;
use nimstrata::gpu::{Choice, Context, Limits};
use nimstrata::observe::Digest;
use nimstrata::solver::{BackendChoice, Observer, Options};
use nimstrata::space::{Cell, Coordinate, Grid, Region, Stratum, remoteness_cell};
use proptest::prelude::*;

use common::Bitmaps;

/// The one device that all tests share, or `None`, with a word of it, where `NIMSTRATA_NO_GPU` is set.
fn device() -> Option<Arc<Context>> {
    static DEVICE: LazyLock<Arc<Context>> = LazyLock::new(|| {
        let context = Context::open(Choice::Any);
        Arc::new(context.expect("these tests need an adapter; NIMSTRATA_NO_GPU=1 leaves them out"))
    });
    if std::env::var_os("NIMSTRATA_NO_GPU").is_some_and(|value| !value.is_empty() && value != "0") {
        eprintln!("not run: NIMSTRATA_NO_GPU is set");
        return None;
    }
    Some(DEVICE.clone())
}

/// The canonical bitmaps of all strata that a kernel solves, twice, the second time without reading them back.
fn solve(mut kernel: impl Backend) -> Vec<Vec<u8>> {
    let mut solved = Vec::new();
    let mut visit = |stratum: &Stratum<'_>| {
        solved.push(common::canonical(stratum));
        ControlFlow::Continue(())
    };
    kernel.run(true, &mut visit).unwrap();
    let mut counted = Vec::new();
    let mut visit = |stratum: &Stratum<'_>| {
        counted.push(stratum.p_positions);
        ControlFlow::Continue(())
    };
    kernel.run(false, &mut visit).unwrap();
    let ones = |bitmap: &Vec<u8>| bitmap.iter().map(|byte| u64::from(byte.count_ones())).sum();
    assert_eq!(counted, solved.iter().map(ones).collect::<Vec<u64>>());
    solved
}

/// Guards on and off, unless the environment says which; bounds that nothing small meets, and such that spans, copies and submits are many.
fn limits() -> impl Strategy<Value = Limits> {
    let bound_bytes = prop_oneof![Just(u64::MAX), Just(1 << 15), Just(1 << 14)];
    let small = prop_oneof![Just(u64::MAX), Just(1 << 10)];
    (any::<[bool; 2]>(), bound_bytes, small).prop_map(|([checked, as_gpu], bound_bytes, small)| Limits {
        bound_bytes,
        submit_words: small,
        copy_bytes: small,
        checked: Limits::checks_asked_for().unwrap_or(checked),
        as_gpu,
    })
}

proptest! {
    #![proptest_config(common::cases(150))]

    #[test]
    fn take_one_shader_agrees_with_the_oracle(case in common::take_one_case(), limits in limits()) {
        if let Some(context) = device() {
            let kernel = TakeOne::with_limits(context, &case.rules, &case.region, limits).unwrap();
            prop_assert_eq!(solve(kernel), common::oracle_bitmaps(&case));
        }
    }

    #[test]
    fn remoteness_shader_agrees_with_the_oracle(case in common::take_one_case(), limits in limits()) {
        if let Some(context) = device() {
            let expected = common::oracle_remoteness(&case);
            let (rules, region) = (&case.rules, &case.region);
            let mut eight = Remoteness::<u8>::with_limits(context.clone(), rules, region, limits).unwrap();
            for _ in 0..2 {
                prop_assert_eq!(&common::solve_remoteness(&mut eight), &expected);
            }
            let mut sixteen = Remoteness::<u16>::with_limits(context, rules, region, limits).unwrap();
            prop_assert_eq!(common::solve_remoteness(&mut sixteen), expected);
        }
    }

    #[test]
    fn density_shader_agrees_with_counting_one_by_one(
        case in common::take_one_case(),
        axes in any::<[prop::sample::Index; 2]>(),
        checked: bool,
        portion in prop_oneof![Just([1 << 12, 1 << 16]), Just([7, 300]), Just([1, 256])],
        collecting in prop_oneof![Just(u32::MAX), Just(300)],
    ) {
        if let Some(context) = device() {
            let (region, bitmaps) = (&case.region, Bitmaps(common::oracle_bitmaps(&case)));
            let axes = common::axes(region.heaps(), axes);
            let grid = Grid::new(region, axes);
            let device = gpu::density::Density::new(context, &grid, portion, checked).unwrap();
            let mut device = device.collecting_after(collecting);
            for total in region.strata() {
                let _ = grid.segments(region, total, portion, &mut |origin, segments| {
                    let last = segments.last().unwrap();
                    let mut words = Vec::new();
                    bitmaps.append(total, origin..origin + u64::from(last.start + last.length), &mut words);
                    words.push(0);
                    device.count(&words, segments).unwrap();
                    ControlFlow::Continue(())
                });
            }
            prop_assert_eq!(device.finish().unwrap(), common::density_by_definition(region, &bitmaps, axes));
        }
    }

    #[test]
    fn sieve_shader_agrees_with_the_oracle(case in common::single_heap_case(), limits in limits()) {
        if let Some(context) = device() {
            let kernel = Sieve::with_limits(context, &case.rules, &case.region, limits).unwrap();
            prop_assert_eq!(solve(kernel), common::oracle_bitmaps(&case));
        }
    }
}

proptest! {
    #![proptest_config(common::cases(40))]

    #[test]
    fn a_run_stopped_on_one_backend_goes_on_on_the_other(
        take_one in common::take_one_case(),
        single in common::single_heap_case(),
        limits in limits(),
        stop in 0usize..40,
        bits in any::<bool>(),
    ) {
        let check = |mut twin: Box<dyn Backend>, mut shader: Box<dyn Backend>| {
            let expected = common::undisturbed(&mut *twin, bits);
            let resumed = common::stopped_and_resumed(&mut *shader, &mut *twin, bits, stop);
            assert_eq!(resumed, [expected.clone(), expected.clone()]);
            let resumed = common::stopped_and_resumed(&mut *twin, &mut *shader, bits, stop);
            assert_eq!(resumed, [expected.clone(), expected]);
        };
        if let Some(context) = device() {
            let (rules, region) = (&take_one.rules, &take_one.region);
            check(
                Box::new(cpu::take_one::TakeOne::new(rules, region).unwrap()),
                Box::new(TakeOne::with_limits(context.clone(), rules, region, limits).unwrap()),
            );
            check(
                Box::new(cpu::remoteness::Remoteness::<u8>::new(rules, region).unwrap()),
                Box::new(Remoteness::<u8>::with_limits(context.clone(), rules, region, limits).unwrap()),
            );
            let (rules, region) = (&single.rules, &single.region);
            check(
                Box::new(cpu::sieve::Sieve::new(rules, region).unwrap()),
                Box::new(Sieve::with_limits(context, rules, region, limits).unwrap()),
            );
        }
    }
}

/// The digest and the number of P-positions of a region.
fn digest(kernel: &mut dyn Backend) -> (String, u64) {
    let mut digest = Digest::default();
    let mut p_positions = 0;
    let mut visit = |stratum: &Stratum<'_>| {
        digest.observe(stratum);
        p_positions += stratum.p_positions;
        ControlFlow::Continue(())
    };
    kernel.run(true, &mut visit).unwrap();
    (digest.hex(), p_positions)
}

/// Solves a region on both backends and compares digests and counts.
fn same_on_both_backends(rules: &Ruleset, max: u64) {
    let Some(context) = device() else { return };
    let region = Region::new(rules.heaps, max).unwrap();
    let (twin, shader): (Box<dyn Backend>, Box<dyn Backend>) = if rules.take == Take::One {
        let shader = TakeOne::new(context, rules, &region).unwrap();
        (Box::new(cpu::take_one::TakeOne::new(rules, &region).unwrap()), Box::new(shader))
    } else {
        let shader = Sieve::new(context, rules, &region).unwrap();
        (Box::new(cpu::sieve::Sieve::new(rules, &region).unwrap()), Box::new(shader))
    };
    same(twin, shader, &format!("{rules} ≤ {max}"));
}

/// The same for remoteness, in keys of the width that the region needs.
fn same_remoteness_on_both_backends(rules: &Ruleset, max: u64) {
    let Some(context) = device() else { return };
    let region = Region::new(rules.heaps, max).unwrap();
    let (twin, shader): (Box<dyn Backend>, Box<dyn Backend>) =
        if remoteness_cell(rules, max, u64::MAX) == Some(Cell::Remoteness8) {
            let shader = Remoteness::<u8>::new(context, rules, &region).unwrap();
            (Box::new(cpu::remoteness::Remoteness::<u8>::new(rules, &region).unwrap()), Box::new(shader))
        } else {
            let shader = Remoteness::<u16>::new(context, rules, &region).unwrap();
            (Box::new(cpu::remoteness::Remoteness::<u16>::new(rules, &region).unwrap()), Box::new(shader))
        };
    same(twin, shader, &format!("remoteness of {rules} ≤ {max}"));
}

/// Compares digests and counts of two backends, and the counts of a run of the second without reading bits back.
fn same(mut twin: Box<dyn Backend>, mut shader: Box<dyn Backend>, what: &str) {
    let expected = digest(&mut *twin);
    assert_eq!(digest(&mut *shader), expected, "{what}");
    let mut p_positions = 0;
    let mut visit = |stratum: &Stratum<'_>| {
        p_positions += stratum.p_positions;
        ControlFlow::Continue(())
    };
    shader.run(false, &mut visit).unwrap();
    assert_eq!(p_positions, expected.1, "{what}, counted");
}

#[test]
fn both_backends_agree_on_the_remoteness_of_four_heaps_to_60() {
    same_remoteness_on_both_backends(&Ruleset::exact_slow(4, 3).unwrap(), 60);
}

#[test]
fn both_backends_agree_on_the_remoteness_of_five_heaps_to_30() {
    same_remoteness_on_both_backends(&Ruleset::bounded_moore(5, 2).unwrap(), 30);
}

#[test]
fn both_backends_agree_on_the_remoteness_of_six_heaps_misere_to_18() {
    same_remoteness_on_both_backends(&Ruleset::exact_slow(6, 5).unwrap().with_misere(true), 18);
}

#[test]
fn both_backends_agree_on_remoteness_beyond_eight_bits() {
    same_remoteness_on_both_backends(&Ruleset::bounded_moore(3, 2).unwrap().with_misere(true), 120);
    same_remoteness_on_both_backends(&Ruleset::exact_slow(4, 2).unwrap(), 140);
}

#[test]
fn both_backends_agree_on_five_heaps_to_60() {
    same_on_both_backends(&Ruleset::bounded_moore(5, 2).unwrap(), 60);
}

#[test]
fn both_backends_agree_on_six_heaps_width_three_to_24() {
    same_on_both_backends(&Ruleset::bounded_moore(6, 3).unwrap(), 24);
}

#[test]
fn both_backends_agree_on_three_heaps_to_400() {
    same_on_both_backends(&Ruleset::bounded_moore(3, 2).unwrap(), 400);
}

#[test]
fn both_backends_agree_on_exact_slow_misere_to_80() {
    same_on_both_backends(&Ruleset::exact_slow(4, 2).unwrap().with_misere(true), 80);
}

#[test]
fn both_backends_agree_with_multiples_of_seven_forbidden() {
    let rules = Ruleset::bounded_moore(5, 3).unwrap().with_forbidden("7k".parse().unwrap());
    same_on_both_backends(&rules, 30);
}

#[test]
fn both_backends_agree_on_many_heaps() {
    for (heaps, width, max) in [(10, 3, 5), (11, 11, 3), (12, 2, 3), (13, 4, 2), (14, 14, 2)] {
        same_on_both_backends(&Ruleset::bounded_moore(heaps, width).unwrap(), max);
    }
}

/// Forbidden-Total-Size Nim with the multiples of `divisor` forbidden.
fn multiples_forbidden(heaps: u32, divisor: u32) -> Ruleset {
    Ruleset::forbidden_total_size(heaps).unwrap().with_forbidden(format!("{divisor}k").parse().unwrap())
}

#[test]
fn both_backends_agree_on_three_heaps_without_multiples_of_five() {
    same_on_both_backends(&multiples_forbidden(3, 5), 300);
}

#[test]
fn both_backends_agree_on_four_heaps_without_multiples_of_six() {
    same_on_both_backends(&multiples_forbidden(4, 6), 60);
}

#[test]
fn both_backends_agree_on_five_heaps_misere_without_multiples_of_seven() {
    same_on_both_backends(&multiples_forbidden(5, 7).with_misere(true), 24);
}

#[test]
fn both_backends_agree_on_two_heaps_without_multiples_of_twelve() {
    same_on_both_backends(&multiples_forbidden(2, 12), 5000);
}

#[test]
fn both_backends_agree_on_six_to_eight_heaps_of_nim() {
    for (heaps, max) in [(6, 9), (7, 6), (8, 5)] {
        same_on_both_backends(&multiples_forbidden(heaps, 3), max);
    }
}

#[test]
fn both_backends_agree_where_work_is_dealt_as_to_a_gpu() {
    let Some(context) = device() else { return };
    for (heaps, width, max, misere) in
        [(5, 2, 60, false), (5, 3, 30, true), (3, 2, 300, false), (7, 3, 12, true), (13, 13, 2, false)]
    {
        let rules = Ruleset::bounded_moore(heaps, width).unwrap().with_misere(misere);
        let region = Region::new(heaps, max).unwrap();
        let limits = Limits { as_gpu: true, ..Limits::default() };
        let shader = TakeOne::with_limits(context.clone(), &rules, &region, limits).unwrap();
        let twin = cpu::take_one::TakeOne::new(&rules, &region).unwrap();
        same(Box::new(twin), Box::new(shader), &format!("{rules} ≤ {max}"));
    }
}

#[test]
fn the_device_works_no_longer_than_the_host_waits() {
    let Some(context) = device() else { return };
    let (rules, region) = (Ruleset::bounded_moore(5, 2).unwrap(), Region::new(5, 40).unwrap());
    let nim = multiples_forbidden(4, 6);
    let kernels: [Box<dyn Backend>; 3] = [
        Box::new(TakeOne::new(context.clone(), &rules, &region).unwrap()),
        Box::new(Remoteness::<u8>::new(context.clone(), &rules, &region).unwrap()),
        Box::new(Sieve::new(context, &nim, &Region::new(4, 40).unwrap()).unwrap()),
    ];
    for mut kernel in kernels {
        kernel.run(true, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(kernel.kernel_time(), None, "nobody has asked for it");
        kernel.time_kernels().unwrap();
        assert!(kernel.kernel_time().is_none_or(|time| time.is_zero()));
        for bits in [false, true] {
            let (start, mut strata) = (Instant::now(), 0);
            let mut visit = |_: &Stratum<'_>| {
                strata += 1;
                ControlFlow::Continue(())
            };
            kernel.run(bits, &mut visit).unwrap();
            let waited = start.elapsed();
            assert!(strata > 100);
            match kernel.kernel_time() {
                Some(time) => assert!(!time.is_zero() && time <= waited, "{time:?} of {waited:?}"),
                None => eprintln!("not compared: the adapter tells no times"),
            }
        }
        kernel.restart().unwrap();
        assert!(kernel.kernel_time().is_none_or(|time| time.is_zero()));
    }
}

#[test]
fn density_maps_are_the_same_on_both_backends() {
    if device().is_none() {
        return;
    }
    let rules = Ruleset::bounded_moore(6, 2).unwrap();
    let region = Region::new(6, 30).unwrap();
    let mut bitmaps = Bitmaps(Vec::new());
    let mut visit = |stratum: &Stratum<'_>| {
        bitmaps.0.push(common::canonical(stratum));
        ControlFlow::Continue(())
    };
    cpu::take_one::TakeOne::new(&rules, &region).unwrap().run(true, &mut visit).unwrap();
    for axes in [[Coordinate::Heap(2), Coordinate::Heap(1)], [Coordinate::Heap(3), Coordinate::Total]] {
        let [twin, shader] = [BackendChoice::Cpu, BackendChoice::Gpu].map(|backend| {
            let options = Options { backend, ..Options::default() };
            Density::count(&bitmaps, &region, axes, &options, &mut |_| ControlFlow::Continue(())).unwrap()
        });
        assert!(twin.adapter().is_none() && shader.adapter().is_some());
        assert_eq!(shader.sums()[0], region.positions());
        assert!(common::counts(&twin) == common::counts(&shader), "{axes:?}");
    }
}
