"""Measure MDAV beside that of sdcMicro, the R package, whose C++ is compiled as it is.

    git clone https://github.com/sdcTools/sdcMicro
    python benchmarks/beside_sdcmicro.py sdcMicro/src DATA

DATA is the folder of census.csv, tarragona.csv and eia.csv. docs/tables.md shows the table.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from measures import row

import trajanon
from trajanon.common.arrays import Floats
from trajanon.tables.papers.datasets import Dataset, find_datasets

K = 3
_RUNS = 3  # of which the fastest counts

_RCPP = """
#include <cstddef>
struct Matrix { int n, p; double *values; };
typedef Matrix *SEXP;
#define RcppExport extern "C"
#define BEGIN_RCPP
#define END_RCPP
namespace Rcpp {
struct NumericMatrix {
  Matrix *m;
  NumericMatrix(SEXP s) : m(s) {}
  double &operator()(int i, int j) { return m->values[(size_t)j * m->n + i]; }
  int rows() { return m->n; }
  int cols() { return m->p; }
};
typedef NumericMatrix NumericVector;
template <class T> T as(SEXP s) { return (T)s->values[0]; }
struct Named { Named(const char *) {} SEXP operator=(NumericMatrix m) { return m.m; } };
struct List { static SEXP create(SEXP s) { return s; } };
}
"""
"""The few names of R's interface to C++ that its MDAV needs."""

_MAIN = """
#include <cstdio>
#include <ctime>
#include <vector>
#include "Mdav.cpp"
int main(int count, char **words) {
  int n = atoi(words[1]), p = atoi(words[2]);
  double k = atof(words[3]), missing = 1e30;
  std::vector<double> values((size_t)n * p);
  if (fread(values.data(), 8, values.size(), stdin) != values.size()) return 1;
  std::vector<double> means = values;
  Matrix data{n, p, values.data()}, result{n, p, means.data()};
  Matrix size{1, 1, &k}, none{1, 1, &missing};
  clock_t since = clock();
  Mdav(&data, &result, &none, &none, &size);
  fprintf(stderr, "%.6f", (double)(clock() - since) / CLOCKS_PER_SEC);
  fwrite(means.data(), 8, means.size(), stdout);
}
"""


def compiled(source: Path, folder: Path) -> Path:
    """Compile sdcMicro's MDAV as a program that reads and writes matrices."""
    (folder / "Rcpp.h").write_text(_RCPP, encoding="utf-8")
    (folder / "main.cpp").write_text(_MAIN, encoding="utf-8")
    words = [
        "g++",
        "-O2",
        "-std=c++17",
        "-w",
        f"-I{folder}",
        f"-I{source}",
        "main.cpp",
        "-o",
        "mdav",
    ]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "mdav"


def of_sdcmicro(program: Path, records: Floats) -> tuple[Floats, float]:
    """Microaggregate records as sdcMicro does; also return the seconds."""
    n, p = records.shape
    answer = subprocess.run(
        [program, str(n), str(p), str(K)],
        input=np.asfortranarray(records).tobytes(order="F"),
        capture_output=True,
        check=True,
    )
    return np.frombuffer(answer.stdout).reshape(p, n).T, float(answer.stderr)


def of_trajanon(records: Floats, **options: Any) -> tuple[float, float]:
    """Return the loss of our groups, percent, and the seconds of a core."""
    since = process_time()
    partition = trajanon.microaggregate(records, K, **options)
    return partition.information_loss, process_time() - since


def compare(program: Path, dataset: Dataset) -> None:
    """Print a row of the table."""
    records = dataset.records
    theirs = [of_sdcmicro(program, records) for _ in range(_RUNS)]
    lost = 100.0 * ((records - theirs[0][0]) ** 2).sum() / (records**2).sum()
    measured = [
        (lost, min(seconds for _, seconds in theirs)),
        min(of_trajanon(records, method="mdav", refine="none") for _ in range(_RUNS)),
        min(of_trajanon(records) for _ in range(_RUNS)),
    ]
    row(dataset.name, *(f"{lost:.4f} %, {seconds:.2f} s" for lost, seconds in measured))


def main(source: str, data: str) -> None:
    """Print the table."""
    row("", "sdcMicro", "MDAV", "default")
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(source).absolute(), Path(folder))
        for read in find_datasets(Path(data)):
            compare(program, read())


if __name__ == "__main__":
    main(*sys.argv[1:])
