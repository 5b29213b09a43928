/* load_check.c - the loader of host code (codegen/elf_load.c) beside LLVM's.
 *
 *     load_check FILE...
 *
 * Each object file is loaded twice: by ours, and by RuntimeDyld under ORC, into memory that this tool hands out. Bytes without a
 * relocation must be those of the file in both; a field with one must lead to the same place in both: the same byte of the same section,
 * or the same foreign address, whether it says so itself, through a slot with the address, or through a stub that jumps there. What the
 * objects do not define gets addresses that no 32 bits reach. Nothing is run. Prints how many files, sections and fields it has compared. */
#include "codegen/elf_load.h"
#include <elf.h>
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_SECTIONS = 4096, ROOM = 1 << 28, FOREIGN_STEP = 64 };
#define FOREIGN UINT64_C(0x123400000000)

/* -- the file ----------------------------------------------------------------------------------- */

typedef struct File {
    const char *path;
    char *bytes;
    size_t size;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;
    const char *section_names;
    const Elf64_Sym *symbols;
    int nsymbols;
    const char *names;
    uint64_t ours[MOST_SECTIONS], theirs[MOST_SECTIONS]; /* addresses of sections; 0: not loaded */
} File;

/* What RuntimeDyld has asked memory for. */
typedef struct Given {
    char name[64];
    uint64_t at, size;
    bool taken;
} Given;

static Given given[MOST_SECTIONS];
static int ngiven;
static char *room;
static size_t used;

static int differences, nfiles, nsections, nfields;

static bool differ(const File *f, const char *what, int section, uint64_t offset) {
    if (differences++ < 20)
        printf("%s: section %d (%s) at %llu: %s\n", f->path, section,
               f->section_names + f->sections[section].sh_name, (unsigned long long)offset, what);
    return false;
}

static bool read_file(File *f, const char *path) {
    memset(f, 0, sizeof *f);
    f->path = path;
    FILE *in = fopen(path, "rb");
    if (!in) return false;
    fseek(in, 0, SEEK_END);
    f->size = (size_t)ftell(in);
    rewind(in);
    f->bytes = malloc(f->size + 1);
    bool ok = f->bytes && fread(f->bytes, 1, f->size, in) == f->size;
    fclose(in);
    if (!ok || f->size < sizeof(Elf64_Ehdr) || memcmp(f->bytes, ELFMAG, SELFMAG) != 0) return false;
    f->head = (const Elf64_Ehdr *)f->bytes;
    f->sections = (const Elf64_Shdr *)(f->bytes + f->head->e_shoff);
    f->section_names = f->bytes + f->sections[f->head->e_shstrndx].sh_offset;
    for (int i = 0; i < f->head->e_shnum; i++) {
        if (f->sections[i].sh_type != SHT_SYMTAB) continue;
        f->symbols = (const Elf64_Sym *)(f->bytes + f->sections[i].sh_offset);
        f->nsymbols = (int)(f->sections[i].sh_size / sizeof *f->symbols);
        f->names = f->bytes + f->sections[f->sections[i].sh_link].sh_offset;
    }
    return f->symbols && f->head->e_shnum <= MOST_SECTIONS;
}

static const char *symbol_name(const File *f, int i) {
    return f->names + f->symbols[i].st_name;
}

/* Each undefined name has an address of its own. */
static uint64_t foreign_address(const File *f, const char *name) {
    for (int i = 1; i < f->nsymbols; i++)
        if (f->symbols[i].st_shndx == SHN_UNDEF && strcmp(symbol_name(f, i), name) == 0)
            return FOREIGN + (uint64_t)i * FOREIGN_STEP;
    return 0;
}

static void *find(const char *name, void *user) {
    return (void *)(uintptr_t)foreign_address(user, name);
}

/* -- the other loader ------------------------------------------------------------------------------ */

static void *context(void *user) {
    return user;
}
static void nothing(void *user) {
    (void)user;
}

static uint8_t *allocate(void *user, uintptr_t size, unsigned align, unsigned id,
                         const char *name) {
    (void)user, (void)id;
    size_t at = (used + align - 1) / align * align;
    if (ngiven == MOST_SECTIONS || at + size > ROOM) return NULL;
    used = at + size;
    Given *g = &given[ngiven++];
    snprintf(g->name, sizeof g->name, "%s", name);
    g->at = (uint64_t)(uintptr_t)(room + at);
    g->size = size;
    g->taken = false;
    return (uint8_t *)room + at;
}

static uint8_t *allocate_data(void *user, uintptr_t size, unsigned align, unsigned id,
                              const char *name, LLVMBool readonly) {
    (void)readonly;
    return allocate(user, size, align, id, name);
}

static LLVMBool finalized(void *user, char **error) {
    (void)user, (void)error;
    return 0;
}

static LLVMOrcObjectLayerRef make_layer(void *user, LLVMOrcExecutionSessionRef session,
                                        const char *triple) {
    (void)user, (void)triple;
    return LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
        session, NULL, context, nothing, allocate, allocate_data, finalized, nothing);
}

