// The MDAV of sdcMicro as a program: rows, columns and k are its words; a matrix comes in, one of means goes out.
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
