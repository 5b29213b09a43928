/* gdb.c - the interface by which GDB and LLDB learn of code that a process makes: names in backtraces, and frames
 * that can be unwound.
 *
 * The two names that begin with __jit_debug are the debuggers'; they look for them in the symbols of every
 * loaded file, so the extension exports them (CMakeLists.txt compiles this file into it once more). The
 * debugger reads the list from outside, and stops where the empty function is called. */
#include "codegen/gdb.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct GdbCode { /* the order of the first four is the debuggers' */
    GdbCode *next, *before;
    const char *file;
    uint64_t size;
    char bytes[];
};

typedef enum GdbAction { GDB_NOTHING, GDB_REGISTER, GDB_UNREGISTER } GdbAction;

typedef struct GdbList { /* the same */
    uint32_t version, action;
    GdbCode *relevant, *first;
} GdbList;

#define TO_DEBUGGERS __attribute__((visibility("default"), used))

TO_DEBUGGERS __attribute__((noinline)) void __jit_debug_register_code(void);
extern GdbList __jit_debug_descriptor;
TO_DEBUGGERS GdbList __jit_debug_descriptor = {.version = 1};

void __jit_debug_register_code(void) {
    __asm__ volatile("" ::: "memory"); /* the call stays, and the list is written before it */
}

static void tell(GdbAction action, GdbCode *code) {
    __jit_debug_descriptor.relevant = code;
    __jit_debug_descriptor.action = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action = GDB_NOTHING;
    __jit_debug_descriptor.relevant = NULL;
}

/* -- placing the code -------------------------------------------------------------------------- */

/* `n` bytes at `offset`, aligned for what is there; NULL: outside of the file. */
static void *at(GdbCode *code, uint64_t offset, uint64_t n) {
    bool inside = offset <= code->size && n <= code->size - offset && offset % 8 == 0;
    return inside ? code->bytes + offset : NULL;
}

static Elf64_Shdr *sections_of(GdbCode *code, int *n) {
    const Elf64_Ehdr *head = at(code, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    *n = head->e_shnum;
    return at(code, head->e_shoff, sizeof(Elf64_Shdr) * head->e_shnum);
}

/* In the symbol table `s`, whose names are in `strings`. */
static const Elf64_Sym *find_function(GdbCode *code, const Elf64_Shdr *s, const Elf64_Shdr *strings,
                                      const char *wanted) {
    const Elf64_Sym *symbols = at(code, s->sh_offset, s->sh_size);
    if (!symbols || strings->sh_offset > code->size ||
        strings->sh_size > code->size - strings->sh_offset)
        return NULL;
    const char *names = code->bytes + strings->sh_offset;
    for (uint64_t k = 0; k < s->sh_size / sizeof *symbols; k++) {
        uint64_t left = strings->sh_size - symbols[k].st_name;
        if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC &&
            symbols[k].st_name < strings->sh_size && strlen(wanted) < left &&
            strcmp(names + symbols[k].st_name, wanted) == 0)
            return &symbols[k];
    }
    return NULL;
}

/* In an object file all sections lie at 0: the one with the function gets its place in memory. */
static bool place(GdbCode *code, const char *symbol, uint64_t address) {
    int n = 0;
    Elf64_Shdr *sections = sections_of(code, &n);
    for (int i = 0; sections && i < n; i++) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= (uint32_t)n) continue;
        const Elf64_Sym *found =
            find_function(code, &sections[i], &sections[sections[i].sh_link], symbol);
        if (!found || found->st_shndx == SHN_UNDEF || found->st_shndx >= n) return false;
        sections[found->st_shndx].sh_addr = address - found->st_value;
        return true;
    }
    return false;
}

/* -- the list ---------------------------------------------------------------------------------- */

GdbCode *gdb_keep(const char *object, size_t size) {
    GdbCode *code = malloc(sizeof *code + size);
    if (!code) return NULL;
    *code = (GdbCode){.file = code->bytes, .size = size};
    memcpy(code->bytes, object, size);
    return code;
}

GdbCode *gdb_register(GdbCode *code, const char *symbol, const void *address) {
    if (!code || !address || !place(code, symbol, (uint64_t)(uintptr_t)address)) {
        free(code);
        return NULL;
    }
    code->next = __jit_debug_descriptor.first;
    if (code->next) code->next->before = code;
    __jit_debug_descriptor.first = code;
    tell(GDB_REGISTER, code);
    return code;
}

void gdb_unregister(GdbCode *code) {
    if (!code) return;
    if (code->next) code->next->before = code->before;
    if (code->before)
        code->before->next = code->next;
    else
        __jit_debug_descriptor.first = code->next;
    tell(GDB_UNREGISTER, code);
    free(code);
}
