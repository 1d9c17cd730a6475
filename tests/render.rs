//! `nimstrata render`: pictures and density maps of stores, through the command line.
//!
//! No test here uses a GPU: the drivers are hidden from every run.

mod common;

use std::path::Path;

use common::program::Workshop;
use nimstrata::game::{Position, Ruleset};
use nimstrata::oracle;
use nimstrata::solver::Quantity;
use nimstrata::space::Region;
use serde_json::Value;

impl Workshop {
    /// Solves and stores who wins in a box.
    fn verdicts(rules: &Ruleset, max: u64) -> Self {
        let region = Region::new(rules.heaps, max).unwrap();
        Self::solving(rules, &region, Quantity::Verdict)
    }

    /// The object that a run with `--json` prints, and nothing else.
    fn render(&self, arguments: &str) -> Value {
        let run = self.run(&format!("render store {arguments} --json")).success().stderr("");
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    }

    /// Asserts that nothing is drawn, but this said, with this code.
    fn refuses(&self, arguments: &str, code: i32, message: &str) {
        self.refused(&format!("render store {arguments}"), code, message);
    }

    fn picture(&self, name: &str) -> Picture {
        Picture::read(&self.path(name))
    }
}

/// A picture's size, colours and text chunks.
struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
    texts: Vec<(String, String)>,
}

impl Picture {
    fn read(path: &Path) -> Self {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        let info = reader.info();
        let palette = info.palette.as_ref().unwrap();
        let colour = |&index: &u8| std::array::from_fn(|part| palette[3 * usize::from(index) + part]);
        let texts = info.utf8_text.iter();
        let texts = texts.map(|text| (text.keyword.clone(), text.get_text().unwrap())).collect();
        Self { width: info.width as usize, pixels: bytes.iter().map(colour).collect(), texts }
    }

    fn text(&self, keyword: &str) -> &str {
        let found = self.texts.iter().find(|(name, _)| name == keyword);
        &found.unwrap_or_else(|| panic!("no {keyword} chunk")).1
    }

    /// How many pixels have a colour.
    fn count(&self, colour: [u8; 3]) -> usize {
        self.pixels.iter().filter(|&&pixel| pixel == colour).count()
    }

    /// The first column and the last row in which a colour is found.
    fn corner(&self, colour: [u8; 3]) -> (usize, usize) {
        let found = || (0..self.pixels.len()).filter(|&at| self.pixels[at] == colour);
        (found().map(|at| at % self.width).min().unwrap(), found().map(|at| at / self.width).max().unwrap())
    }
}

/// Nim with this many heaps.
fn nim(heaps: u32) -> Ruleset {
    Ruleset::forbidden_total_size(heaps).unwrap()
}

const N: [u8; 3] = [232, 232, 232];
const P1: [u8; 3] = [0, 90, 178];
const P0: [u8; 3] = [230, 90, 0];
const NO_POSITION: [u8; 3] = [150, 150, 150];

#[test]
fn a_slice_of_nim_is_what_nim_says() {
    let workshop = Workshop::verdicts(&nim(3), 7);
    let report = workshop.render("--fix 0 --out a.png");
    assert_eq!(report["files"], serde_json::json!(["a.png"]));
    assert_eq!((&report["slices"], &report["game"]), (&Value::from(1), &Value::from("fts")));
    let picture = workshop.picture("a.png");
    // (x,y,0) is P where x = y: 8 of 64 squares of 64 x 64 pixels, and a box of 16 x 16 in the key.
    assert_eq!((picture.count(P1), picture.count(N)), (8 * 64 * 64 + 256, 56 * 64 * 64 + 256));
    // (0,0,0) is in the lower left corner.
    let [width, (left, bottom)] = [(picture.width, 0), picture.corner(P1)];
    assert_eq!(picture.corner(N), (left, bottom));
    assert_eq!(picture.pixels[bottom * width.0 + left], P1);
    assert_eq!(picture.text("Command"), "nimstrata render store --fix 0 --out a.png");
    assert_eq!(picture.text("Ruleset"), "fts --heaps 3 --max 7");
    assert!(picture.text("Description").starts_with("P-positions of the form (x,y,0)"));
}

