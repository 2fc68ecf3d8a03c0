"""The papers' tables, measured again: for each table a function of a data set.

Maya-López, thesis (URV 2023), and the papers named at each function. A function yields batches of
measurements as they come. MHM, multivariate Hansen-Mukherjee, is the best cut of a path; VMDAV and
V-MDAV are one method, written as in each table. Kernels are run on a few records first, so that
none is compiled while seconds are measured. Where a function has a `row`, it takes method, how we
reach it, setting, k, and the values by statistic.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import read_toml, typed
from trajanon.common.parameters_of_single_methods import MicroaggregateKeywords, PathNeighboursName
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import HeuristicName
from trajanon.grouping.methods.decomposition import group_by_distance, regroup_parts
from trajanon.grouping.methods.hm2_and_compression import find_paths, published_heuristic
from trajanon.grouping.methods.mdav_and_v_mdav import mdav, v_mdav
from trajanon.grouping.methods.mf_tsp import group_by_paths, paths_from_every_record
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.paths.optimal_cut import best_cut
from trajanon.grouping.paths.travelling_salesman import path_length
from trajanon.grouping.refinements.shuffling_and_swapping import rcs, swap
from trajanon.grouping.standardised_records import standardise
from trajanon.tables.papers.datasets import PAPERS, Dataset, find_datasets
from trajanon.tables.papers.published_values import (
    Measurement,
    beside,
    counted_steps,
    decomposition_setting,
    measurements_of,
    rcs_setting,
    read_published,
    spread,
    timed,
    weighted_correlation,
)

Batches = Iterator[list[Measurement]]
"""Measurements as they come."""

PaperTable = Callable[[Dataset, int, Progress], Batches]
"""What measures a table: of a data set, with so many runs of what is random."""

BY_DISTANCE = {"MDAV": ("mdav", mdav), "V-MDAV": ("v-mdav", v_mdav)}
"""Methods by their published names: our name, and the function."""

_NAMES = typed(
    read_toml(Path(__file__).with_name("names_in_the_papers.toml"), "the published names"),
    dict[str, dict[str, HeuristicName]],
)
"""Heuristics by their published names, in tables that the file beside this module describes."""

TSP = _NAMES["tsp"]
THROUGH_GROUPS = _NAMES["through_groups"]
UNPUBLISHED = _NAMES["unpublished"]
MF_TSP = _NAMES["mf_tsp"]
TIMED = _NAMES["timed"]

ONE_RUN = {"concorde", "npn", "md", "mdav", "cbfs"}
"""Heuristics that another seed changes little, if at all."""

NEIGHBOUR_RULES: tuple[PathNeighboursName, ...] = ("near", "next")
"""Which records of a path are neighbours: up to k - 1 steps apart, or the next one."""

SHUFFLES = (("0", 0), *((f"{p}/1000", n) for p in (1, 10, 100) for n in (10, 20)))
"""Probability of shuffling, and most events."""

WAYS: tuple[MicroaggregateKeywords, ...] = (
    {},
    {"expansion": "row", "direction": "forward"},
    {"expansion": "row", "direction": "backward"},
)
"""How cities are expanded: the best of all ways, and the two of the paper's program."""

RANDOM = "random"
"""The data set of which the timing says how seconds grow with the records."""

GROWING = (100, 500, 1_000, 5_000, 10_000)
"""How many records in the plane a path leads through, of two distributions: thesis Fig. 5.4."""

_TIMED_RUNS = 3  # of which the fastest counts: a machine is never slower than it can be


def _heuristic_for(heuristic: HeuristicName, dataset: Dataset) -> HeuristicName:
    """Return our default for Concorde where that is not found, or may take hours."""
    return published_heuristic(len(dataset.records)) if heuristic == "concorde" else heuristic


