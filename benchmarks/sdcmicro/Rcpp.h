// The few names of R's interface to C++ that the MDAV of sdcMicro needs.
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
