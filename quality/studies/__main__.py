"""``python -m syclade.quality.studies``: studies of simulated inputs, one module per study."""

from __future__ import annotations

import click

from syclade.host.commands.main import LazyGroup, main

__all__ = ["run", "studies"]

_CLI = "syclade.quality.studies.cli"
_STUDIES = {
    "arithmetic": (f"{_CLI}.arithmetic", "Measure exponentials, logarithms and steps with doublets."),
    "branches": (f"{_CLI}.branches", "Compare clones of the consensus with branches of several mutations."),
    "consensus": (f"{_CLI}.consensus", "Compare consensus trees of samples with the truth."),
    "doublets": (f"{_CLI}.doublets", "Measure what the model of doublets brings."),
    "evidence": (f"{_CLI}.evidence", "Compare trees of reads with trees of their calls."),
    "mixing": (f"{_CLI}.mixing", "Measure how well the chains for support mix."),
    "pipeline": (f"{_CLI}.pipeline", "Build and run exported pipelines, and compare them with chains."),
    "rates": (f"{_CLI}.rates", "Compare intervals of estimated error rates with truths."),
    "recurrence": (f"{_CLI}.recurrence", "Compare tests of recurrence with the truth."),
    "releases": (f"{_CLI}.releases", "Draw the speed of chains of each release."),
    "scaling": (f"{_CLI}.scaling", "Measure chains with doublets on several cores."),
    "somatic": (f"{_CLI}.somatic", "Compare somatic calls with the truth, and with those of LoFreq."),
    "specimens": (f"{_CLI}.specimens", "Compare shares of clones in biopsies with the truth."),
    "step-cost": (f"{_CLI}.step_cost", "Measure a step over numbers of cells and of mutations."),
}


@click.group(cls=LazyGroup, modules=_STUDIES, context_settings={"help_option_names": ["-h", "--help"]})
def studies() -> None:
    """Run a study behind figures of the documentation.

    Exit status: 0 if what the documentation claims holds, 1 if it does not, 2 if it could not be run.
    """


def run(*arguments: str) -> None:
    """Run a study with these arguments, by default those of the process, and exit."""
    main(arguments or None, studies, "python -m syclade.quality.studies")


if __name__ == "__main__":
    run()