def _paths_cut(
    dataset: Dataset,
    ks: Sequence[int],
    repeats: int,
    step: Callable[[], None],
    options: MicroaggregateKeywords,
) -> tuple[Floats, Floats, Floats]:
    """Find paths and cut them for each k, once for each seed.

    Returned are losses and lengths, (ks, repeats), and the seconds of a path and of its first cut,
    (2, repeats).
    """
    losses, lengths = np.empty((2, len(ks), repeats))
    seconds = np.empty((2, repeats))
    depends_on_k = options.get("heuristic") in THROUGH_GROUPS.values()
    for seed in range(repeats):
        step()
        paths: list[Ints] = []
        run_options: MicroaggregateKeywords = {**options, "seed": seed}
        for number, k in enumerate(ks):
            problem = dataset.problem(k, **run_options)
            if number == 0 or depends_on_k:
                paths, finding = timed(find_paths, problem)
            (labels, path), cutting = timed(best_cut, problem, paths)
            if number == 0:
                seconds[:, seed] = finding, cutting
            losses[number, seed] = dataset.loss(labels)
            lengths[number, seed] = path_length(dataset.records, path)
    return losses, lengths, seconds


def _by_distance(table: str, dataset: Dataset, ks: Iterable[int]) -> Batches:
    """Measure MDAV and V-MDAV, with which several tables begin."""
    for name, (by, method) in BY_DISTANCE.items():
        method(dataset.few.problem(3))
        for k in ks:
            problem = dataset.problem(k)
            labels, took = timed(method, problem)
            # What the method chose by itself: the gamma of V-MDAV.
            chosen = {option: float(value) for option, value in problem.log.chosen.items()}
            values = {"il": dataset.loss(labels), **chosen}
            if table == "hm2":
                values["seconds"] = took
            yield measurements_of(table, dataset.name, name, by, "", k, values)


def hm2_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure paths cut by MHM: thesis Tables 4.2 to 4.7, and the correlation of 4.8."""
    ks = (3, 4, 5, 6)
    row = partial(measurements_of, "hm2", dataset.name)
    yield from _by_distance("hm2", dataset, ks)
    if dataset.own:  # beside the methods of the papers, the default search
        for k in ks:
            partition, took = timed(microaggregate, dataset.records, k)
            values = {"il": partition.information_loss, "seconds": took}
            yield row("HM2 and annealing", "the default", "", k, values)

    heuristics = {
        name: _heuristic_for(heuristic, dataset)
        for name, heuristic in {**THROUGH_GROUPS, **TSP, **UNPUBLISHED}.items()
    }
    runs_of = {
        heuristic: 1 if heuristic in ONE_RUN else repeats for heuristic in heuristics.values()
    }
    step = counted_steps(progress, f"{dataset.name}: paths and cuts", sum(runs_of.values()))
    lengths_and_losses_of_tsp = []
    for name, heuristic in heuristics.items():
        runs = runs_of[heuristic]
        find_paths(dataset.few.problem(ks[0], heuristic=heuristic))
        losses, lengths, seconds = _paths_cut(dataset, ks, runs, step, {"heuristic": heuristic})
        if name in TSP:
            lengths_and_losses_of_tsp.append((lengths, losses))

        batch: list[Measurement] = []
        for k, losses_of_k, lengths_of_k in zip(ks, losses, lengths, strict=True):
            values = {**spread(losses_of_k.tolist()), "path_length": lengths_of_k.mean()}
            batch += row(name, heuristic, "", k, values, runs)
            for seed in range(runs):
                of_run = {"run_il": losses_of_k[seed], "run_path_length": lengths_of_k[seed]}
                batch += row(name, heuristic, f"seed {seed}", k, of_run)
        seconds_of_run = {"seconds": seconds.sum(axis=0).mean()}
        yield batch + row(name, heuristic, "", None, seconds_of_run, runs)
    step()

    for number, k in enumerate(ks):
        lengths_of_tsp = [lengths[number] for lengths, _ in lengths_and_losses_of_tsp]
        losses_of_tsp = [losses[number] for _, losses in lengths_and_losses_of_tsp]
        # Where all lengths, or all losses, are equal, they have no correlation.
        if not all(np.ptp(np.concatenate(one)) for one in (lengths_of_tsp, losses_of_tsp)):
            continue
        pearson = {"pearson": weighted_correlation(lengths_of_tsp, losses_of_tsp)}
        runs = sum(map(len, losses_of_tsp))
        yield row("all TSP heuristics", "path length and SSE", "", k, pearson, runs)


def compression_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure compressed paths, the best cut of each: thesis Tables 5.1 to 5.4, paper 1 to 4."""
    ks = range(3, 11)
    row = partial(measurements_of, "compression", dataset.name)
    yield from _by_distance("compression", dataset, ks)

    heuristic = _heuristic_for("concorde", dataset)
    repeats = 1 if heuristic in ONE_RUN else repeats
    find_paths(dataset.few.problem(3, compression=2, heuristic=heuristic))

    compressions = [(1, WAYS[0]), *product((2, 3, 4, 5), WAYS)]
    step = counted_steps(progress, f"{dataset.name}: compression", len(compressions) * repeats)
    for c, way in compressions:
        by = ", ".join(map(str, [heuristic, *way.values()]))
        ours = partial(row, "C-MHM" if c == 1 else f"C{c}-C-MHM", by, "")
        options: MicroaggregateKeywords = {**way, "heuristic": heuristic, "compression": c}
        losses, lengths, seconds = _paths_cut(dataset, ks, repeats, step, options)
        for k, losses_of_k in zip(ks, losses, strict=True):
            yield ours(k, {"il": losses_of_k.mean()}, repeats)
        if not way:
            # Paths are found once for all k; the length is of the one that is best for the first.
            of_paths = {"path_length": lengths[0].mean(), "seconds": seconds[0].mean()}
            yield ours(None, of_paths, repeats)
    step()


