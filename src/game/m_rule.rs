//! The M-rule of exact slow Nim NIM(n, n−1), and the length of its play in closed form.
//!
//! A move of NIM(n, n−1), n ≥ 2, takes one stone from every heap but one, which it **keeps**. It exists when at
//! most one heap is empty. The **M-rule** (Gurvich, Martynov, Maximchuk, Vyalyi, *On remoteness functions of exact
//! slow k-NIM with k+1 piles*, arXiv:2304.06498) keeps
//!
//! - a largest heap if all heaps are odd,
//! - otherwise a smallest even heap (0 is even),
//!
//! and the strict M-rule, used here, among equal candidates the one with the largest index, so that sorted sizes
//! stay sorted. M(x) is the number of moves from x to the end when every move is an M-move. In normal play the
//! M-move is optimal, as its authors prove, so M(x) is the remoteness, and x is a P-position exactly when M(x) is
//! even. They compute M(x) by an algorithm; the closed form below is derived here.
//!
//! # M(x) for heaps of any size
//!
//! Let z₁ ≤ … ≤ zₙ be the **levels** ⌊x/2⌋ of the heaps, W(L) = Σ max(0, L − zᵢ), and suppose that some heap is
//! even. Then
//!
//! - T = min over m = 2 … n of ⌊(z₁ + … + zₘ) / (m − 1)⌋,
//! - r = T − W(T), which is never negative,
//! - e = the number of even heaps with level at most T,
//! - **M(x) = 2T if e ≥ r + 2, otherwise 2T + 1.**
//!
//! If all heaps are odd, M(x) = 1 + M of the position after the M-move, which has the same levels.
//!
//! For n heaps of b bits, already sorted, this takes at most 2n additions and n − 1 divisions by a machine word, of
//! numbers of at most b + log n bits: O(n·(b + log n)) bit operations and as much memory. No loop runs over moves.
//!
//! # Why
//!
//! Let A be the even heaps and B the odd ones, a and b their lowest levels. A level falls when an even heap loses
//! a stone.
//!
//! 1. *Two M-moves keep one lowest level and lower every other by one.* The first keeps an even heap of level a;
//!    the other even heaps lose a level and become odd, the odd heaps become even on their level. Now the even
//!    heaps are the kept one and those of B, so the second move keeps the kept one again if a ≤ b, and one of B of
//!    level b if b < a; the other even heaps lose a level. After both, the heaps not kept are back in their class,
//!    one level lower. If b < a the two chosen heaps have changed places: that of level b is in A, that of level a
//!    is in B, one level lower.
//! 2. *So play is water poured into a vessel.* Add to each level the number of double moves made so far. Then a
//!    double move raises one lowest of these numbers by one and leaves the others. After T double moves with
//!    W(L) ≤ T < W(L + 1) the lowest number is L, and W(L + 1) − T numbers are equal to it.
//! 3. *The classes may be taken as fixed, with A first among equals.* While a ≤ b, the number raised is the lowest
//!    of A. If b < a, A gets b + 1 for a, and B gets a for b. After the first double move a ≤ b + 1, and that
//!    remains; and if a = b + 1 such an exchange is the same as raising b in B. Only the first double move can
//!    find a > b + 1.
//! 4. *Where it ends.* With at most one level 0 two more moves exist. With two levels 0 the play is over if two of
//!    them are even heaps, which are then empty; otherwise it ends with the next move, which empties all odd heaps
//!    of level 0 and keeps an even heap. So M = 2T or 2T + 1, where T is the first number of double moves after
//!    which two of the numbers equal T (they are never below it before). By 2 that is the least T with
//!    W(T + 1) − T ≥ 2. As W(L) is the greatest of mL − (z₁ + … + zₘ) over m = 0 … n, the inequality says that
//!    (m − 1)(T + 1) > z₁ + … + zₘ for some m ≥ 2, which gives the minimum above.
//! 5. *Which of the two.* W(T) ≤ T, since T is least. The last r double moves have raised r numbers from T to
//!    T + 1, those of A first, so max(0, e − r) even heaps have level 0. (An exchange with a > b + 1 at the start
//!    changes e only if a > T, from 0 to at most 1, and both are below r + 2.)

use num_bigint::BigUint;

use super::{BigPosition, Position};

/// The index of the heap that the strict [M-move](self) keeps, in the sorted sizes. `None` without a legal move.
#[must_use]
pub fn m_kept(position: &Position) -> Option<usize> {
    kept_heap(position.sizes())
}

/// The index of the heap that the strict M-move keeps, in nondecreasing sizes. `None` without a legal move.
pub(crate) fn kept_heap(sizes: &[u32]) -> Option<usize> {
    has_move(sizes).then(|| kept(sizes, |size| size % 2 == 1))
}

/// The position after the M-move. `None` when there is no legal move: fewer than n − 1 heaps with a stone, or n < 2.
#[must_use]
pub fn m_move(position: &Position) -> Option<Position> {
    let kept = m_kept(position)?;
    let after = |(heap, size)| if heap == kept { size } else { size - 1 };
    Some(Position::new(position.sizes().iter().copied().enumerate().map(after).collect()))
}