#[test]
fn forbidden_totals_have_a_colour_of_their_own() {
    let rules = nim(2).with_forbidden("2k".parse().unwrap());
    let verdicts = oracle::verdicts(&rules, &Region::new(2, 3).unwrap());
    let workshop = Workshop::verdicts(&rules, 3);
    workshop.render("--out a.png");
    let picture = workshop.picture("a.png");
    let (square, box_of_key) = (128 * 128, 256);
    let is_p = |&(x, y): &(u32, u32)| verdicts[&Position::new(vec![x, y])];
    let all = || (0..4).flat_map(|x| (0..4).map(move |y| (x, y))).filter(is_p);
    let even = all().filter(|(x, y)| (x + y) % 2 == 0).count();
    assert!(even > 0 && all().count() > even);
    assert_eq!(picture.count(P0), even * square + box_of_key);
    assert_eq!(picture.count(P1), (all().count() - even) * square + box_of_key);
}

#[test]
fn slices_stand_on_one_sheet() {
    let workshop = Workshop::solving(
        &Ruleset::exact_slow(4, 3).unwrap(),
        &Region::new(4, 9).unwrap(),
        Quantity::Remoteness,
    );
    let report = workshop.render("--fix 2,0..3 --fix 5,5 --max 6 --out a.png --out b.png");
    assert_eq!(report["files"], serde_json::json!(["a.png", "b.png"]));
    assert_eq!((&report["slices"], &report["quantity"]), (&Value::from(5), &Value::from("remoteness")));
    let picture = workshop.picture("b.png");
    assert_eq!(picture.text("Command"), "nimstrata render store --fix 2,0..3 --fix 5,5 --max 6 --out b.png");
    assert!(picture.text("Description").contains("(x,y,2,0), (x,y,2,1), (x,y,2,2), (x,y,2,3), (x,y,5,5)"));
    assert!(picture.text("Ruleset").starts_with("exact-slow --heaps 4 --width 3 --max 9"));
}

#[test]
fn a_bounded_total_leaves_a_corner_out() {
    let workshop = Workshop::solving(
        &Ruleset::bounded_moore(3, 2).unwrap(),
        &Region::new(3, 7).unwrap().up_to_total(9),
        Quantity::Verdict,
    );
    workshop.render("--fix 1 --out a.png");
    let picture = workshop.picture("a.png");
    let inside = (0..8).flat_map(|x| (0..8).filter(move |y| x + y <= 8)).count();
    assert_eq!(picture.count(P1) + picture.count(N), inside * 64 * 64 + 2 * 256);
    assert_eq!(picture.text("Ruleset"), "bounded-moore --heaps 3 --width 2 --max 7 --up-to-total 9");
}

#[test]
fn a_density_map_is_drawn_and_written_as_numbers() {
    let workshop = Workshop::verdicts(&nim(2), 3);
    let report = workshop.render("--density 2,total --out d.png --out d.npy");
    assert_eq!(report["files"], serde_json::json!(["d.png", "d.npy"]));
    assert_eq!(report["density"], serde_json::json!(["2", "total"]));
    assert_eq!((&report["positions"], &report["p_positions"]), (&Value::from(10), &Value::from(4)));
    assert_eq!((&report["backend"], &report["adapter"]), (&Value::from("cpu"), &Value::Null));
    // The smaller of two heaps by their total: 10 of 28 cells have a position.
    let picture = workshop.picture("d.png");
    let square = 512 / 7 * (512 / 7);
    assert_eq!(picture.count(NO_POSITION), 18 * square + 256);
    let file = workshop.read("d.npy");
    assert!(file[10..].starts_with(b"{'descr': '<f2', 'fortran_order': False, 'shape': (4, 7), }"));
    assert_eq!(file.len(), 128 + 2 * 28);
    let one = half::f16::ONE.to_le_bytes();
    // (0,0), (1,1), (2,2), (3,3).
    assert!([0, 9, 18, 27].iter().all(|&cell| file[128 + 2 * cell..][..2] == one));
}

#[test]
fn remoteness_and_verdicts_have_the_same_density() {
    let rules = Ruleset::exact_slow(4, 2).unwrap().with_misere(true).with_forbidden("3k".parse().unwrap());
    let maps = [Quantity::Verdict, Quantity::Remoteness].map(|quantity| {
        let workshop = Workshop::solving(&rules, &Region::new(4, 8).unwrap(), quantity);
        workshop.render("--density 4,1 --out d.npy");
        workshop.read("d.npy")
    });
    assert_eq!(maps[0], maps[1]);
}

