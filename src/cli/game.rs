//! Which game and which region were asked for.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use nimstrata::game::{ForbiddenTotals, Ruleset, Take};
use nimstrata::solver::SolvedBefore;
use nimstrata::space::Region;
use nimstrata::store::Store;
use nimstrata::{Error, Result};

use super::figures::counted;
use super::number::{self, Cap};

/// The games of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Bounded Moore's Nim: take one stone from each of 1 to K heaps
    BoundedMoore,
    /// Exact slow Nim: take one stone from each of exactly K heaps
    ExactSlow,
    /// Forbidden-Total-Size Nim: take any number of stones from one heap; plain Nim without --forbid
    Fts,
}

impl GameName {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::BoundedMoore => "bounded-moore",
            Self::ExactSlow => "exact-slow",
            Self::Fts => "fts",
        }
    }

    /// The name in a sentence, of the game with these rules.
    pub fn title(self, rules: &Ruleset) -> &'static str {
        match self {
            Self::BoundedMoore => "bounded Moore's Nim",
            Self::ExactSlow => "exact slow Nim",
            Self::Fts if rules.forbidden.is_empty() => "Nim",
            Self::Fts => "Forbidden-Total-Size Nim",
        }
    }

    /// Whether rules, but for what is forbidden and who wins at the end, are this game's.
    fn fits(self, rules: &Ruleset) -> bool {
        let one = matches!(rules.take, Take::One | Take::UpTo(1));
        match self {
            Self::BoundedMoore => one && rules.touch_least == 1,
            Self::ExactSlow => one && rules.touch_least == rules.touch_most,
            Self::Fts => !one,
        }
    }

    /// The rules, still without forbidden totals and in normal play.
    pub fn rules(self, heaps: u32, width: Option<u32>) -> Result<Ruleset> {
        let needed = || width.ok_or(Error::WidthMissing { game: self.name(), heaps });
        match (self, width) {
            (Self::BoundedMoore, _) => Ruleset::bounded_moore(heaps, needed()?),
            (Self::ExactSlow, _) => Ruleset::exact_slow(heaps, needed()?),
            (Self::Fts, None) => Ruleset::forbidden_total_size(heaps),
            (Self::Fts, Some(_)) => Err(Error::WidthGiven { game: self.name() }),
        }
    }
}

/// A game with its rules.
pub struct Game {
    /// Its name.
    pub name: GameName,
    /// The width that was given, if the game has one.
    pub width: Option<u32>,
    /// Its rules.
    pub rules: Ruleset,
}

impl Game {
    /// The game with these rules. What has no name of its own goes by that of the nearest one.
    pub fn of(rules: Ruleset) -> Self {
        let (name, width) = match (rules.take, rules.touch_least) {
            (Take::Any | Take::UpTo(2..), _) => (GameName::Fts, None),
            (_, 1) => (GameName::BoundedMoore, Some(rules.touch_most)),
            _ => (GameName::ExactSlow, Some(rules.touch_most)),
        };
        Self { name, width, rules }
    }

    /// The game of a store, by the name that it was stored under.
    pub fn stored(store: &Store) -> Self {
        let game = Self::of(store.rules().clone());
        let name = GameName::from_str(store.game(), false).ok().filter(|name| name.fits(&game.rules));
        Self { name: name.unwrap_or(game.name), ..game }
    }

    /// The game and a region of it, as they are given on the command line.
    pub fn options(&self, region: &Region) -> String {
        let width = self.width.map(|width| format!(" --width {width}")).unwrap_or_default();
        let forbid = self.forbid().map(|forbid| format!(" --forbid {forbid}")).unwrap_or_default();
        let misere = if self.rules.misere { " --misere" } else { "" };
        let (name, heaps, max) = (self.name.name(), region.heaps(), region.max());
        let last = region.strata().end - 1;
        let bound = if last < heaps * max { format!(" --up-to-total {last}") } else { String::new() };
        format!("{name} --heaps {heaps}{width}{forbid}{misere} --max {max}{bound}")
    }

    /// The rules in words.
    pub fn words(&self) -> String {
        let rules = &self.rules;
        let heaps = |count: u32| counted(count.into(), "heap");
        let touched = match (rules.touch_least, rules.touch_most) {
            (1, 1) => "1 heap".to_owned(),
            (least, most) if least == most => format!("each of {}", heaps(most)),
            (least, most) => format!("each of {least} to {}", heaps(most)),
        };
        let take = match rules.take {
            Take::One => "1".to_owned(),
            Take::UpTo(most) => format!("1 to {most}"),
            Take::Any => "any number".to_owned(),
        };
        let misere = if rules.misere { ", misère" } else { "" };
        let forbidden = if rules.forbidden.is_empty() {
            String::new()
        } else {
            format!(", no move arrives at totals {}", rules.forbidden)
        };
        let title = self.name.title(rules);
        format!("{title}, {}, taking {take} from {touched}{misere}{forbidden}", heaps(rules.heaps))
    }