def rcs_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure Random Cluster Shuffling after MDAV: thesis Table 6.1."""
    if dataset.name in ("Tarragona", "EIA"):  # the published table is of the others
        return

    ks = (3, 5, 10)
    row = partial(measurements_of, "rcs", dataset.name)
    few = dataset.few.problem(3)
    rcs(few, mdav(few))
    step = counted_steps(progress, f"{dataset.name}: shuffling", len(ks) * len(SHUFFLES))
    for k in ks:
        labels = mdav(dataset.problem(k))
        yield row("MDAV", "mdav", "", k, {"il": dataset.loss(labels)})
        for probability, events in SHUFFLES:
            step()
            problem_of_seed = partial(
                dataset.problem,
                k,
                refine="rcs",
                shuffle_probability=float(Fraction(probability)),
                max_events=events,
            )
            runs = [
                timed(rcs, problem_of_seed(seed=seed), labels)
                for seed in range(repeats if events else 1)
            ]
            values = spread([dataset.loss(shuffled) for shuffled, _ in runs])
            values["seconds"] = float(np.mean([took for _, took in runs]))
            setting = rcs_setting(probability, events)
            yield row("MDAV-RCS", "mdav, rcs", setting, k, values, len(runs))
    step()


def mf_tsp_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure MF-TSP, from n paths that all k share: thesis Tables 3.2, 3.4, its paper Table IX."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return

    ks = (3, 4, 5, 10)
    row = partial(measurements_of, "mf-tsp", dataset.name)
    yield from _by_distance("mf-tsp", dataset, ks)

    def report(number: int, _: str, done: float, total: float | None, note: str = "") -> None:
        task = f"{dataset.name}: a path from every record"
        progress(task, number + (done / total if total else 0.0), len(MF_TSP))

    for number, (name, heuristic) in enumerate(MF_TSP.items()):
        few = dataset.few.problem(ks[0], heuristic=heuristic)
        group_by_paths(few, list(paths_from_every_record(few)))

        problem = dataset.problem(ks[0], heuristic=heuristic, progress=partial(report, number))
        paths, took = timed(lambda problem: list(paths_from_every_record(problem)), problem)
        yield row(name, heuristic, "", None, {"seconds": took})

        for rule, k in product(NEIGHBOUR_RULES, ks):
            grouping = dataset.problem(k, method="mf-tsp", path_neighbours=rule)
            labels = group_by_paths(grouping, paths)
            by = heuristic if rule == "near" else f"{heuristic}, next"
            yield row(name, by, "", k, {"il": dataset.loss(labels)})


def decomposition_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure the decomposition heuristic, step by step: decomposition paper Tables 1 to 4."""
    if not dataset.measured_by(("Census", "Tarragona")):
        return

    ks = (3, 5, 10)
    subset_counts = (40, 20, 10, 5, 2)
    few = dataset.few.problem(3)
    swap(few, regroup_parts(few, group_by_distance(few), 2))
    total = 2 * len(ks) * len(subset_counts)
    step = counted_steps(progress, f"{dataset.name}: decomposition", total)

    def row(
        k: int, setting: str, labels: Ints, seconds: float, method: str = "decomposition"
    ) -> list[Measurement]:
        values = {"il": dataset.loss(labels), "seconds": seconds}
        place = ("decomposition", dataset.name, method, "decomposition", setting, k)
        return measurements_of(*place, values)

    for k in ks:
        first, first_took = timed(group_by_distance, dataset.problem(k))
        better = "MDAV" if np.array_equal(first, mdav(dataset.problem(k))) else "VMDAV"
        exchanged, exchange_took = timed(swap, dataset.problem(k), first)
        # Steps: 2 the better of MDAV and V-MDAV, 3 exchanges, which may be left out, 4 to 6 parts
        # grouped anew (published as 5), 7 exchanges.
        for step_3, before in (("yes", exchanged), ("no", first)):
            yield row(k, decomposition_setting("2", "", step_3), first, first_took, better)
            if step_3 == "yes":
                yield row(k, decomposition_setting("3", "", step_3), exchanged, exchange_took)

            for s in subset_counts:
                step()
                problem = dataset.problem(k)
                regrouped, took = timed(regroup_parts, problem, before, s)
                yield row(k, decomposition_setting("5", s, step_3), regrouped, took)
                swapped, took = timed(swap, problem, regrouped)
                yield row(k, decomposition_setting("7", s, step_3), swapped, took)
    step()


