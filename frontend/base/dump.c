/* dump.c - the words of QUERN_DUMP. */
#include "frontend/base/dump.h"

static const char *const words[DUMP_COUNT] = {
#define DUMP(name) #name,
    DUMP_WORDS(DUMP)
#undef DUMP
};

const char *dump_word(int index) {
    return words[index];
}

static int word_index(Str word) {
    for (int i = 0; i < DUMP_COUNT; i++)
        if (str_is(word, words[i])) return i;
    return -1;
}

bool dump_parse(const char *text, uint32_t *bits, Str *unknown) {
    *bits = 0;
    for (const char *p = text ? text : ""; *p;) {
        size_t n = strcspn(p, ", \t\n");
        if (n) {
            Str word = {p, (int32_t)n};
            int index = word_index(word);
            if (index < 0) return *unknown = word, false;
            *bits |= UINT32_C(1) << index;
        }
        p += n + (p[n] != 0);
    }
    return true;
}
