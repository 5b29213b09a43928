/* time_text.c - points in time as NumPy reads them: "2020", "2020-05-07", "2020-05-07T03:04:05.678". The unit is that of the last
 * part; of fractions the next one with three digits. */
#include "typeinfer/infer.h"

typedef struct Text {
    const char *p, *end;
} Text;

/* Exactly so many digits. */
static bool digits(Text *t, int n, int64_t *out) {
    *out = 0;
    for (int i = 0; i < n; i++, t->p++) {
        if (t->p == t->end || *t->p < '0' || *t->p > '9') return false;
        *out = *out * 10 + (*t->p - '0');
    }
    return true;
}

static bool accept(Text *t, char c) {
    if (t->p == t->end || *t->p != c) return false;
    return t->p++, true;
}

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01; months count from 0. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    if (month < 2) year--, month += 12;
    int64_t leaps = floor_div(year, 4) - floor_div(year, 100) + floor_div(year, 400);
    return 365 * year + leaps + (153 * (month - 2) + 2) / 5 + day - 719469;
}

static int64_t days_in(int64_t year, int64_t month) {
    int64_t next = month == 11 ? days_of(year + 1, 0, 1) : days_of(year, month + 1, 1);
    return next - days_of(year, month, 1);
}

/* What stands behind the seconds: .678 are milliseconds. */
static bool fraction(Text *t, TimeUnit *unit, int64_t *ticks) {
    int64_t n = 0;
    int count = 0;
    for (; t->p < t->end && *t->p >= '0' && *t->p <= '9' && count < 18; t->p++, count++)
        n = n * 10 + (*t->p - '0');
    if (!count || t->p != t->end) return false;
    for (; count % 3; count++)
        n *= 10;
    *unit = (TimeUnit)(UNIT_s + count / 3);
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(*ticks, 10, ticks)) return false;
    return !__builtin_add_overflow(*ticks, n, ticks);
}

static bool clock(Text *t, TimeUnit *unit, int64_t *ticks) {
    static const int64_t limits[] = {24, 60, 60};
    int64_t part;
    for (int i = 0; i < 3; i++) {
        if (!digits(t, 2, &part) || part >= limits[i]) return false;
        *ticks = *ticks * limits[i] + part;
        *unit = (TimeUnit)(UNIT_h + i);
        if (t->p == t->end) return true;
        if (i < 2 && !accept(t, ':')) return false;
    }
    return accept(t, '.') && fraction(t, unit, ticks);
}

bool time_of_text(Str text, TimeUnit *unit, int64_t *ticks) {
    Text t = {text.bytes, text.bytes + text.len};
    int64_t year, month, day;
    if (!digits(&t, 4, &year)) return false;
    *unit = UNIT_Y, *ticks = year - 1970;
    if (t.p == t.end) return true;
    if (!accept(&t, '-') || !digits(&t, 2, &month) || month < 1 || month > 12) return false;
    *unit = UNIT_M, *ticks = *ticks * 12 + month - 1;
    if (t.p == t.end) return true;
    if (!accept(&t, '-') || !digits(&t, 2, &day) || day < 1 || day > days_in(year, month - 1))
        return false;
    *unit = UNIT_D, *ticks = days_of(year, month - 1, day);
    if (t.p == t.end) return true;
    return (accept(&t, 'T') || accept(&t, ' ')) && clock(&t, unit, ticks);
}
