"""Mutant schemata: sources with mutants, of which a variable of the environment selects one.

Pure functions for tools/mutants_rust.py, which has the mutants from cargo-mutants and compiles the
result. See Untch, Offutt and Harrold, "Mutation analysis using mutant schemata" (1993).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

VARIABLE = "RTOLAB_MUTANT"
"""The variable with the number of the mutant; without it the program is the original one."""
SELECTOR = f"""
extern crate std;

mod mutant_selector {{
    use core::sync::atomic::{{AtomicU32, Ordering}};

    static SELECTED: AtomicU32 = AtomicU32::new(u32::MAX);

    #[inline(always)]
    pub(crate) fn mutant(number: u32) -> bool {{
        let selected = SELECTED.load(Ordering::Relaxed);
        number == if selected == u32::MAX {{ read() }} else {{ selected }}
    }}

    #[cold]
    fn read() -> u32 {{
        let number = std::env::var("{VARIABLE}").ok().and_then(|text| text.parse().ok());
        SELECTED.store(number.unwrap_or(0), Ordering::Relaxed);
        number.unwrap_or(0)
    }}
}}
use mutant_selector::mutant;
"""
"""The end of `lib.rs`. It reads the environment once."""
CONSTANTS = {"const_item", "static_item", "const_block", "array_type"}
"""Code that the compiler evaluates."""
MARK = re.compile(rb"/\*mutants ([\d ]+)\*/|/\*end of mutants\*/")
"""What encloses the code of mutants, so that an error of the compiler leads to them."""


@dataclass(frozen=True)
class Mutant:
    """A change to a source, as cargo-mutants describes it; bytes count from 0."""

    number: int
    genre: str
    start: int
    end: int
    replacement: str


class Edit(NamedTuple):
    """Text around a part of a source, or in place of it; edits nest."""

    start: int
    end: int
    before: bytes
    after: bytes = b""
    keeps: tuple[int, int] | None = None
    """The part that remains between the two texts, if not nothing."""


@cache
def parser() -> Parser:
    """The parser of Rust."""
    return Parser(Language(tree_sitter_rust.language()))


def offset(source: bytes, line: int, column: int) -> int:
    """The place of a line and a character in it, both of which count from 1."""
    before = source.splitlines(keepends=True)[: line - 1]
    text = source.splitlines()[line - 1].decode()
    return sum(map(len, before)) + len(text[: column - 1].encode())


def schemata(
    source: bytes, mutants: Iterable[Mutant], constant: frozenset[str] = frozenset()
) -> tuple[bytes, set[int]]:
    """The source with the mutants in it. Returns also the numbers of those that it cannot have.

    Functions do not stay `const`, except those of these names: a constant cannot depend on the
    environment.
    """
    root = parser().parse(source).root_node
    edits = list(without_const(root, constant))
    sites: dict[tuple[str, int, int], list[Mutant]] = {}
    for one in mutants:
        sites.setdefault((one.genre, one.start, one.end), []).append(one)
    impossible = set()
    for site in sites.values():
        node = root.descendant_for_byte_range(site[0].start, max(site[0].start, site[0].end - 1))
        found = None
        if node is not None and not is_constant(node, constant):
            found = edits_of(site, source, node)
        if found is None:
            impossible |= {one.number for one in site}
        else:
            edits += found
    return render(source, sorted(edits, key=order)), impossible


def order(edit: Edit) -> tuple[int, bool, int]:
    """Outer edits come before inner ones, and insertions before what is at their place."""
    return edit.start, edit.start != edit.end, -edit.end


def without_const(node: Node, constant: frozenset[str]) -> Iterator[Edit]:
    """Remove `const` from functions."""
    for one in descendants(node):
        word = const_of(one)
        if word and name_of(one) not in constant:
            yield Edit(word.start_byte, word.end_byte, b"")


def descendants(node: Node) -> Iterator[Node]:
    """The node and all nodes within."""
    yield node
    for one in node.children:
        yield from descendants(one)


def const_of(node: Node) -> Node | None:
    """The word `const` of a function."""
    if node.type != "function_item":
        return None
    modifiers = (one for one in node.children if one.type == "function_modifiers")
    return next((one for all_ in modifiers for one in all_.children if one.type == "const"), None)


def name_of(function: Node) -> str:
    """The name of a function."""
    name = function.child_by_field_name("name")
    return name.text.decode() if name and name.text else ""


def needed_by_constants(sources: Iterable[bytes]) -> frozenset[str]:
    """The names of functions that constants may call, directly or not.

    It cannot see what macros make of their tokens.
    """
    needed: set[str] = set()
    called: dict[str, set[str]] = {}
    for source in sources:
        for node in descendants(parser().parse(source).root_node):
            if node.type in CONSTANTS:
                needed |= calls_in(node)
            elif const_of(node):
                called.setdefault(name_of(node), set()).update(calls_in(node))
    ahead = list(needed)
    while ahead:
        new = called.get(ahead.pop(), set()) - needed
        needed |= new
        ahead += new
    return frozenset(needed & called.keys())


def calls_in(node: Node) -> set[str]:
    """The names of the functions that a node calls."""
    calls = (one for one in descendants(node) if one.type == "call_expression")
    functions = (one.child_by_field_name("function") for one in calls)
    texts = (one.text.decode() for one in functions if one and one.text)
    return {re.split(r"\W+", re.sub(r"::<.*>", "", text))[-1] for text in texts}


def is_constant(node: Node, constant: frozenset[str]) -> bool:
    """Is the node evaluated by the compiler?"""
    around: Node | None = node
    while around is not None:
        if around.type == "function_item":
            return const_of(around) is not None and name_of(around) in constant
        if around.type in CONSTANTS:
            return True
        around = around.parent
    return False


def edits_of(site: list[Mutant], source: bytes, node: Node) -> list[Edit] | None:
    """The edits for mutants of the same place, or nothing if this module does not know how."""
    first = site[0]
    match first.genre:
        case "BinaryOperator":
            return of_binary(site, source, node)
        case "MatchArm":
            return of_arm(first, node)
        case "StructField":
            return of_field(first, source, node)
        case "FnValue" if not returns_hidden_type(node):
            returns = [(one.number, f"return {one.replacement};") for one in site]
            edit = insertion(first.start, f"{chain(returns)}\n")
        case "UnaryOperator" if node.parent and node.parent.type == "unary_expression":
            operand = text_of(source, node.parent.children[-1])
            edit = choice(node.parent, [(one.number, operand) for one in site])
        case "MatchArmGuard":
            edit = choice(node, [(one.number, one.replacement) for one in site], first)
        case _:
            return None
    return [edit]


def returns_hidden_type(node: Node) -> bool:
    """Is the result `impl Trait`? Then all values have the type of the original one."""
    function: Node | None = node
    while function is not None and function.type != "function_item":
        function = function.parent
    type_ = function and function.child_by_field_name("return_type")
    return type_ is not None and any(one.type == "abstract_type" for one in descendants(type_))


def of_binary(site: list[Mutant], source: bytes, node: Node) -> list[Edit] | None:
    """Another operator; operands keep their parentheses, which may be implied."""
    whole = node.parent
    if whole is None or whole.type not in {"binary_expression", "compound_assignment_expr"}:
        return None
    left, right = whole.child_by_field_name("left"), whole.child_by_field_name("right")
    if left is None or right is None:
        return None
    one, other = text_of(source, left), text_of(source, right)
    return [choice(whole, [(it.number, f"({one}) {it.replacement} ({other})") for it in site])]


def of_arm(mutant: Mutant, node: Node) -> list[Edit] | None:
    """An arm that a mutant never takes."""
    arm: Node | None = node
    while arm is not None and (arm.type != "match_arm" or arm.start_byte != mutant.start):
        arm = arm.parent
    pattern = arm and arm.child_by_field_name("pattern")
    if not pattern:
        return None
    guard = pattern.child_by_field_name("condition")
    test = f"{mark([mutant.number])}!crate::mutant({mutant.number}){END}"
    if guard is None:
        return [insertion(pattern.end_byte, f" if {test}")]
    if guard.type in {"let_chain", "let_condition"}:
        return [insertion(guard.start_byte, f"{test} && ")]
    return [Edit(*span(guard), f"{test} && (".encode(), b")", span(guard))]


def of_field(mutant: Mutant, source: bytes, node: Node) -> list[Edit] | None:
    """A field that a mutant takes from the base of the expression."""
    field: Node | None = node
    while field is not None and field.type not in {
        "field_initializer",
        "shorthand_field_initializer",
    }:
        field = field.parent
    if field is None or field.parent is None:
        return None
    bases = [one for one in field.parent.children if one.type == "base_field_initializer"]
    value = field.child_by_field_name("value") or field.children[-1]
    name = text_of(source, field.child_by_field_name("field") or value)
    if not bases:
        return None
    base = f"({text_of(source, bases[0].children[-1])}).{name}"
    wrapped = choice(value, [(mutant.number, base)])
    return [wrapped._replace(start=field.start_byte, before=f"{name}: ".encode() + wrapped.before)]


def choice(node: Node, replacements: list[tuple[int, str]], at: Mutant | None = None) -> Edit:
    """Select among expressions, of which the last is the original one."""
    start, end = (at.start, at.end) if at else span(node)
    numbers = [number for number, _ in replacements]
    before, after = f"({mark(numbers)}{chain(replacements)} else {{ ", f" }}{END})"
    return Edit(start, end, before.encode(), after.encode(), (start, end))


def chain(replacements: list[tuple[int, str]]) -> str:
    """Code of which each part runs with a mutant only."""
    return " else ".join(
        f"if crate::mutant({number}) {{ {mark([number])}{text}{END} }}"
        for number, text in replacements
    )


END = "/*end of mutants*/"


def mark(numbers: list[int]) -> str:
    """The begin of code that belongs to these mutants."""
    return f"/*mutants {' '.join(map(str, numbers))}*/"


def insertion(at: int, text: str) -> Edit:
    """Text at a place."""
    return Edit(at, at, text.encode())


def span(node: Node) -> tuple[int, int]:
    """Where a node begins and ends."""
    return node.start_byte, node.end_byte


def text_of(source: bytes, node: Node) -> str:
    """The source of a node."""
    return source[node.start_byte : node.end_byte].decode()


def render(source: bytes, edits: list[Edit]) -> bytes:
    """Apply edits, sorted by their start, the outer ones first."""
    at = 0

    def part(start: int, end: int) -> Iterator[bytes]:
        nonlocal at
        while at < len(edits) and edits[at].end <= end:
            one = edits[at]
            at += 1
            yield source[start : one.start]
            yield one.before
            yield b"".join(part(*one.keeps)) if one.keeps else b""
            yield one.after
            start = one.end
        yield source[start:end]

    return b"".join(part(0, len(source)))


def mutants_at(text: bytes, start: int) -> set[int]:
    """The mutants whose code is at this place of an instrumented source; if none, around it."""
    open_: list[set[int]] = []
    for found in MARK.finditer(text):
        if found.start() > start:
            break
        if found[1]:
            open_.append(set(map(int, found[1].split())))
        else:
            open_.pop()
    if open_:
        return open_[-1]
    node = parser().parse(text).root_node.descendant_for_byte_range(start, start)
    while node is not None and node.type != "source_file":
        marks = MARK.finditer(text, node.start_byte, node.end_byte)
        if around := {int(one) for mark in marks if mark[1] for one in mark[1].split()}:
            return around
        node = node.parent
    return set()
