//! Every shipped shader is parsed and validated, and its structs are compared with the host's, without any GPU.

use std::mem::{offset_of, size_of};

use naga::valid::{Capabilities, ValidationFlags, Validator};
use nimstrata::gpu::params::{
    Deal, DensityGrid, DensityStep, SieveRegion, SieveStep, StencilRegion, StencilStep,
};
use nimstrata::gpu::{density, remoteness, sieve, take_one};
use nimstrata::space::Segment;

/// The shipped shaders by file name, with what the kernels include of them.
const SHADERS: [(&str, &str); 5] = [
    ("density.wgsl", density::SHADER),
    ("remoteness.wgsl", remoteness::SHADER_16),
    ("remoteness.wgsl", remoteness::SHADER_8),
    ("sieve.wgsl", sieve::SHADER),
    ("take_one.wgsl", take_one::SHADER),
];

/// Files that are parts of others.
const PARTS: [&str; 1] = ["stencil.wgsl"];

fn parse(name: &str, source: &str) -> naga::Module {
    naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)))
}

#[test]
fn every_shader_is_valid_and_known_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders");
    let mut files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect::<Vec<_>>();
    files.retain(|file| !PARTS.contains(&file.as_str()));
    files.sort();
    let mut known = SHADERS.map(|(name, _)| name).to_vec();
    known.dedup();
    assert_eq!(files, known, "shaders that no test knows");
    for (name, source) in SHADERS {
        let module = parse(name, source);
        // No capability beyond what every adapter has.
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        validator
            .validate(&module)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)));
        assert!(
            module.entry_points.iter().any(|entry| entry.name == "main"),
            "{name} has no entry point `main`"
        );
    }
}

/// The fields of a shader's struct with their offsets, and its size.
fn layout(source: &str, name: &str) -> (Vec<(String, usize)>, usize) {
    let module = parse(name, source);
    let found = module.types.iter().find_map(|(_, of)| match &of.inner {
        naga::TypeInner::Struct { members, span } if of.name.as_deref() == Some(name) => {
            Some((members, *span))
        }
        _ => None,
    });
    let (members, span) = found.unwrap_or_else(|| panic!("the shader has no struct {name}"));
    let field = |member: &naga::StructMember| (member.name.clone().unwrap(), member.offset as usize);
    (members.iter().map(field).collect(), span as usize)
}

macro_rules! assert_same_layout {
    ($source:expr, $name:literal, $host:ty, [$($field:ident),* $(,)?]) => {
        let host = vec![$((stringify!($field).to_owned(), offset_of!($host, $field))),*];
        assert_eq!(layout($source, $name), (host, size_of::<$host>()), "struct {}", $name);
    };
}

#[test]
fn every_solving_shader_takes_the_same_deal() {
    for (_, source) in SHADERS.into_iter().filter(|(name, _)| *name != "density.wgsl") {
        assert_same_layout!(source, "Deal", Deal, [first_active, active_count, panels, counter]);
        assert_eq!(layout(source, "Step").0[0], ("deal".to_owned(), 0));
    }
}

#[test]
fn host_structs_lie_like_those_of_the_take_one_shaders() {
    for shader in [take_one::SHADER, remoteness::SHADER_8, remoteness::SHADER_16] {
        assert_same_layout!(shader, "Region", StencilRegion, [cap, second_max, last_lane, slots, misere]);
        assert_same_layout!(
            shader,
            "Step",
            StencilStep,
            [
                deal,
                total,
                block_origin,
                own_origin,
                lower_origin,
                least_nonempty,
                first_row,
                last_row,
                slot,
                arrivals,
            ]
        );
    }
}

#[test]
fn host_structs_lie_like_those_of_the_sieve_shader() {
    assert_same_layout!(
        sieve::SHADER,
        "Region",
        SieveRegion,
        [cap, second_max, last_lane, coordinates, rank_terms, strips, first_planes, planes]
    );
    assert_same_layout!(sieve::SHADER, "Step", SieveStep, [deal, total, least_largest, allowed, keep]);
}

#[test]
fn host_structs_lie_like_those_of_the_density_shader() {
    assert_same_layout!(density::SHADER, "Grid", DensityGrid, [step]);
    assert_same_layout!(density::SHADER, "Step", DensityStep, [segments]);
    assert_same_layout!(density::SHADER, "Segment", Segment, [start, length, cell]);
}