#[test]
fn what_no_slice_is_is_refused() {
    let three = Workshop::verdicts(&nim(3), 20);
    three.refuses(
        "--out a.png",
        2,
        "two of the 3 heaps vary in a slice: give sizes for the others, such as --fix 0, or",
    );
    for (fix, message) in [
        (
            "1,2",
            "--fix 1,2 is no slice of the store: two of its 3 heaps vary, so it takes 1 size, such as 0, and not 2\n",
        ),
        ("21", "--fix 21 is no slice of the store: its heaps go up to 20\n"),
        (
            "0..99999999999999999999",
            "--fix 0..99999999999999999999 is no slice of the store: its heaps go up to 20\n",
        ),
        ("x", "invalid value 'x' for '--fix <SIZES>': not a whole number"),
        ("5..3", "invalid value '5..3' for '--fix <SIZES>': the range 5..3 is empty"),
        ("-1", "invalid value '-1' for '--fix <SIZES>': it cannot be negative"),
    ] {
        three.refuses(&format!("--fix {fix} --out a.png"), 2, message);
    }
    let two = Workshop::verdicts(&nim(2), 20);
    two.refuses(
        "--fix 1 --out a.png",
        2,
        "--fix 1 is no slice of the store: its positions have 2 heaps, which both vary; leave it out\n",
    );
    let one = Workshop::verdicts(&nim(1), 20);
    one.refuses("--out a.png", 2, "a slice shows two heaps and the store has 1; --density 1,total works\n");
    one.render("--density 1,total --out a.png");
    let low = Workshop::solving(&nim(5), &Region::new(5, 9).unwrap().up_to_total(20), Quantity::Verdict);
    low.refuses(
        "--fix 8,8,8 --out a.png",
        2,
        "--fix 8,8,8 is no slice of the store: its totals go up to 20, and these heaps have up to 24 stones\n",
    );
}

#[test]
fn what_no_coordinate_is_is_refused() {
    let workshop = Workshop::verdicts(&nim(3), 5);
    for (density, message) in [
        (
            "1,4",
            "--density 4 is no coordinate here: give 1 (the largest heap) to 3 (the smallest), or total\n",
        ),
        ("1", "invalid value '1' for '--density <C,C>': give two coordinates, such as 1,2 or 2,total"),
        ("0,1", "invalid value '0,1' for '--density <C,C>': heaps are numbered from 1, the largest"),
    ] {
        workshop.refuses(&format!("--density {density} --out a.png"), 2, message);
    }
    workshop.refuses(
        "--density 1,2 --fix 3 --out a.png",
        2,
        "the argument '--density <C,C>' cannot be used with",
    );
}

#[test]
fn names_that_cannot_be_written_are_refused() {
    let workshop = Workshop::verdicts(&nim(3), 5);
    let ending = "cannot tell what kind of file";
    workshop.refuses(
        "--fix 1 --out a.npy",
        2,
        &format!("{ending} a.npy should be: give it a name that ends in .png\n"),
    );
    workshop.refuses(
        "--density 1,2 --out a.txt",
        2,
        &format!("{ending} a.txt should be: give it a name that ends in .png or .npy\n"),
    );
    std::fs::create_dir(workshop.path("folder.png")).unwrap();
    workshop.refuses(
        "--fix 1 --out folder.png",
        2,
        "folder.png is not overwritten: it is there and is no file; give another name\n",
    );
    workshop.refuses("--fix 1 --out nowhere/a.png", 2, "writing nowhere/a.png: No such file");
    workshop.refuses("--fix 1", 2, "the following required arguments were not provided");
}

#[test]
fn pictures_too_large_to_be_looked_at_are_refused() {
    let workshop = Workshop::verdicts(&nim(2), 20_000);
    workshop.refuses("--out a.png", 2, "the picture would be more than 20001 x 20001 pixels large, and up to 16384 each way are drawn; a smaller --max works\n");
    workshop.refuses("--density 1,2 --out a.png", 2, "the picture would be more than 20001 x 20001 pixels large, and up to 16384 each way are drawn; --out to an .npy file works\n");
    workshop.render("--max 99 --out a.png");
    let sheet = Workshop::verdicts(&nim(3), 600);
    sheet.refuses(
        "--fix 0..600 --fix 0..400 --out a.png",
        2,
        "the picture would be more than 19232 x 19232 pixels",
    );
    let many = "--fix 0..600 --fix 0..600 is no slice of the store: it is 1,202 slices, and a sheet has up to 1024\n";
    sheet.refuses("--fix 0..600 --fix 0..600 --out a.png", 2, many);
}
