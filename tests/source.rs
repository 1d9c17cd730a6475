//! Commands that read a store instead of solving: the same answers, and what they refuse.
//!
//! No test here uses a GPU: the drivers are hidden from every run.

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use common::program::{process, refusal};
use nimstrata::completion;
use nimstrata::game::Ruleset;
use nimstrata::solver::{BackendChoice, Options, Quantity, Solver};
use nimstrata::space::Region;
use nimstrata::store::{Subject, Writer};
use serde_json::Value;

/// The program with these arguments, split at blanks; `@` stands for a folder.
fn nimstrata(arguments: &str, folder: &Path) -> Command {
    let name = folder.to_str().unwrap();
    let words = arguments.split_whitespace().map(|word| if word == "@" { name } else { word });
    Command::from_std(process(words))
}

/// The object that a run prints, whatever its exit code.
fn json(arguments: &str, folder: &Path) -> Value {
    let run = nimstrata(arguments, folder).arg("--json").assert();
    let errors = String::from_utf8_lossy(&run.get_output().stderr);
    assert!(errors.is_empty() || errors.starts_with("nimstrata: error: violated: "), "{arguments}: {errors}");
    serde_json::from_slice(&run.get_output().stdout).unwrap_or_else(|error| panic!("{arguments}: {error}"))
}

/// Asserts that a run prints nothing but this message, and ends with this code. `@` stands for the folder.
fn refuses(arguments: &str, folder: &Path, code: i32, message: &str) {
    let errors = refusal(nimstrata(arguments, folder).assert(), code);
    let expected = format!("nimstrata: error: {}", message.replace('@', folder.to_str().unwrap()));
    assert!(errors.starts_with(&expected), "{arguments}\nsaid     {errors}expected {expected}");
}

/// The object without what depends on the machine and on how it was found.
fn answer(mut object: Value) -> Value {
    let costs = [
        "backend",
        "adapter",
        "threads",
        "solve_seconds",
        "positions_per_second",
        "peak_memory_bytes",
        "seconds",
        "method",
    ];
    for cost in costs {
        object.as_object_mut().unwrap().remove(cost);
    }
    object
}

/// A store, and the game and region as they are typed.
struct Made {
    folder: tempfile::TempDir,
    path: PathBuf,
    game: &'static str,
    heaps: u32,
    typed: String,
}

#[derive(Clone, Copy)]
struct Game {
    /// Without heaps and cap.
    options: &'static str,
    rules: fn() -> Ruleset,
    max: u64,
    last: Option<u64>,
    quantity: Quantity,
}

