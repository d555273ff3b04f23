"""The mutant schemata of `tools/mutants`: the sources with mutants that the environment selects."""

import subprocess
from pathlib import Path

import pytest

from mutants_schemata import (
    SELECTOR,
    VARIABLE,
    Mutant,
    mutants_at,
    needed_by_constants,
    offset,
    schemata,
)

SOURCE = """\
const LIMIT: i32 = 2 + 1;

struct Point { x: i32, y: i32 }

impl Point {
    const fn far(&self) -> bool { self.x > LIMIT }
}

fn sum(of: &[i32]) -> i32 {
    let mut sum = 0;
    for one in of {
        sum += one * 2 + 1;
    }
    sum
}

fn kind(of: i32) -> &'static str {
    match of {
        0 => "zero",
        n if n < 0 || n == 9 => "odd",
        _ => "other",
    }
}

fn point(x: i32) -> Point {
    Point { x, ..Point { x: 7, y: -x } }
}

fn main() {
    // A comment with "ü", which has two bytes.
    let numbers = [kind(0), kind(-1), kind(1)].join(" ");
    let p = point(4);
    let place = if !p.far() { "near" } else { "far" };
    println!("{} {numbers} {} {} {place}", sum(&[1, 2]), p.x, p.y);
}
"""
PLAIN = "8 zero odd other 4 -4 far\n"


def mutant(number: int, genre: str, of: str, replacement: str = "", *, within: str = "") -> Mutant:
    """A change of the only place of `of`, or of the only one in a longer text."""
    within = within or of
    assert SOURCE.count(within) == 1
    assert within.count(of) == 1
    start = len(SOURCE.partition(within)[0].encode()) + len(within.partition(of)[0].encode())
    return Mutant(number, genre, start, start + len(of.encode()), replacement)


CASES = {
    mutant(1, "BinaryOperator", "*", "+", within="one * 2"): "9 zero odd other 4 -4 far\n",
    # The operands keep their precedence.
    mutant(2, "BinaryOperator", "+", "*", within="one * 2 + 1;"): "6 zero odd other 4 -4 far\n",
    mutant(3, "BinaryOperator", "+=", "-="): "-8 zero odd other 4 -4 far\n",
    mutant(4, "FnValue", "let mut sum = 0;", "100"): "100 zero odd other 4 -4 far\n",
    mutant(5, "MatchArm", '0 => "zero",'): "8 other odd other 4 -4 far\n",
    mutant(6, "MatchArm", 'n if n < 0 || n == 9 => "odd",'): "8 zero other other 4 -4 far\n",
    mutant(7, "MatchArmGuard", "n < 0 || n == 9", "true"): "8 zero odd odd 4 -4 far\n",
    mutant(8, "BinaryOperator", "||", "&&"): "8 zero other other 4 -4 far\n",
    mutant(9, "StructField", "x", within="{ x, "): "8 zero odd other 7 -4 far\n",
    mutant(10, "UnaryOperator", "-", within="-x"): "8 zero odd other 4 4 far\n",
    mutant(11, "BinaryOperator", ">", "<", within="x > LIMIT"): "8 zero odd other 4 -4 near\n",
    mutant(12, "UnaryOperator", "!", within="!p"): "8 zero odd other 4 -4 near\n",
}
OF_A_CONSTANT = mutant(13, "BinaryOperator", "+", "-", within="= 2 + 1")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source with all mutants, compiled."""
    folder = tmp_path_factory.mktemp("schemata")
    text, impossible = schemata(SOURCE.encode(), [*CASES, OF_A_CONSTANT])
    assert impossible == {OF_A_CONSTANT.number}
    path = folder / "main.rs"
    path.write_bytes(text + SELECTOR.encode())
    command = [
        "rustc",
        "--edition=2024",
        "--cap-lints=allow",
        "-o",
        str(folder / "main"),
        str(path),
    ]
    subprocess.run(command, check=True)
    return folder / "main"


def output(program: Path, number: int) -> str:
    done = subprocess.run(
        [program], env={VARIABLE: str(number)}, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def test_without_a_mutant_the_program_is_the_original_one(program: Path) -> None:
    assert output(program, 0) == PLAIN


@pytest.mark.parametrize("mutant", CASES, ids=lambda one: f"{one.genre}-{one.number}")
def test_the_environment_selects_a_mutant(program: Path, mutant: Mutant) -> None:
    assert output(program, mutant.number) == CASES[mutant]


def test_a_function_that_constants_need_stays_const_and_has_no_mutant() -> None:
    [one] = (it for it in CASES if it.number == 11)
    text, impossible = schemata(SOURCE.encode(), [one], frozenset({"far"}))
    assert impossible == {11}
    assert text == SOURCE.encode()


def test_functions_that_constants_call_are_found() -> None:
    assert needed_by_constants([SOURCE.encode()]) == set()
    source = b"""
        const LIMIT: u32 = one() + 1;
        const fn one() -> u32 { Number::<u32>::two().0 }
        impl<T> Number<T> { const fn two() -> Self { todo() } }
        const fn three() {}
        fn four() { three(); }
    """
    assert needed_by_constants([source]) == {"one", "two"}


def test_a_place_in_the_result_leads_to_the_innermost_mutants() -> None:
    inner, outer = (it for it in CASES if it.number in {1, 2})
    text, _ = schemata(SOURCE.encode(), [inner, outer])
    assert mutants_at(text, text.index(b"(one) + (2)")) == {1}
    assert mutants_at(text, text.index(b"(one * 2) * (1)")) == {2}
    # Code without mutants leads to those around it.
    assert mutants_at(text, text.index(b"sum +=")) == {1, 2}


def test_lines_and_characters_are_places_in_bytes() -> None:
    source = 'let a = 1;\nlet b = "ü" + c;\n'.encode()
    assert source[offset(source, 1, 5) :].startswith(b"a")
    assert source[offset(source, 2, 13) :].startswith(b"+")