def timing_table(dataset: Dataset, repeats: int, progress: Progress) -> Batches:
    """Measure the seconds of MDAV and of paths, each the fastest of three; thesis Fig. 5.4."""
    if not dataset.measured_by(PAPERS):
        return

    # What is timed: the data set, its published name, how we reach it, and a setting.
    runs = [(dataset, name, _heuristic_for(by, dataset), "") for name, by in TIMED.items()]
    if dataset.name == PAPERS[0]:
        random = np.random.default_rng(0)
        draws: dict[str, Callable[..., Floats]]
        draws = {"normal": random.normal, "uniform": random.uniform}
        for (name, draw), n in product(draws.items(), GROWING):
            # Mean 0 and deviation 1, or from 0 to 1; both are standardised in any case.
            drawn = Dataset(RANDOM, standardise(draw(0.0, 1.0, (n, 2))))
            runs.append((drawn, f"C-MHM, {name}", _heuristic_for("concorde", drawn), f"n = {n}"))

    step = counted_steps(progress, f"{dataset.name}: seconds", len(runs))
    for timed_set, name, heuristic, setting in runs:
        step()
        method = mdav if heuristic == "mdav" else find_paths
        method(dataset.few.problem(4, heuristic=heuristic))
        problems = [timed_set.problem(4, heuristic=heuristic) for _ in range(_TIMED_RUNS)]
        seconds = {"seconds": min(timed(method, problem)[1] for problem in problems)}
        place = ("timing", timed_set.name, name, heuristic, setting, None)
        yield measurements_of(*place, seconds, _TIMED_RUNS)
    step()


TABLES: Mapping[str, PaperTable] = {
    "hm2": hm2_table,
    "compression": compression_table,
    "rcs": rcs_table,
    "mf-tsp": mf_tsp_table,
    "decomposition": decomposition_table,
    "timing": timing_table,
}

EVERY = "all"


def published_folder(data: Path) -> Path:
    """Name the folder with the published tables: it stands beside that of the data sets."""
    return (data.parent if data.is_file() else data).parent / "published"


def benchmark(
    tables: Sequence[str], data: Path, *, repeats: int = 50, progress: Progress = silent
) -> Iterator[list[Measurement]]:
    """Measure the papers' tables again; the numbers come as they are measured."""
    unknown = [name for name in tables if name not in (*TABLES, EVERY)]
    if unknown:
        raise BadInput(f"table {unknown[0]!r} is not known; choose from {', '.join(TABLES)}, all")
    if repeats < 1:
        raise BadInput(f"repeats must be a whole number from 1 (got {repeats})")

    chosen = TABLES if EVERY in tables else {name: TABLES[name] for name in tables}
    datasets = find_datasets(data)
    published = read_published(published_folder(data))
    measured_any = False
    for table, read in product(chosen.values(), datasets):
        dataset = read()
        for batch in table(dataset, repeats, progress):
            measured_any = True
            yield beside(batch, published if dataset.published else {})
    if not measured_any:
        raise BadInput(
            f"{', '.join(chosen)} has nothing to measure in {data}: see "
            "trajanon benchmark --help for the data sets, or ask for `table=hm2`"
        )
