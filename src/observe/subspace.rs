//! Whether a set of words is a linear subspace over the integers mod a prime, and its equations.

/// A linear subspace of words over the integers mod a prime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subspace {
    /// A basis in reduced row echelon form. Its length is the dimension.
    pub basis: Vec<Vec<u32>>,
    /// A basis of the equations c₁a₁ + … + cₙaₙ = 0 that define the subspace, one row of coefficients each, in
    /// reduced row echelon form.
    pub equations: Vec<Vec<u32>>,
}

impl Subspace {
    /// The subspace that consists of exactly these different words of equal length, or `None` if they are not one.
    /// `prime` is the modulus; every residue is below it.
    #[must_use]
    pub fn of(words: &[Vec<u32>], prime: u32) -> Option<Self> {
        let length = words.first()?.len();
        let basis = reduce(words, prime);
        // The words lie in the span of the basis; they are all of it exactly when there are as many.
        let span = u128::from(prime).checked_pow(basis.len() as u32)?;
        if span != words.len() as u128 {
            return None;
        }
        let equations = reduce(&annihilator(&basis, length, prime), prime);
        Some(Self { basis, equations })
    }
}

/// Whether a modulus is prime, so that residues form a field.
#[must_use]
pub fn is_prime(number: u32) -> bool {
    number >= 2 && (2..=number.isqrt()).all(|divisor| !number.is_multiple_of(divisor))
}

/// The reduced row echelon form of the space that the rows span, without zero rows.
fn reduce(rows: &[Vec<u32>], prime: u32) -> Vec<Vec<u32>> {
    let mut basis: Vec<Vec<u32>> = Vec::new();
    for row in rows {
        let mut row = row.clone();
        for known in &basis {
            let factor = row[pivot(known)];
            subtract(&mut row, known, factor, prime);
        }
        let Some(lead) = row.iter().position(|&entry| entry != 0) else { continue };
        let inverse = inverse(row[lead], prime);
        for entry in &mut row {
            *entry = multiply(*entry, inverse, prime);
        }
        for known in &mut basis {
            let factor = known[lead];
            subtract(known, &row, factor, prime);
        }
        basis.push(row);
        if basis.len() == rows[0].len() {
            break;
        }
    }
    basis.sort_unstable_by_key(|row| pivot(row));
    basis
}

/// Rows of coefficients that span all equations satisfied by a basis in reduced row echelon form.
fn annihilator(basis: &[Vec<u32>], length: usize, prime: u32) -> Vec<Vec<u32>> {
    let free = (0..length).filter(|&column| basis.iter().all(|row| pivot(row) != column));
    free.map(|column| {
        let mut equation = vec![0; length];
        equation[column] = 1;
        for row in basis {
            equation[pivot(row)] = (prime - row[column]) % prime;
        }
        equation
    })
    .collect()
}

fn pivot(row: &[u32]) -> usize {
    row.iter().position(|&entry| entry != 0).expect("a basis has no zero rows")
}

fn subtract(row: &mut [u32], other: &[u32], factor: u32, prime: u32) {
    for (entry, &other) in row.iter_mut().zip(other) {
        let product = multiply(other, factor, prime);
        *entry = ((u64::from(*entry) + u64::from(prime - product)) % u64::from(prime)) as u32;
    }
}

fn multiply(a: u32, b: u32, prime: u32) -> u32 {
    (u64::from(a) * u64::from(b) % u64::from(prime)) as u32
}

/// The inverse mod a prime, as entry^(prime − 2).
fn inverse(entry: u32, prime: u32) -> u32 {
    let (mut result, mut power, mut exponent) = (1 % prime, entry, prime - 2);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = multiply(result, power, prime);
        }
        power = multiply(power, power, prime);
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> Vec<Vec<u32>> {
        texts.iter().map(|text| text.bytes().map(|byte| u32::from(byte - b'0')).collect()).collect()
    }

    #[test]
    fn a_binary_subspace_has_a_basis_and_its_equations() {
        let space = Subspace::of(&words(&["00000", "11100", "01111", "10011"]), 2).unwrap();
        assert_eq!(space.basis, words(&["10011", "01111"]));
        // a₁ + a₄ + a₃ = 0 and so on: equivalent to a₂ = a₃, a₄ = a₅, a₁ + a₂ + a₄ = 0.
        assert_eq!(space.equations, words(&["10101", "01100", "00011"]));
    }

    #[test]
    fn sets_that_are_not_closed_are_no_subspace() {
        assert_eq!(Subspace::of(&words(&["000", "110", "101"]), 2), None);
        assert_eq!(Subspace::of(&words(&["110", "101"]), 2), None);
        assert_eq!(Subspace::of(&[], 2), None);
        assert_eq!(Subspace::of(&words(&["111"]), 2), None);
        // Closed under addition of its members with themselves only by scalars mod 3.
        assert_eq!(Subspace::of(&words(&["000", "120"]), 3), None);
    }

    #[test]
    fn extreme_subspaces() {
        let zero = Subspace::of(&words(&["000"]), 5).unwrap();
        assert!(zero.basis.is_empty());
        assert_eq!(zero.equations, words(&["100", "010", "001"]));
        let all = Subspace::of(&words(&["00", "01", "02", "10", "11", "12", "20", "21", "22"]), 3).unwrap();
        assert_eq!(all.basis, words(&["10", "01"]));
        assert!(all.equations.is_empty());
    }

    #[test]
    fn ternary_subspaces_are_closed_under_scalars() {
        let space = Subspace::of(&words(&["000", "120", "210"]), 3).unwrap();
        assert_eq!(space.basis, words(&["120"]));
        assert_eq!(space.equations, words(&["110", "001"]));
    }

    #[test]
    fn primes() {
        let primes = (0..32).filter(|&number| is_prime(number)).collect::<Vec<_>>();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31]);
        assert!(is_prime(4_294_967_291) && !is_prime(u32::MAX));
    }
}
