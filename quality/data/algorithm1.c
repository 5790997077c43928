/* Algorithm 1 of Xu, Rixner and Cox (2023) in plain C, to measure beside kernels: one column, in log space.
 *
 * Arguments: a file of N doubles (error probabilities), K, repeats. Prints the seconds of each repeat, then ln P(X >= K).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double log_sum_exp(double a, double b) {
    return a > b ? a + log(1.0 + exp(b - a)) : b + log(1.0 + exp(a - b));
}

static double tail(const double *error, long trials, long at_least) {
    double *now = malloc((at_least + 1) * sizeof *now), *before = malloc((at_least + 1) * sizeof *before);
    double result = -1e100;
    before[0] = 0.0;
    for (long n = 1; n <= trials; n++) {
        double hit = log(error[n - 1]), miss = log1p(-error[n - 1]);
        long bound = n < at_least - 1 ? n : at_least - 1;
        if (n < at_least) before[n] = -1e100;
        for (long k = 1; k <= bound; k++) now[k] = log_sum_exp(before[k] + miss, before[k - 1] + hit);
        now[0] = before[0] + miss;
        if (n == at_least) result = before[at_least - 1] + hit;
        if (n > at_least) result = log_sum_exp(result, before[at_least - 1] + hit);
        double *other = before;
        before = now;
        now = other;
    }
    free(now);
    free(before);
    return result;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    FILE *file = fopen(arguments[1], "rb");
    if (!file) return 3;
    fseek(file, 0, SEEK_END);
    long trials = ftell(file) / (long)sizeof(double);
    rewind(file);
    double *error = malloc(trials * sizeof *error);
    if (fread(error, sizeof *error, trials, file) != (size_t)trials) return 4;
    fclose(file);
    double result = 0.0;
    for (long repeat = atol(arguments[3]); repeat > 0; repeat--) {
        struct timespec begun, ended;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        result = tail(error, trials, atol(arguments[2]));
        clock_gettime(CLOCK_MONOTONIC, &ended);
        printf("%.9f\n", (ended.tv_sec - begun.tv_sec) + 1e-9 * (ended.tv_nsec - begun.tv_nsec));
    }
    printf("%.17g\n", result);
    free(error);
    return 0;
}