static bool failed(const File *f, LLVMErrorRef error) {
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    printf("%s: LLVM: %s\n", f->path, text);
    LLVMDisposeErrorMessage(text);
    differences++;
    return true;
}

static LLVMOrcLLJITRef jit;

static bool open_jit(void) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_layer, NULL);
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit, builder);
    room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
    return !failed(&(File){.path = "LLJIT"}, error) && room != MAP_FAILED;
}

static bool define_foreign(const File *f, LLVMOrcJITDylibRef dylib) {
    LLVMOrcCSymbolMapPair *pairs = calloc((size_t)f->nsymbols + 1, sizeof *pairs);
    size_t n = 0;
    for (int i = 1; i < f->nsymbols; i++)
        if (f->symbols[i].st_shndx == SHN_UNDEF)
            pairs[n++] = (LLVMOrcCSymbolMapPair){
                LLVMOrcLLJITMangleAndIntern(jit, symbol_name(f, i)),
                {foreign_address(f, symbol_name(f, i)), {LLVMJITSymbolGenericFlagsExported, 0}}};
    bool ok = !n || !failed(f, LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(pairs, n)));
    free(pairs);
    return ok;
}

/* A name that the file defines for others: to ask for it links the file. */
static const char *global_of(const File *f) {
    for (int i = 1; i < f->nsymbols; i++)
        if (f->symbols[i].st_shndx != SHN_UNDEF &&
            ELF64_ST_BIND(f->symbols[i].st_info) == STB_GLOBAL)
            return symbol_name(f, i);
    return NULL;
}

/* `dylib` holds it until it is cleared. */
static bool link_theirs(const File *f, LLVMOrcJITDylibRef dylib) {
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(f->bytes, f->size, "object");
    LLVMOrcExecutorAddress address;
    const char *name = global_of(f);
    ngiven = 0;
    used = 0;
    return name && define_foreign(f, dylib) &&
           !failed(f, LLVMOrcLLJITAddObjectFile(jit, dylib, buffer)) &&
           !failed(f, LLVMOrcLLJITLookup(jit, &address, name));
}

/* -- both ------------------------------------------------------------------------------------------ */

static const Elf64_Rela *relocations_of(const File *f, int section, int *n) {
    *n = 0;
    for (int i = 0; i < f->head->e_shnum; i++) {
        const Elf64_Shdr *s = &f->sections[i];
        if (s->sh_type != SHT_RELA || (int)s->sh_info != section) continue;
        *n = (int)(s->sh_size / sizeof(Elf64_Rela));
        return (const Elf64_Rela *)(f->bytes + s->sh_offset);
    }
    return NULL;
}

static int width_of(uint32_t kind) {
    return kind == R_X86_64_64 || kind == R_X86_64_PC64 ? 8 : 4;
}

/* mov slot(%rip), reg and the lea that takes its place. */
static bool is_load(const Elf64_Rela *r) {
    uint32_t kind = (uint32_t)ELF64_R_TYPE(r->r_info);
    return kind == R_X86_64_GOTPCRELX || kind == R_X86_64_REX_GOTPCRELX;
}

/* The bytes that may be others than the file's. */
static void mark_fields(const File *f, int section, bool *marked) {
    int n;
    const Elf64_Rela *r = relocations_of(f, section, &n);
    for (int k = 0; k < n; k++) {
        uint64_t from = r[k].r_offset,
                 to = from + (uint64_t)width_of((uint32_t)ELF64_R_TYPE(r[k].r_info));
        if (is_load(&r[k]) && from >= 2) marked[from - 2] = true;
        for (; from < to; from++)
            marked[from] = true;
    }
}

/* The first byte without a relocation that is not the file's; -1: there is none. */
static int64_t first_difference(const File *f, int section, uint64_t at) {
    const Elf64_Shdr *s = &f->sections[section];
    bool *marked = calloc(s->sh_size + 1, 1);
    int64_t found = -1;
    mark_fields(f, section, marked);
    const char *there = (const char *)(uintptr_t)at, *file = f->bytes + s->sh_offset;
    for (uint64_t i = 0; i < s->sh_size && found < 0; i++)
        if (!marked[i] && there[i] != (s->sh_type == SHT_NOBITS ? 0 : file[i])) found = (int64_t)i;
    free(marked);
    return found;
}

/* Does a relocation, or a name for others, lead there? RuntimeDyld leaves out what nothing leads to. */
static bool is_wanted(const File *f, int section) {
    for (int i = 0; i < f->nsymbols; i++)
        if (f->symbols[i].st_shndx == section && ELF64_ST_BIND(f->symbols[i].st_info) == STB_GLOBAL)
            return true;
    for (int i = 0; i < f->head->e_shnum; i++) {
        int n;
        const Elf64_Rela *r = relocations_of(f, i, &n);
        for (int k = 0; k < n && f->ours[i]; k++)
            if (f->symbols[ELF64_R_SYM(r[k].r_info)].st_shndx == section) return true;
    }
    return false;
}

