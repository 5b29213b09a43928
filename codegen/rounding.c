/* rounding.c - round(x, n): see support.h. */
#include "codegen/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double quern_round_digits(double x, int64_t digits) {
    if (!isfinite(x) || digits > 323) return x; /* a double has no digits further right */
    if (digits < -308) return copysign(0.0, x);
    char text[800];
    if (digits >= 0) { /* the C library rounds the exact value, ties to even */
        snprintf(text, sizeof text, "%.*f", (int)digits, x);
        return strtod(text, NULL);
    }
    /* to tens, hundreds ...: the exact decimal value with that many digits fewer */
    int whole = snprintf(text, sizeof text, "%.0f", trunc(x)) - (x < 0);
    int keep = whole + (int)digits; /* significant digits left */
    if (keep < 0) return copysign(0.0, x);
    if (keep == 0) { /* half of the leading power of ten decides; a tie goes to even, which is 0 */
        double unit = pow(10.0, (double)-digits);
        return fabs(x) > unit / 2 ? copysign(unit, x) : copysign(0.0, x);
    }
    snprintf(text, sizeof text, "%.*e", keep - 1, x);
    return strtod(text, NULL);
}

float quern_round_digitsf(float x, int64_t digits) {
    return (float)quern_round_digits((double)x, digits);
}
