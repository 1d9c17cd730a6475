//! Every published claim on its default regions, and claims that are wrong, refuted.

use std::ops::ControlFlow;

use nimstrata::observe::claims::{self, Outcome, Overrides};
use nimstrata::solver::{BackendChoice, Options};

fn check(name: &str, overrides: Overrides) -> Vec<Outcome> {
    let claim = claims::find(name).unwrap();
    let options = Options { backend: BackendChoice::Cpu, ..Options::default() };
    let cases = claim.cases(&overrides).unwrap();
    cases
        .iter()
        .map(|case| claim.check(case, &options, &mut |_| ControlFlow::Continue(())).unwrap())
        .collect()
}

fn holds_by_default(name: &str) {
    for outcome in check(name, Overrides::default()) {
        assert!(outcome.holds && outcome.violations == 0 && outcome.positions > 0, "{outcome:?}");
    }
}

/// The only outcome of a claim that is refuted.
fn refuted(name: &str, heaps: Option<u32>, max: u64, d: Option<u64>) -> Outcome {
    let mut outcomes = check(name, Overrides { heaps, max: Some(max), d, ..Overrides::default() });
    let outcome = outcomes.remove(0);
    assert!(!outcome.holds && outcome.violations > 0, "{outcome:?}");
    outcome
}

#[test]
fn nim_is_bouton_and_misere_nim_differs_only_in_ones() {
    holds_by_default("nim-bouton");
    holds_by_default("nim-misere");
}

#[test]
fn two_heaps_are_settled_for_every_divisor() {
    holds_by_default("fts-two-heaps");
}

#[test]
fn divisors_two_three_and_four_have_quotient_rules() {
    holds_by_default("fts-2");
    holds_by_default("fts-3");
    holds_by_default("fts-4");
}

#[test]
fn powers_of_two_reduce_to_misere_nim_for_three_heaps() {
    holds_by_default("fts-power-of-two");
}

#[test]
fn completions_are_unique_follow_the_mex_and_keep_their_bounds() {
    holds_by_default("fts-completion");
    holds_by_default("fts-mex");
    holds_by_default("fts-bounds");
}

#[test]
fn the_converse_of_the_upper_bound_is_reported_where_it_fails() {
    let outcome =
        check("fts-bounds", Overrides { d: Some(5), max: Some(3), ..Overrides::default() }).remove(0);
    assert!(outcome.holds);
    let note = outcome.note.unwrap();
    assert!(note.ends_with("first f(2,3) = 1"), "{note}");
}

#[test]
fn the_power_of_two_rule_fails_at_four_heaps() {
    let outcome = refuted("fts-power-of-two", Some(4), 7, Some(8));
    assert_eq!(outcome.counterexample.as_deref(), Some("(1,1,3,3)"));
    assert_eq!(outcome.region, "4 heaps up to 7, d = 8");
}

#[test]
fn quotient_rules_fail_for_five() {
    let thirds = refuted("fts-3", Some(3), 9, Some(5));
    let halves = refuted("fts-2", Some(3), 9, Some(5));
    // (1,1,1) can only go to (0,1,1), from which (0,0,1) wins.
    assert_eq!(thirds.counterexample.as_deref(), Some("(1,1,1)"));
    // (0,2,2) is in P1, not in P0.
    assert_eq!(halves.counterexample.as_deref(), Some("(0,2,2)"));
}

#[test]
fn where_nothing_can_move_the_two_heap_rule_fails_at_once() {
    let outcome = refuted("fts-two-heaps", None, 9, Some(1));
    assert_eq!(outcome.counterexample.as_deref(), Some("(0,1)"));
}

#[test]
fn unknown_claims_and_games_that_do_not_fit_are_refused() {
    let message = claims::find("fts-5").map(|_| ()).unwrap_err().to_string();
    assert!(
        message.starts_with(
            "no claim is called \"fts-5\"; did you mean fts-2, fts-3 or fts-4? check --list shows all"
        ),
        "{message}"
    );
    let message = claims::find("goldbach").map(|_| ()).unwrap_err().to_string();
    assert!(
        message.starts_with("no claim is called \"goldbach\"; there are: nim-bouton, nim-misere"),
        "{message}"
    );
    let with_d = Overrides { d: Some(3), ..Overrides::default() };
    let message = claims::find("nim-bouton").unwrap().cases(&with_d).unwrap_err().to_string();
    assert!(message.contains("leave --d out"), "{message}");
}

#[test]
fn the_m_rule_is_optimal_in_normal_play() {
    holds_by_default("m-rule");
}

#[test]
fn misere_exceptions_follow_the_closed_form() {
    for (heaps, max) in [(3, 120), (4, 60), (5, 30), (6, 20), (7, 14), (8, 10)] {
        let outcome = check(
            "misere-exceptions",
            Overrides { heaps: Some(heaps), max: Some(max), ..Overrides::default() },
        )
        .remove(0);
        assert!(outcome.holds && outcome.positions > 40_000, "{outcome:?}");
    }
}

#[test]
fn misere_exceptions_have_the_published_properties_and_families() {
    holds_by_default("misere-properties");
    holds_by_default("misere-even");
    holds_by_default("misere-one");
    holds_by_default("misere-odd");
}

#[test]
fn parity_words_settle_even_totals_of_exact_slow_nim_width_two() {
    holds_by_default("exact-even-words");
}

#[test]
fn claims_on_exact_slow_nim_refuse_games_they_say_nothing_about() {
    for (name, heaps, expected) in
        [("exact-even-words", 7, "it is about 3 to 6 heaps"), ("m-rule", 2, "it is about 3 heaps or more")]
    {
        let claim = claims::find(name).unwrap();
        let case = claims::Case { heaps, max: 5, d: None, width: None };
        let refused = claim.check(&case, &Options::default(), &mut |_| ControlFlow::Continue(()));
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn parity_words_settle_bounded_moore_where_they_are_said_to() {
    holds_by_default("words-five");
    holds_by_default("words-subspace");
    holds_by_default("words-six");
    holds_by_default("words-where");
    // All games of up to six heaps, and those of seven on which something is claimed.
    assert_eq!(claims::find("words-where").unwrap().cases(&Overrides::default()).unwrap().len(), 21 + 4);
}

#[test]
fn words_that_do_not_settle_are_counted_and_named() {
    let overrides = Overrides { heaps: Some(6), max: Some(7), width: Some(2), ..Overrides::default() };
    let five = check("words-five", overrides).remove(0);
    assert_eq!((five.violations, five.region.as_str()), (31, "6 heaps up to 7, width 2"));
    assert_eq!(five.counterexample.as_deref(), Some("000111 loses in 15 of 28 positions"));
    let outcome = check("words-where", overrides).remove(0);
    assert!(outcome.holds);
    assert_eq!(outcome.note.as_deref(), Some("33 of 64 words are uniform"));
}

#[test]
fn a_width_is_replaced_and_games_with_too_few_heaps_are_left_out() {
    let claim = claims::find("words-five").unwrap();
    let widths = |overrides: Overrides| {
        claim.cases(&overrides).unwrap().iter().map(|case| case.width.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(widths(Overrides { heaps: Some(3), max: Some(5), ..Overrides::default() }), [1, 2, 3]);
    assert_eq!(widths(Overrides { width: Some(4), max: Some(5), ..Overrides::default() }), [4]);
    let message =
        claim.cases(&Overrides { heaps: Some(15), ..Overrides::default() }).unwrap_err().to_string();
    assert!(message.starts_with("a game of 15 heaps is out of range"), "{message}");
}
