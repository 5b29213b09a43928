/* amdgpu_chips.c - what we know of AMD's chips. */
#include "codegen/target/amdgpu.h"
#include <stdio.h>

static const Chip chips[] = {
#define XNACK                                       CHIP_XNACK
#define SRAMECC                                     CHIP_SRAMECC
#define GENERIC                                     CHIP_GENERIC
#define MATRIX                                      CHIP_MATRIX
#define CHIP(name, machine, wave, options_, family) {name, machine, wave, options_},
#include "codegen/amdgpu_chips.def"
#undef CHIP
#undef MATRIX
#undef GENERIC
#undef SRAMECC
#undef XNACK
};

static const Chip *find(const char *arch, size_t len) {
    for (int i = 0; i < countof(chips); i++)
        if (strlen(chips[i].name) == len && memcmp(chips[i].name, arch, len) == 0) return &chips[i];
    return NULL;
}

/* ":xnack+" becomes "+xnack"; false for anything else. */
static bool add_feature(const Chip *chip, const char *option, size_t len, char *features) {
    static const struct {
        const char *name;
        uint32_t bit;
    } known[] = {{"xnack", CHIP_XNACK}, {"sramecc", CHIP_SRAMECC}};
    char sign = len ? option[len - 1] : 0;
    for (int i = 0; i < countof(known); i++) {
        if (strlen(known[i].name) + 1 != len || memcmp(known[i].name, option, len - 1) != 0)
            continue;
        if (!(chip->options & known[i].bit) || (sign != '+' && sign != '-')) return false;
        size_t used = strlen(features);
        int n = snprintf(features + used, CHIP_FEATURES - used, "%s%c%s", used ? "," : "", sign,
                         known[i].name);
        return n < (int)(CHIP_FEATURES - used);
    }
    return false;
}

const Chip *amdgpu_chip(const char *arch, char features[CHIP_FEATURES]) {
    char scratch[CHIP_FEATURES], *out = features ? features : scratch;
    out[0] = 0;
    size_t len = strcspn(arch, ":");
    const Chip *chip = find(arch, len);
    const char *at = arch + len;
    while (chip && *at == ':') {
        size_t n = strcspn(++at, ":");
        if (!add_feature(chip, at, n, out)) return NULL;
        at += n;
    }
    return chip;
}

const Chip *amdgpu_chip_of(const Cg *cg) {
    return amdgpu_chip(cg->options->arch, NULL);
}

const char *amdgpu_chip_names(Arena *arena) {
    StrBuf text;
    buf_init(&text, arena);
    for (int i = 0; i < countof(chips); i++)
        buf_printf(&text, "%s%s", i ? ", " : "", chips[i].name);
    return buf_take(&text).bytes;
}