/// The M-sequence: this position and those after each further M-move, to the one without a legal move.
pub fn m_sequence(position: &Position) -> impl Iterator<Item = Position> + use<> {
    std::iter::successors(Some(position.clone()), m_move)
}

/// M(x), the number of M-moves to the end of the game, by the formula in the [module's text](self).
///
/// 0 without a legal move. It is the remoteness in normal play; an even number means a P-position.
///
/// ```
/// use nimstrata::game::{m_length, parse_big_position};
/// assert_eq!(m_length(&parse_big_position("3,5,7", 3)?), 7u32.into());
/// # Ok::<(), nimstrata::Error>(())
/// ```
#[must_use]
pub fn m_length(position: &BigPosition) -> BigUint {
    let sizes = position.sizes();
    let levels = sizes.iter().map(|size| size >> 1u32).collect::<Vec<_>>();
    let Some(double_moves) = double_moves(&levels) else { return BigUint::ZERO };
    let poured: BigUint =
        levels.iter().take_while(|&level| *level < double_moves).map(|level| &double_moves - level).sum();
    // The water in the last, incomplete layer; step 5 of the proof shows that it is not negative.
    let spare = &double_moves - poured;
    let all_odd = sizes.iter().all(is_odd);
    let last = sizes.len() - 1;
    // With all heaps odd the first move keeps the last one and makes the others even.
    let is_even = |heap: usize| if all_odd { heap < last } else { !is_odd(&sizes[heap]) };
    let low_even = (0..sizes.len()).filter(|&heap| levels[heap] <= double_moves && is_even(heap)).count();
    let one_more = BigUint::from(low_even) < spare + 2u32;
    (double_moves << 1u32) + u32::from(all_odd) + u32::from(one_more)
}

/// The least ⌊(z₁ + … + zₘ) / (m − 1)⌋ over m ≥ 2: after so many double moves two levels are 0. `None` for n < 2.
fn double_moves(levels: &[BigUint]) -> Option<BigUint> {
    let (lowest, others) = levels.split_first()?;
    let mut sum = lowest.clone();
    let bound = |(less_than_m, level)| {
        sum += level;
        &sum / less_than_m
    };
    (1usize..).zip(others).map(bound).min()
}

/// What the M-rule's theory says about a position of NIM(n, n−1) in normal play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MAnalysis {
    /// M(x), the number of moves to the end when both play optimally.
    pub length: BigUint,
    /// The legal moves, one for each position they lead to, in the order of those positions.
    pub options: Vec<MOption>,
}

impl MAnalysis {
    /// Whether the player to move loses.
    #[must_use]
    pub fn is_p(&self) -> bool {
        !is_odd(&self.length)
    }
}

/// One legal move of NIM(n, n−1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MOption {
    /// The index of the heap that the move keeps, in the sorted sizes; of equal heaps the largest index.
    pub kept: usize,
    /// The position after the move.
    pub to: BigPosition,
    /// M of that position. The move wins exactly when this is even.
    pub length: BigUint,
    /// Whether the move wins as early, or loses as late, as possible: `length` is M(x) − 1.
    pub optimal: bool,
    /// Whether this is the M-move.
    pub m_move: bool,
}

/// M of a position of NIM(n, n−1) and of each of its options, of which there are at most n. Normal play.
///
/// It computes M at most n + 1 times: O(n²·b) bit operations for heaps of b bits.
#[must_use]
pub fn m_analysis(position: &BigPosition) -> MAnalysis {
    let sizes = position.sizes();
    let length = m_length(position);
    if !has_move(sizes) {
        return MAnalysis { length, options: Vec::new() };
    }
    let m_kept = kept(sizes, is_odd);
    let option = |kept| {
        let to = keep(sizes, kept);
        let after = m_length(&to);
        let optimal = &after + 1u32 == length;
        MOption { kept, to, length: after, optimal, m_move: kept == m_kept }
    };
    // An empty heap must be kept. The larger the kept heap, the smaller the position reached.
    let heaps = if sizes[0] == BigUint::ZERO { 0..1 } else { 0..sizes.len() };
    let options = heaps.rev().filter(|&heap| sizes.get(heap + 1) != Some(&sizes[heap])).map(option).collect();
    MAnalysis { length, options }
}

/// The position after the move that keeps this heap, which must be a legal one.
fn keep(sizes: &[BigUint], kept: usize) -> BigPosition {
    let after = |(heap, size): (usize, &BigUint)| if heap == kept { size.clone() } else { size - 1u32 };
    BigPosition::new(sizes.iter().enumerate().map(after).collect())
}

/// Whether NIM(n, n−1) has a legal move: n ≥ 2 and at most one heap is empty.
fn has_move<Size: Ord + From<u8>>(sizes: &[Size]) -> bool {
    sizes.get(1).is_some_and(|second| *second > Size::from(0))
}

/// The heap that the strict M-rule keeps, for sorted sizes of which there is at least one.
fn kept<Size: Ord>(sizes: &[Size], is_odd: impl Fn(&Size) -> bool) -> usize {
    match sizes.iter().find(|size| !is_odd(size)) {
        Some(smallest_even) => sizes.partition_point(|size| size <= smallest_even) - 1,
        None => sizes.len() - 1,
    }
}

fn is_odd(size: &BigUint) -> bool {
    size.bit(0)
}