    /// Whether a move takes one stone from each heap it touches, so that remoteness can be solved.
    pub fn takes_one(&self) -> bool {
        matches!(self.rules.take, Take::One | Take::UpTo(1))
    }

    /// The forbidden totals as they are written, if there are any.
    pub fn forbid(&self) -> Option<String> {
        (!self.rules.forbidden.is_empty()).then(|| self.rules.forbidden.to_string())
    }
}

/// The rules as they were typed, but for the number of heaps.
#[derive(clap::Args)]
pub struct RulesArgs {
    #[arg(value_enum)]
    game: GameName,
    /// How many different heaps a move touches (bounded-moore: at most, exact-slow: exactly, fts: leave it out)
    #[arg(long, value_name = "K", value_parser = number::count, allow_hyphen_values = true)]
    width: Option<u32>,
    #[command(flatten)]
    variant: VariantArgs,
}

impl RulesArgs {
    /// The game with this many heaps.
    pub fn game(&self, heaps: u32) -> Result<Game> {
        self.variant.game(self.game, heaps, self.width)
    }
}

/// What every game can be varied by, as it was typed.
#[derive(clap::Args)]
pub struct VariantArgs {
    /// Totals at which no move may arrive: a union of 7, 3..9, 5k and 5k+2, such as 0,7,10..20
    #[arg(long, value_name = "SET", allow_hyphen_values = true)]
    forbid: Option<String>,
    /// Misère play: the player without a legal move wins
    #[arg(long)]
    misere: bool,
}

impl VariantArgs {
    /// The variant of a game.
    pub fn game(&self, name: GameName, heaps: u32, width: Option<u32>) -> Result<Game> {
        let forbidden = self.forbid.as_deref().map_or(Ok(ForbiddenTotals::default()), str::parse)?;
        let rules = name.rules(heaps, width)?.with_forbidden(forbidden).with_misere(self.misere);
        Ok(Game { name, width, rules })
    }

    /// What was typed, for comparing it with a store.
    pub fn typed(&self) -> Typed<'_> {
        Typed { forbid: self.forbid.as_deref(), misere: self.misere, ..Typed::default() }
    }
}

/// A game and a region of its positions, as they were typed.
#[derive(clap::Args)]
pub struct GameArgs {
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    region: RegionArgs,
}

impl GameArgs {
    /// The game and the region, validated.
    pub fn validated(&self) -> Result<(Game, Region)> {
        let game = self.rules.game(self.region.heaps)?;
        Ok((game, self.region.validated()?))
    }
}

/// A region, as it was typed.
#[derive(clap::Args)]
pub struct RegionArgs {
    /// How many heaps, 1 to 14
    #[arg(long, value_name = "N", display_order = 0, value_parser = number::count, allow_hyphen_values = true)]
    pub heaps: u32,
    /// The greatest size of a heap
    #[arg(long, value_name = "CAP", value_parser = number::cap, allow_hyphen_values = true)]
    max: Cap,
    /// The greatest total of all heaps together, which also bounds each of them [default: no bound]
    #[arg(long, value_name = "T", value_parser = number::total, allow_hyphen_values = true)]
    up_to_total: Option<u64>,
}

impl RegionArgs {
    /// The region, validated; the number of heaps must have been.
    pub fn validated(&self) -> Result<Region> {
        // No heap is larger than the total.
        let max = self.max.value.min(self.up_to_total.unwrap_or(u64::MAX));
        let region = Region::new(self.heaps, max).map_err(|error| match error {
            Error::Region { heaps, largest, .. } => {
                Error::Region { heaps, max: self.max.text.clone(), largest }
            }
            other => other,
        })?;
        Ok(self.up_to_total.map_or(region.clone(), |total| region.up_to_total(total)))
    }
}

/// Where to read from instead of solving, as it was typed.
#[derive(clap::Args)]
pub struct SourceArgs {
    /// Read a store that `nimstrata solve --out` has written instead of solving; what it holds need not be said again
    #[arg(long, value_name = "DIR", conflicts_with_all = ["backend", "adapter"])]
    pub store: Option<PathBuf>,
}

impl SourceArgs {
    /// The store, opened.
    pub fn open(&self) -> Result<Option<Arc<Store>>> {
        self.store.as_deref().map(|path| Store::open(path).map(Arc::new)).transpose()
    }
}

/// The rules as they were typed, which a store has, too.
#[derive(clap::Args)]
pub struct StoredRulesArgs {
    #[arg(value_enum, required_unless_present = "store")]
    game: Option<GameName>,
    /// How many different heaps a move touches (bounded-moore: at most, exact-slow: exactly, fts: leave it out)
    #[arg(long, value_name = "K", value_parser = number::count, allow_hyphen_values = true)]
    width: Option<u32>,
    #[command(flatten)]
    variant: VariantArgs,
}

impl StoredRulesArgs {
    /// The game with this many heaps, where there is no store.
    pub fn game(&self, heaps: u32) -> Result<Game> {
        self.variant.game(self.game.expect("required without a store"), heaps, self.width)
    }