/* Sections of RuntimeDyld's have names, which several may share: those with the same bytes belong together. */
static bool match_section(File *f, int section) {
    const char *name = f->section_names + f->sections[section].sh_name;
    for (int i = 0; i < ngiven; i++) {
        Given *g = &given[i];
        if (g->taken || strcmp(g->name, name) != 0 || g->size < f->sections[section].sh_size ||
            first_difference(f, section, g->at) >= 0)
            continue;
        g->taken = true;
        f->theirs[section] = g->at;
        return true;
    }
    return is_wanted(f, section) && differ(f, "RuntimeDyld has no such section", section, 0);
}

/* Where an address leads, in words that do not depend on where things lie. */
typedef struct Place {
    int section; /* or -1: `offset` is an address */
    uint64_t offset;
} Place;

static Place place_of(const File *f, const uint64_t *at, uint64_t address) {
    for (int i = 0; i < f->head->e_shnum; i++)
        if (at[i] && address >= at[i] && address < at[i] + f->sections[i].sh_size)
            return (Place){i, address - at[i]};
    return (Place){-1, address};
}

static uint64_t word_at(uint64_t address) {
    uint64_t word;
    memcpy(&word, (const void *)(uintptr_t)address, sizeof word);
    return word;
}

/* `jmp *slot(%rip)` outside of all sections: what the slot says. */
static uint64_t through_stub(const File *f, const uint64_t *at, uint64_t address) {
    if (place_of(f, at, address).section >= 0 || address >> 40 == FOREIGN >> 40) return address;
    const unsigned char *code = (const unsigned char *)(uintptr_t)address;
    int32_t distance;
    if (code[0] != 0xff || code[1] != 0x25) return address;
    memcpy(&distance, code + 2, sizeof distance);
    return word_at(address + 6 + (uint64_t)(int64_t)distance);
}

/* The symbol's address, as the field of a relocation has it. */
static uint64_t target(const File *f, const uint64_t *at, int section, const Elf64_Rela *r) {
    uint64_t here = at[section] + r->r_offset, addend = (uint64_t)r->r_addend;
    uint32_t kind = (uint32_t)ELF64_R_TYPE(r->r_info);
    int32_t narrow;
    memcpy(&narrow, (const void *)(uintptr_t)here, sizeof narrow);
    uint64_t wide = word_at(here), near = here + (uint64_t)(int64_t)narrow - addend;
    switch (kind) {
    case R_X86_64_64: return wide - addend;
    case R_X86_64_PC64: return wide + here - addend;
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return through_stub(f, at, near);
    case R_X86_64_GOTPCREL: return word_at(near);
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: {
        unsigned char code = *(const unsigned char *)(uintptr_t)(here - 2);
        return code == 0x8d ? near : word_at(near);
    }
    default: return 0;
    }
}

static bool compare_fields(const File *f, int section) {
    int n;
    const Elf64_Rela *r = relocations_of(f, section, &n);
    bool ok = true;
    for (int k = 0; k < n; k++, nfields++) {
        uint64_t a = target(f, f->ours, section, &r[k]), b = target(f, f->theirs, section, &r[k]);
        Place ours = place_of(f, f->ours, a), theirs = place_of(f, f->theirs, b);
        if (!a || ours.section != theirs.section || ours.offset != theirs.offset)
            ok = differ(f, "the relocation leads elsewhere", section, r[k].r_offset);
    }
    return ok;
}

static void compare(File *f) {
    for (int i = 0; i < f->head->e_shnum; i++) {
        if (!f->ours[i] || !f->sections[i].sh_size) continue;
        int64_t at = first_difference(f, i, f->ours[i]);
        if (at >= 0) differ(f, "our loader has changed a byte", i, (uint64_t)at);
        if (!match_section(f, i)) f->ours[i] = 0;
    }
    for (int i = 0; i < f->head->e_shnum; i++) {
        if (!f->ours[i] || !f->sections[i].sh_size) continue;
        compare_fields(f, i);
        nsections++;
    }
}

static void check(const char *path) {
    static File f;
    ElfImage image;
    char error[256];
    if (!read_file(&f, path)) {
        printf("%s: no object file\n", path);
        differences++;
        free(f.bytes);
        return;
    }
    ElfRequest request = {.object = f.bytes,
                          .size = f.size,
                          .find = find,
                          .user = &f,
                          .nplaces = f.head->e_shnum,
                          .places = f.ours};
    LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(jit);
    if (!elf_load(&request, &image, error, sizeof error)) {
        printf("%s: %s\n", path, error);
        differences++;
    } else {
        if (link_theirs(&f, dylib)) compare(&f);
        failed(&f, LLVMOrcJITDylibClear(dylib));
        elf_unload(&image);
    }
    free(f.bytes);
    nfiles++;
}

int main(int argc, char **argv) {
    if (!open_jit()) return 2;
    for (int i = 1; i < argc; i++)
        check(argv[i]);
    printf("%d files, %d sections, %d relocations, %d differences\n", nfiles, nsections, nfields,
           differences);
    return differences != 0;
}
