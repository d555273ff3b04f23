"""Every table, figure and claim of the papers has an experiment of its id."""

from collections import Counter

from rtolab.experiments import EXPERIMENTS
from rtolab.experiments.papers import PAPERS, paper

REPORTED = {
    "frto2002": """
        fig1 fig2 fig3 fig4 table1 fig6 table2 fig7 table2b table3 fig8 table3x mech-1 fig9
        claim-d claim-a claim-b claim-c
    """,
    "arq2002": """
        fig2 fig3 fig4 fig5 fig6 fig7 fig8 eq fig9 fig10 fig11 claim claim-2 scenarios others
    """,
    "minrto2007": """
        table1 fig1a fig1b fig2 fig3 fig4 fig6a fig6b eq6 eq7 table2 table3 fig7a fig7b fig7c
        concl gap2 gap
    """,
    "dualrtt2004": """
        fig2 fig3 table2 fig4 table3 fig5 ex table4 table5 table5-phys fig7 fig8 fig9 eq6
        section-v-c fig10 fig11 table6 fig13 fig14 fig15 table9 eq7
    """,
    "delays2001": """
        fig1 section-4.1 section-4.1b fig3 fig4 section-4.2 fig6 fig7 fig8 fig9 common f1 f2 f3
        f4 section-6a section-6b section-6c section-6d concl
    """,
}
"""The reproducible results of each paper, by the id that their experiment must have."""


def test_every_table_figure_and_claim_has_an_experiment() -> None:
    known = {id_ for experiment in EXPERIMENTS for id_ in (experiment.id, *experiment.aliases)}
    wanted = {f"{paper}/{name}" for paper, names in REPORTED.items() for name in names.split()}
    assert len(wanted) == 94
    assert wanted - known == set()


def test_an_id_names_one_experiment_of_a_known_paper() -> None:
    named = Counter(id_ for e in EXPERIMENTS for id_ in (e.id, *e.aliases))
    assert [id_ for id_, times in named.items() if times > 1] == []
    assert {id_.split("/")[0] for id_ in named} <= {paper.id for paper in PAPERS}


def test_a_paper_is_known_by_its_id() -> None:
    assert paper("frto2002").year == 2002
    assert paper("another").title == "another"