/// Solves the first strata, at most so many, into a folder.
fn solve(path: &Path, subject: &Subject, most: u64) {
    let options = Options { quantity: subject.quantity, backend: BackendChoice::Cpu, ..Options::default() };
    let mut writer = Writer::open(path, subject.clone(), &mut |_| ControlFlow::Continue(())).unwrap();
    let mut solver = Solver::new(&subject.rules, &subject.region, &options).unwrap();
    let run = solver.run(&mut [&mut writer], &mut |progress| {
        if progress.strata >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match run {
        Ok(summary) => {
            writer.finish(&summary).unwrap();
        }
        Err(_) => writer.pause().unwrap(),
    }
}

impl Game {
    const fn new(options: &'static str, rules: fn() -> Ruleset, max: u64, quantity: Quantity) -> Self {
        Self { options, rules, max, last: None, quantity }
    }

    fn subject(&self) -> Subject {
        let rules = (self.rules)();
        let region = Region::new(rules.heaps, self.max).unwrap();
        let region = self.last.map_or(region.clone(), |last| region.up_to_total(last));
        Subject { rules, region, quantity: self.quantity }
    }

    fn make(&self) -> Made {
        let folder = tempfile::tempdir().unwrap();
        let (path, subject) = (folder.path().join("store"), self.subject());
        solve(&path, &subject, u64::MAX);
        let bound = self.last.map(|last| format!(" --up-to-total {last}")).unwrap_or_default();
        let heaps = subject.rules.heaps;
        let typed = format!("{} --heaps {heaps} --max {}{bound}", self.options, self.max);
        Made { folder, path, game: self.options, heaps, typed }
    }
}

fn fts(heaps: u32, forbid: &str) -> Ruleset {
    let rules = Ruleset::forbidden_total_size(heaps).unwrap();
    if forbid.is_empty() { rules } else { rules.with_forbidden(forbid.parse().unwrap()) }
}

fn exact(heaps: u32, width: u32) -> Ruleset {
    Ruleset::exact_slow(heaps, width).unwrap()
}

const MOORE: Game =
    Game::new("bounded-moore --width 2", || Ruleset::bounded_moore(5, 2).unwrap(), 9, Quantity::Verdict);
const NIM5: Game = Game::new("fts --forbid 5k", || fts(3, "5k"), 25, Quantity::Verdict);
const MISERE: Game =
    Game::new("exact-slow --width 3 --misere", || exact(4, 3).with_misere(true), 12, Quantity::Remoteness);
const NORMAL: Game = Game::new("exact-slow --width 3", || exact(4, 3), 12, Quantity::Remoteness);

/// Games of all kinds, normal and misère, of verdicts and of remoteness, and one that is bounded by a total.
fn games() -> Vec<Game> {
    vec![
        MOORE,
        NIM5,
        MISERE,
        Game {
            last: Some(20),
            ..Game::new(
                "exact-slow --width 2 --misere --forbid 7k+1",
                || exact(3, 2).with_misere(true).with_forbidden("7k+1".parse().unwrap()),
                11,
                Quantity::Verdict,
            )
        },
        Game::new("fts --misere", || fts(4, "").with_misere(true), 8, Quantity::Verdict),
        Game::new(
            "bounded-moore --width 1",
            || Ruleset::bounded_moore(1, 1).unwrap(),
            300,
            Quantity::Remoteness,
        ),
    ]
}

#[test]
fn a_census_of_a_store_is_that_of_its_game() {
    for made in games().iter().map(Game::make) {
        for more in ["", "--modulus 3"] {
            let solved = json(&format!("census {} {more}", made.typed), &made.path);
            for typed in ["", &*made.typed] {
                let read = json(&format!("census {typed} {more} --store @"), &made.path);
                assert_eq!(read["backend"], "store");
                assert!(read["positions_per_second"].as_f64().unwrap() > 0.0 && read["adapter"].is_null());
                assert_eq!(answer(read), answer(solved.clone()), "{}", made.typed);
            }
        }
    }
}

/// Changed data shows that nothing is solved.
#[test]
fn answers_come_from_the_data_of_the_store() {
    let made = MOORE.make();
    let data = made.path.join("verdict.npy");
    let mut bytes = fs::read(&data).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 16].iter_mut().for_each(|byte| *byte = !*byte);
    fs::write(&data, &bytes).unwrap();
    nimstrata("check words-five --store @", &made.path).assert().code(4);
    nimstrata("census --store @", &made.path).assert().code(4);
    assert_eq!(json(&format!("census {}", made.typed), &made.path)["p_positions"], 364);
}

#[test]
fn reports_name_the_store() {
    let made = MOORE.make();
    let run = nimstrata("census --store @ --threads 1 --quiet", &made.path).assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    let expected = format!("\nread from    {}, with 1 CPU thread\n", made.path.display());
    assert!(text.contains(&expected) && !text.contains("solved on"), "{text}");
}

#[test]
fn exceptions_of_a_store_are_those_of_its_game() {
    for made in [MISERE, NORMAL].iter().map(Game::make) {
        for more in ["", "--list", "--minimal"] {
            let solved = json(&format!("exceptions {} {more}", made.typed), &made.path);
            let read = json(&format!("exceptions --store @ {more}"), &made.path);
            assert_eq!(read["backend"], "store");
            assert_eq!(answer(read), answer(solved), "{} {more}", made.typed);
        }
        let list = |arguments: &str| {
            let run = nimstrata(arguments, &made.path).assert().success().stderr("");
            run.get_output().stdout.clone()
        };
        let solved = list(&format!("exceptions {} --list", made.typed));
        assert_eq!(list("exceptions exact-slow --heaps 4 --list --store @"), solved);
    }
}

#[test]
fn exceptions_need_remoteness_and_an_m_rule() {
    let made = Game { quantity: Quantity::Verdict, ..NORMAL }.make();
    refuses(
        "exceptions --store @",
        &made.path,
        2,
        "@ holds verdicts, and exceptions needs remoteness: a store of",
    );
    let made = Game::new("", || exact(4, 2), 6, Quantity::Remoteness).make();
    refuses(
        "exceptions --store @",
        &made.path,
        2,
        "the M-rule is about exact slow Nim with --width one less",
    );
}

#[test]
fn claims_are_checked_on_a_store_as_on_its_game() {
    let exact_six = Game::new("", || exact(5, 2), 10, Quantity::Remoteness);
    let moore_six = Game::new("", || Ruleset::bounded_moore(6, 2).unwrap(), 7, Quantity::Verdict);
    for (game, claim, numbers) in [
        (MOORE, "words-five", "--heaps 5 --max 9 --width 2"),
        (MOORE, "words-subspace", "--heaps 5 --max 9 --width 2"),
        (moore_six, "words-six", "--heaps 6 --max 7 --width 2"),
        (NORMAL, "m-rule", "--heaps 4 --max 12"),
        (MISERE, "misere-exceptions", "--heaps 4 --max 12"),
        (MISERE, "misere-properties", "--heaps 4 --max 12"),
        (MISERE, "misere-odd", "--heaps 4 --max 12"),
        (exact_six, "exact-even-words", "--heaps 5 --max 10"),
        (Game::new("", || fts(4, ""), 9, Quantity::Verdict), "nim-bouton", "--heaps 4 --max 9"),
        (Game::new("", || fts(2, "5k"), 40, Quantity::Verdict), "fts-two-heaps", "--heaps 2 --max 40 --d 5"),
        (Game::new("", || fts(4, "8k"), 7, Quantity::Verdict), "fts-power-of-two", "--heaps 4 --max 7 --d 8"),
        (Game::new("", || fts(4, "5k"), 9, Quantity::Verdict), "fts-completion", "--heaps 4 --max 9 --d 5"),
        (Game { max: 25, last: Some(49), ..NIM5 }, "fts-mex", "--heaps 3 --max 12 --d 5"),
        (NIM5, "fts-bounds", "--heaps 3 --max 12 --d 5"),
    ] {
        let made = game.make();
        let solved = json(&format!("check {claim} {numbers}"), &made.path);
        for typed in ["", numbers] {
            let read = json(&format!("check {claim} {typed} --store @"), &made.path);
            // Of completions all of the store is read, which can be more.
            for key in ["region", "holds", "violations", "counterexample"] {
                assert_eq!(read[key], solved[key], "{claim}: {key}");
            }
            assert_eq!(read["checks"].as_array().unwrap().len(), 1);
        }
    }
}

#[test]
fn claims_about_something_else_are_refused_with_the_reason() {
    let made = MOORE.make();
    let cannot = |claim: &str, reason: &str| {
        let message = format!("{claim} cannot be checked so: it is about {reason}");
        refuses(&format!("check {claim} --store @"), &made.path, 2, &message);
    };
    cannot("fts-3", "the multiples of d being forbidden, and @ holds 5 heaps, take 1 from each of 1..=2\n");
    cannot(
        "m-rule",
        "the remoteness of 5 heaps, take 1 from each of 4, every heap ≤ 9, and @ holds the verdict of",
    );
    cannot("misere-properties", "the remoteness of 5 heaps, take 1 from each of 4, misère");
    cannot("words-six", "6 heaps of width 2");
    refuses(
        "check words-five --max 10 --store @",
        &made.path,
        2,
        "@ holds 5 heaps up to 9, width 2, and 5 heaps up to 10",
    );
    let made = NIM5.make();
    refuses(
        "check fts-two-heaps --store @",
        &made.path,
        2,
        "fts-two-heaps cannot be checked so: it is about two heaps\n",
    );
    refuses(
        "check fts-mex --max 13 --store @",
        &made.path,
        2,
        "@ holds 3 heaps up to 12, d = 5, and 3 heaps up to 13",
    );
    let made = Game { last: Some(20), ..MOORE }.make();
    refuses(
        "check words-five --store @",
        &made.path,
        2,
        "words-five cannot be checked so: it is checked on all totals",
    );
}

#[test]
fn all_claims_are_checked_that_fit() {
    let made = MOORE.make();
    let all = json("check all --store @", &made.path);
    let claims = all["claims"].as_array().unwrap();
    let checked =
        claims.iter().filter(|claim| claim["holds"] == true).map(|claim| claim["claim"].as_str().unwrap());
    assert_eq!(checked.collect::<Vec<_>>(), ["words-five", "words-subspace", "words-where"]);
    let others = claims.iter().filter(|claim| claim["holds"].is_null());
    assert!(
        others.clone().count() == claims.len() - 3
            && others.clone().all(|claim| claim["not_checked"].is_string())
    );
}

#[test]
fn completions_are_read_from_a_store() {
    for game in [
        NIM5,
        Game::new("fts", || fts(3, ""), 20, Quantity::Verdict),
        Game::new("fts --misere --forbid 3k", || fts(3, "3k").with_misere(true), 24, Quantity::Verdict),
        Game::new("fts --forbid 4k", || fts(2, "4k"), 30, Quantity::Verdict),
        Game::new("fts", || fts(4, ""), 12, Quantity::Verdict),
    ] {
        let made = game.make();
        let read = json("completion --store @", &made.path);
        assert_eq!(read["method"], "store");
        let max = read["max"].as_u64().unwrap();
        let (rules, region) = ((game.rules)(), game.subject().region);
        let within = |max| {
            let needed = completion::region(&rules, max).unwrap().unwrap();
            needed.max() <= region.max() && needed.strata().end <= region.strata().end
        };
        assert!(max > 0 && within(max) && !within(max + 1), "{}: {max}", made.typed);
        let solved =
            json(&format!("completion {} --heaps {} --max {max}", made.game, made.heaps), &made.path);
        assert_eq!(answer(read), answer(solved), "{}", made.typed);
        let smaller = format!("--max {}", max / 2);
        let read =
            json(&format!("completion {} --heaps {} {smaller} --store @", made.game, made.heaps), &made.path);
        let solved = json(&format!("completion {} --heaps {} {smaller}", made.game, made.heaps), &made.path);
        assert_eq!(answer(read), answer(solved), "{}", made.typed);
        let refusal =
            format!("@ holds all completions up to --max {max}, and --max {} was asked for", max + 1);
        refuses(&format!("completion --max {} --store @", max + 1), &made.path, 2, &refusal);
    }
}

#[test]
fn completions_of_other_games_and_of_too_little_are_refused() {
    refuses(
        "completion --store @",
        &MOORE.make().path,
        2,
        "@ holds bounded-moore --heaps 5 --width 2 --max 9, and fts was",
    );
    let small = Game::new("fts", || fts(3, "0..50"), 5, Quantity::Verdict).make();
    let message = "@ holds too few positions for all completions of empty heaps, and any was asked for";
    refuses("completion --store @", &small.path, 2, message);
}

#[test]
fn positions_are_looked_up_in_a_store() {
    for game in games() {
        let made = game.make();
        let quantity = game.quantity;
        let all = game
            .subject()
            .region
            .strata()
            .flat_map(|total| game.subject().region.stratum(total).collect::<Vec<_>>());
        let all = all.collect::<Vec<_>>();
        for position in all.iter().step_by(all.len() / 12) {
            let sizes = position.sizes().iter().rev().map(u32::to_string).collect::<Vec<_>>().join(",");
            let line = if quantity == Quantity::Remoteness { "--line" } else { "" };
            let mut solved = json(&format!("query {} --position {sizes} {line}", made.game), &made.path);
            let mut read = json(&format!("query --position {sizes} {line} --store @"), &made.path);
            assert_eq!((&read["method"], &read["positions"]), (&"store".into(), &Value::Null));
            if quantity == Quantity::Verdict {
                // Solving finds remoteness where it can.
                for key in ["remoteness", "optimal_moves", "options"] {
                    assert!(read[key].is_null());
                    solved[key] = Value::Null;
                }
                for one in solved["winning_moves"].as_array_mut().unwrap() {
                    one["remoteness"] = Value::Null;
                }
            }
            solved["positions"] = Value::Null;
            // Where several moves are optimal, a line may go any of these ways.
            let turns = |object: &Value| object["line"].as_array().map(Vec::len);
            assert_eq!(turns(&read), turns(&solved));
            for object in [&mut solved, &mut read] {
                object.as_object_mut().unwrap().remove("line");
            }
            assert_eq!(answer(read), answer(solved), "{} {position}", made.typed);
        }
    }
}

#[test]
fn a_line_from_a_store_is_optimal_play() {
    let made = MISERE.make();
    let read = json("query --position 3,4,4,5 --line --store @", &made.path);
    let line = read["line"].as_array().unwrap();
    let remoteness = line.iter().map(|turn| turn["remoteness"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(remoteness, [5, 4, 3, 2, 1]);
    assert_eq!(line[4]["position"], serde_json::json!([0, 0, 0, 4]));
    let text = nimstrata("query --position 3,4,4,5 --line --store @", &made.path).assert().success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    assert!(
        text.ends_with(&format!(
            "no legal move: the player to move wins\nLooked up in {}.\n",
            made.path.display()
        )),
        "{text}"
    );
}

#[test]
fn positions_that_are_not_in_the_store_are_refused() {
    let made = MOORE.make();
    let not = |position: &str, shown: &str| {
        let message = format!("{shown} is not in @, which holds positions of 5 heaps, none above 9\n");
        refuses(&format!("query --position {position} --store @"), &made.path, 2, &message);
    };
    not("1,2,3,4,10", "(1,2,3,4,10)");
    not("5,4,2", "(2,4,5)");
    not("99999999999999999999,0,0,0,0", "(0,0,0,0,99999999999999999999)");
    let message =
        "@ holds verdicts, and --line needs remoteness: a store of `solve --quantity remoteness` has it";
    refuses("query --position 1,2,3,4,5 --line --store @", &made.path, 2, message);
    let made = Game { last: Some(20), ..MOORE }.make();
    let message =
        "(9,9,9,9,9) is not in @, which holds positions of 5 heaps, none above 9, of up to 20 in all\n";
    refuses("query --position 9,9,9,9,9 --store @", &made.path, 2, message);
    let message = "--line works with bounded-moore and exact-slow";
    refuses("query --position 1,2,3 --line --store @", &NIM5.make().path, 2, message);
}

#[test]
fn what_is_typed_must_be_in_the_store() {
    let made = MOORE.make();
    for typed in [
        "--heaps 4",
        "--width 3",
        "--max 10",
        "--up-to-total 20",
        "--misere",
        "--forbid 5k",
        "exact-slow",
        "fts",
        "--max 99999999999999999999",
    ] {
        let message =
            format!("@ holds bounded-moore --heaps 5 --width 2 --max 9, and {typed} was asked for; give");
        refuses(&format!("census {typed} --store @"), &made.path, 2, &message);
    }
    let message = "@ holds bounded-moore --heaps 5 --width 2 --max 9, and --misere was asked for";
    refuses("query --misere --position 1,2,3,4,5 --store @", &made.path, 2, message);
    refuses("census fts --width 2 --store @", &made.path, 2, "fts takes no --width");
}

#[test]
fn a_store_keeps_the_name_of_its_game() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    // Of one heap is both at most one and exactly one.
    json("solve exact-slow --heaps 3 --width 1 --max 5 --out @", &path);
    for (typed, name) in
        [("", "exact-slow"), ("exact-slow", "exact-slow"), ("bounded-moore", "bounded-moore")]
    {
        assert_eq!(json(&format!("census {typed} --store @"), &path)["game"], name);
    }
    let message = "@ holds exact-slow --heaps 3 --width 1 --max 5, and --misere was asked for";
    refuses("census --misere --store @", &path, 2, message);
    // It is the same game, and has all of it.
    json("solve bounded-moore --heaps 3 --width 1 --max 5 --out @", &path);
    assert_eq!(json("census --store @", &path)["game"], "exact-slow");
}

#[test]
fn forbidden_totals_may_be_written_in_other_ways() {
    let made = NIM5.make();
    for forbid in ["5k,10k", "0,5k+5,35", "10..10,20k,5k"] {
        let census = json(&format!("census fts --forbid {forbid} --store @"), &made.path);
        assert_eq!(census["forbid"], "5k", "{forbid}");
        // The store is there already, of the same game.
        json(&format!("solve fts --heaps 3 --forbid {forbid} --max 25 --out @"), &made.path);
    }
}

#[test]
fn nothing_else_is_said_where_nothing_is_solved() {
    let made = MOORE.make();
    for command in ["census", "exceptions", "check words-five", "query --position 1,2,3,4,5"] {
        for option in ["--backend cpu", "--adapter x"] {
            let message = "the argument '--store <DIR>' cannot be used with";
            let run =
                nimstrata(&format!("{command} --store @ {option}"), &made.path).assert().code(2).stdout("");
            let errors = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
            assert!(errors.contains(message), "{errors}");
        }
    }
    // Without a store the game is needed as before.
    let run = nimstrata("census", &made.path).assert().code(2);
    let errors = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        errors.contains("required arguments were not provided:\n  --heaps <N>\n  --max <CAP>\n"),
        "{errors}"
    );
}

#[test]
fn memory_is_bounded() {
    let made = Game { max: 30, ..MOORE }.make();
    refuses("census --store @ --memory 40k", &made.path, 3, "reading @ needs ");
}

const COMMANDS: [&str; 5] =
    ["census", "exceptions", "check words-five", "completion", "query --position 1,2,3,4,5"];

#[test]
fn stores_that_are_not_whole_are_refused() {
    let made = MOORE.make();
    let data = made.path.join("verdict.npy");
    let bytes = fs::read(&data).unwrap();
    fs::write(&data, &bytes[..bytes.len() - 1]).unwrap();
    let unfinished = made.folder.path().join("unfinished");
    solve(&unfinished, &MOORE.subject(), 10);
    for command in COMMANDS {
        let command = format!("{command} --store @");
        let run = nimstrata(&command, &made.path).assert().code(4).stdout("");
        assert!(
            String::from_utf8_lossy(&run.get_output().stderr).contains("verdict.npy is damaged: it has ")
        );
        refuses(&command, &unfinished, 2, "the store @ is not finished: it has ");
        refuses(&command, made.folder.path(), 2, "@ is no store: it has no manifest.json");
    }
}
