/* hip_image.c - is this code object for this device? Asked before HIP sees it: on a wrong one it has been seen to crash.
 *
 * The head of the file says what it is for: the machine in the lowest byte of the flags, then whether XNACK and
 * SRAMECC must be on, must be off, or do not matter. */
#include "runtime/hip/hip_api.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
    MACHINE_AMDGPU = 224,
    OSABI_HSA = 64,
    ABI_V6 = 4, /* of code object version 6 */
    GENERIC_SINCE = 6040,
    MASK_MACHINE = 0xff
};
/* Values of the two-bit fields XNACK (bits 8, 9) and SRAMECC (bits 10, 11). */
enum { FEATURE_NONE, FEATURE_ANY, FEATURE_OFF, FEATURE_ON };

typedef struct ChipRow {
    const char *name;
    uint32_t machine;
    const char *family;
} ChipRow;

static const ChipRow chips[] = {
#define CHIP(name, machine, wave, options, family) {name, machine, family},
#include "codegen/amdgpu_chips.def"
#undef CHIP
};

static const ChipRow *chip_named(const char *name, size_t len) {
    for (int i = 0; i < countof(chips); i++)
        if (strlen(chips[i].name) == len && memcmp(chips[i].name, name, len) == 0) return &chips[i];
    return NULL;
}

static const char *name_of(uint32_t machine) {
    for (int i = 0; i < countof(chips); i++)
        if (chips[i].machine == machine) return chips[i].name;
    return "an unknown chip";
}

static bool refuse(const RtDevice *device, const RtKernel *kernel, const char *what, RtError *err) {
    return rt_fail(err, RT_API_ERROR,
                   "Kernel %s was not loaded on %s (%s): its code object %s. It was refused before "
                   "the driver saw it.",
                   kernel->name, device->info.name, device->info.arch, what);
}

/* Does the device, whose arch says ":xnack+" or ":xnack-" or neither, agree with the field of the flags? */
static bool feature_agrees(const char *arch, const char *feature, uint32_t field) {
    if (field != FEATURE_OFF && field != FEATURE_ON) return true;
    const char *at = strstr(arch, feature);
    char sign = at ? at[strlen(feature)] : 0;
    return sign != (field == FEATURE_ON ? '-' : '+');
}

static bool runs(const RtDevice *device, const RtKernel *kernel, uint32_t flags, RtError *err) {
    const char *arch = device->info.arch;
    const ChipRow *chip = chip_named(arch, strcspn(arch, ":"));
    const ChipRow *family = chip ? chip_named(chip->family, strlen(chip->family)) : NULL;
    uint32_t machine = flags & MASK_MACHINE;
    char what[96];
    if (!chip || (machine != chip->machine && !(family && machine == family->machine))) {
        snprintf(what, sizeof what, "is for %s", name_of(machine));
        return refuse(device, kernel, what, err);
    }
    if (!feature_agrees(arch, ":xnack", flags >> 8 & 3))
        return refuse(device, kernel, "wants another setting of XNACK", err);
    if (!feature_agrees(arch, ":sramecc", flags >> 10 & 3))
        return refuse(device, kernel, "wants another setting of SRAMECC", err);
    return true;
}

bool hip_check_image(const RtDevice *device, const RtKernel *kernel, RtError *err) {
    const Artifact *a = kernel->artifact;
    Elf64_Ehdr head;
    if (a->ncode < (int64_t)sizeof head) return refuse(device, kernel, "is no ELF file", err);
    memcpy(&head, a->code, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != MACHINE_AMDGPU || head.e_ident[EI_OSABI] != OSABI_HSA ||
        head.e_type != ET_DYN)
        return refuse(device, kernel, "is no shared ELF file for AMD GPUs", err);
    if (head.e_ident[EI_ABIVERSION] >= ABI_V6 && hip_version() < GENERIC_SINCE)
        return refuse(device, kernel,
                      "is of version 6, for a family of chips, which ROCm reads since 6.4: compile "
                      "for the chip itself, or install a newer ROCm",
                      err);
    return runs(device, kernel, head.e_flags, err);
}