    /// What was typed, for comparing it with a store.
    pub fn typed(&self) -> Typed<'_> {
        Typed { name: self.game, width: self.width, ..self.variant.typed() }
    }
}

/// A region as it was typed, which a store has, too.
#[derive(clap::Args)]
pub struct StoredRegionArgs {
    /// How many heaps, 1 to 14
    #[arg(long, value_name = "N", display_order = 0, required_unless_present = "store")]
    #[arg(value_parser = number::count, allow_hyphen_values = true)]
    heaps: Option<u32>,
    /// The greatest size of a heap
    #[arg(long, value_name = "CAP", required_unless_present = "store")]
    #[arg(value_parser = number::cap, allow_hyphen_values = true)]
    max: Option<Cap>,
    /// The greatest total of all heaps together, which also bounds each of them [default: no bound]
    #[arg(long, value_name = "T", value_parser = number::total, allow_hyphen_values = true)]
    up_to_total: Option<u64>,
}

impl StoredRegionArgs {
    /// The region, not yet validated, where there is no store.
    pub fn region(&self) -> RegionArgs {
        RegionArgs {
            heaps: self.heaps.expect("required without a store"),
            max: self.max.clone().expect("required without a store"),
            up_to_total: self.up_to_total,
        }
    }

    /// Adds the region to what was typed.
    pub fn added_to<'a>(&'a self, typed: Typed<'a>) -> Typed<'a> {
        Typed { heaps: self.heaps, max: self.max.as_ref(), up_to_total: self.up_to_total, ..typed }
    }
}

/// A game and a region, as they were typed, or the store that has them.
#[derive(clap::Args)]
pub struct StoredArgs {
    #[command(flatten)]
    rules: StoredRulesArgs,
    #[command(flatten)]
    region: StoredRegionArgs,
    #[command(flatten)]
    source: SourceArgs,
}

impl StoredArgs {
    /// The game and the region, validated, and the store that they are read from.
    pub fn validated(&self) -> Result<(Game, Region, Option<Arc<Store>>)> {
        let Some(store) = self.source.open()? else {
            let region = self.region.region();
            return Ok((self.rules.game(region.heaps)?, region.validated()?, None));
        };
        let game = self.region.added_to(self.rules.typed()).agreeing_with(&store)?;
        let region = store.region().clone();
        Ok((game, region, Some(store)))
    }
}

/// What was typed of a game and a region that a store has.
#[derive(Clone, Copy, Default)]
pub struct Typed<'a> {
    pub name: Option<GameName>,
    pub heaps: Option<u32>,
    pub width: Option<u32>,
    pub forbid: Option<&'a str>,
    pub misere: bool,
    pub max: Option<&'a Cap>,
    pub up_to_total: Option<u64>,
}

impl Typed<'_> {
    /// The game of a store, by the name that was typed; refused where anything typed is otherwise there.
    pub fn agreeing_with(&self, store: &Store) -> Result<Game> {
        let stored = Game::stored(store);
        if let (Some(GameName::Fts), Some(_)) = (self.name, self.width) {
            return Err(Error::WidthGiven { game: GameName::Fts.name() });
        }
        let forbidden = self.forbid.map(str::parse::<ForbiddenTotals>).transpose()?;
        let rules = &stored.rules;
        let same_game = self.name.is_none_or(|name| name.fits(rules))
            && self.heaps.is_none_or(|heaps| heaps == rules.heaps)
            && self.width.is_none_or(|width| stored.width == Some(width))
            && forbidden.is_none_or(|forbidden| forbidden == rules.forbidden)
            && (rules.misere || !self.misere);
        if same_game && self.has_region(store.region()) {
            return Ok(Game { name: self.name.unwrap_or(stored.name), ..stored });
        }
        let there = stored.options(store.region());
        Err(Error::OtherStore { path: store.name().into(), there, wanted: self.text() })
    }

    /// Whether the region that was typed is this one. A bound on the total bounds each heap, too.
    fn has_region(&self, region: &Region) -> bool {
        let last = region.strata().end - 1;
        let bound = self.up_to_total.or(region.bound().map(u64::from)).unwrap_or(u64::MAX);
        self.max.is_none_or(|max| max.value.min(bound) == u64::from(region.max()))
            && self.up_to_total.is_none_or(|total| {
                total.min(u64::from(region.heaps()) * u64::from(region.max())) == u64::from(last)
            })
    }

    /// The options that were typed.
    fn text(&self) -> String {
        let option = |name: &str, value: Option<String>| value.map(|value| format!("--{name} {value}"));
        let parts = [
            self.name.map(|name| name.name().to_owned()),
            option("heaps", self.heaps.map(|heaps| heaps.to_string())),
            option("width", self.width.map(|width| width.to_string())),
            option("forbid", self.forbid.map(str::to_owned)),
            self.misere.then(|| "--misere".to_owned()),
            option("max", self.max.map(|max| max.text.clone())),
            option("up-to-total", self.up_to_total.map(|total| total.to_string())),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}
