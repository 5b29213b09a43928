/* elf_load.c - sections to their places, relocations, protection.
 *
 *     code, constants, tables of addresses | stubs and slots | (page) data
 *     `---------- read and execute -----------------------´   `- read and write
 *
 * What lies beyond the reach of 32 bits is called through a stub of ours, `jmp *slot`; a slot is also what the compiler
 * asks for where it loads an address (GOT). One mapping holds everything: inside of it 32 bits reach everywhere. */
#include "codegen/elf_load.h"
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An object that has more than this is not ours; sums of sizes stay far below overflow. */
enum { MOST_BYTES = 1 << 30, MOST_ALIGN = 1 << 12 };
enum { SLOT_SIZE = 8, STUB_SIZE = 8, UNWIND_SECTION = 0x70000001 };

typedef struct Loader {
    const ElfRequest *request;
    const Elf64_Shdr *sections;
    int32_t nsections;
    const Elf64_Sym *symbols;
    int32_t nsymbols;
    const char *names; /* of the symbols; ends in NUL */
    uint64_t names_size;
    uint64_t *place;   /* of each section in the image; NOWHERE: it has none */
    uint64_t *address; /* of each symbol */
    int32_t *slot;     /* of each symbol: its number, or -1 */
    int32_t nslots;
    uint64_t slots_at, stubs_at, data_at, end;
    char *image;
    char *copy; /* of the object, where it lay unaligned */
    char *error;
    size_t error_size;
} Loader;

#define NOWHERE UINT64_MAX

static bool refuse(Loader *l, const char *format, ...) QN_PRINTF(2, 3);
static bool refuse(Loader *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(l->error, l->error_size, format, args);
    va_end(args);
    return false;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* `n` bytes of the file; NULL: they are not all there, or not aligned for a table. */
static const void *bytes_at(const Loader *l, uint64_t offset, uint64_t n, uint64_t align) {
    uint64_t size = l->request->size;
    const char *object = l->copy ? l->copy : l->request->object;
    return offset <= size && n <= size - offset && offset % align == 0 ? object + offset : NULL;
}

static bool read_head(Loader *l) {
    if ((uintptr_t)l->request->object % 8) {
        l->copy = malloc(l->request->size + 1);
        if (!l->copy) return refuse(l, "out of memory");
        memcpy(l->copy, l->request->object, l->request->size);
    }
    const Elf64_Ehdr *head = bytes_at(l, 0, sizeof *head, 8);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
        head->e_type != ET_REL || head->e_machine != EM_X86_64 ||
        head->e_shentsize != sizeof(Elf64_Shdr))
        return refuse(l, "this is no object file of x86-64");
    l->nsections = head->e_shnum;
    l->sections = bytes_at(l, head->e_shoff, sizeof(Elf64_Shdr) * head->e_shnum, 8);
    return l->sections && l->request->size < MOST_BYTES
               ? true
               : refuse(l, "the object file has no table of sections");
}

static bool read_symbols(Loader *l) {
    for (int32_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_SYMTAB) continue;
        if (l->symbols || s->sh_link >= (uint32_t)l->nsections)
            return refuse(l, "the object file has a wrong table of symbols");
        const Elf64_Shdr *strings = &l->sections[s->sh_link];
        l->symbols = bytes_at(l, s->sh_offset, s->sh_size, 8);
        l->nsymbols = (int32_t)(s->sh_size / sizeof(Elf64_Sym));
        l->names = bytes_at(l, strings->sh_offset, strings->sh_size, 1);
        l->names_size = strings->sh_size;
        if (!l->symbols || !l->names || !l->names_size || l->names[l->names_size - 1])
            return refuse(l, "the object file has a damaged table of symbols");
    }
    return l->symbols ? true : refuse(l, "the object file has no symbols");
}

/* Frames of debuggers, who read them in the file, and what is not needed at run time at all. */
static bool is_loaded(const Elf64_Shdr *s) {
    return (s->sh_flags & SHF_ALLOC) && s->sh_type != UNWIND_SECTION && s->sh_type != SHT_NOTE;
}

static const Elf64_Rela *relocations_of(const Loader *l, const Elf64_Shdr *s, uint64_t *n) {
    *n = 0;
    if (s->sh_type != SHT_RELA || s->sh_info >= (uint32_t)l->nsections ||
        !is_loaded(&l->sections[s->sh_info]))
        return NULL;
    const Elf64_Rela *relocations = bytes_at(l, s->sh_offset, s->sh_size, 8);
    if (relocations) *n = s->sh_size / sizeof *relocations;
    return relocations;
}

/* -- layout ------------------------------------------------------------------------------------ */

/* Tables of addresses are written while they are relocated, and only read then. */
static bool is_data(const Loader *l, const Elf64_Shdr *s) {
    const Elf64_Ehdr *head = bytes_at(l, 0, sizeof *head, 8);
    if (!(s->sh_flags & SHF_WRITE)) return false;
    if (head->e_shstrndx >= l->nsections) return true;
    const Elf64_Shdr *strings = &l->sections[head->e_shstrndx];
    static const char constant[] = ".data.rel.ro";
    const char *name = s->sh_name < strings->sh_size
                           ? bytes_at(l, strings->sh_offset + s->sh_name, sizeof constant - 1, 1)
                           : NULL;
    return !name || memcmp(name, constant, sizeof constant - 1) != 0;
}

static uint64_t align_to(uint64_t n, uint64_t align) {
    return (n + align - 1) / align * align;
}

static bool place_sections(Loader *l, bool data, uint64_t *at) {
    for (int32_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!is_loaded(s) || is_data(l, s) != data) continue;
        uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
        if (align > MOST_ALIGN || (align & (align - 1)) || s->sh_size > MOST_BYTES ||
            *at > MOST_BYTES ||
            (s->sh_type != SHT_NOBITS && !bytes_at(l, s->sh_offset, s->sh_size, 1)))
            return refuse(l, "section %d of the object file is damaged", (int)i);
        l->place[i] = align_to(*at, align);
        *at = l->place[i] + s->sh_size;
    }
    return true;
}

static bool wants_slot(uint32_t kind, bool undefined) {
    switch (kind) {
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return true;
    case R_X86_64_PLT32:
    case R_X86_64_PC32: return undefined;
    default: return false;
    }
}

static bool count_slots(Loader *l) {
    for (int32_t i = 0; i < l->nsections; i++) {
        uint64_t n;
        const Elf64_Rela *relocations = relocations_of(l, &l->sections[i], &n);
        for (uint64_t k = 0; k < n; k++) {
            uint64_t symbol = ELF64_R_SYM(relocations[k].r_info);
            if (symbol >= (uint64_t)l->nsymbols) return refuse(l, "a relocation names no symbol");
            bool undefined = l->symbols[symbol].st_shndx == SHN_UNDEF;
            if (l->slot[symbol] < 0 &&
                wants_slot((uint32_t)ELF64_R_TYPE(relocations[k].r_info), undefined))
                l->slot[symbol] = l->nslots++;
        }
    }
    return true;
}

static bool lay_out(Loader *l) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = 0;
    for (int32_t i = 0; i < l->nsections; i++)
        l->place[i] = NOWHERE;
    for (int32_t i = 0; i < l->nsymbols; i++)
        l->slot[i] = -1;
    if (!place_sections(l, false, &at) || !count_slots(l)) return false;
    l->slots_at = align_to(at, SLOT_SIZE);
    l->stubs_at = l->slots_at + (uint64_t)l->nslots * SLOT_SIZE;
    l->data_at = align_to(l->stubs_at + (uint64_t)l->nslots * STUB_SIZE, page);
    l->end = l->data_at;
    if (!place_sections(l, true, &l->end)) return false;
    l->end = align_to(l->end, page);
    return l->end ? true : refuse(l, "the object file is empty");
}

/* -- symbols ----------------------------------------------------------------------------------- */

static const char *name_of(const Loader *l, const Elf64_Sym *symbol) {
    return symbol->st_name < l->names_size ? l->names + symbol->st_name : "";
}

static bool resolve(Loader *l, int32_t i) {
    const Elf64_Sym *symbol = &l->symbols[i];
    uint32_t section = symbol->st_shndx;
    if (section == SHN_ABS) {
        l->address[i] = symbol->st_value;
        return true;
    }
    if (section == SHN_UNDEF) {
        const char *name = name_of(l, symbol);
        void *address = i && *name ? l->request->find(name, l->request->user) : NULL;
        l->address[i] = (uint64_t)(uintptr_t)address;
        return address || !i ? true : refuse(l, "compiled code needs %s, which is not there", name);
    }
    if (section >= (uint32_t)l->nsections)
        return refuse(l, "symbol %s is in no section", name_of(l, symbol));
    if (l->place[section] == NOWHERE) return true; /* of the frames */
    if (symbol->st_value > l->sections[section].sh_size)
        return refuse(l, "symbol %s lies outside of its section", name_of(l, symbol));
    l->address[i] = (uint64_t)(uintptr_t)l->image + l->place[section] + symbol->st_value;
    return true;
}

static bool resolve_all(Loader *l) {
    for (int32_t i = 0; i < l->nsymbols; i++)
        if (!resolve(l, i)) return false;
    return true;
}

static bool find_wanted(Loader *l) {
    const ElfRequest *r = l->request;
    for (int32_t w = 0; w < r->nwanted; w++) {
        r->addresses[w] = NULL;
        for (int32_t i = 1; i < l->nsymbols; i++)
            if (l->symbols[i].st_shndx != SHN_UNDEF && l->address[i] &&
                strcmp(name_of(l, &l->symbols[i]), r->wanted[w]) == 0)
                r->addresses[w] = (void *)(uintptr_t)l->address[i];
        if (!r->addresses[w]) return refuse(l, "the object file has no %s", r->wanted[w]);
    }
    return true;
}

/* -- relocation -------------------------------------------------------------------------------- */

static bool fits(int64_t n) {
    return n >= INT32_MIN && n <= INT32_MAX;
}

static uint64_t in_image(const Loader *l, uint64_t at) {
    return (uint64_t)(uintptr_t)l->image + at;
}

static void write_slots(Loader *l) {
    for (int32_t i = 0; i < l->nsymbols; i++) {
        if (l->slot[i] < 0) continue;
        uint64_t slot = l->slots_at + (uint64_t)l->slot[i] * SLOT_SIZE;
        uint64_t stub = l->stubs_at + (uint64_t)l->slot[i] * STUB_SIZE;
        memcpy(l->image + slot, &l->address[i], sizeof l->address[i]);
        static const unsigned char jump[STUB_SIZE] = {0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc};
        int32_t distance = (int32_t)((int64_t)slot - (int64_t)(stub + 6)); /* jmp *distance(%rip) */
        memcpy(l->image + stub, jump, sizeof jump);
        memcpy(l->image + stub + 2, &distance, sizeof distance);
    }
}

/* mov slot(%rip), reg: the address itself is near, so lea takes it. */
static bool relax(char *at, uint64_t room, int64_t addend, int64_t near) {
    if (room < 2 || addend != -4 || !fits(near) || (unsigned char)at[-2] != 0x8b) return false;
    at[-2] = (char)0x8d;
    int32_t value = (int32_t)near;
    memcpy(at, &value, sizeof value);
    return true;
}

static bool put32(Loader *l, char *at, int64_t value) {
    int32_t narrow = (int32_t)value;
    if (!fits(value)) return refuse(l, "a relocation does not reach its symbol");
    memcpy(at, &narrow, sizeof narrow);
    return true;
}

static bool relocate(Loader *l, const Elf64_Rela *r, int32_t section) {
    uint64_t symbol = ELF64_R_SYM(r->r_info), size = l->sections[section].sh_size;
    uint32_t kind = (uint32_t)ELF64_R_TYPE(r->r_info);
    uint64_t width = kind == R_X86_64_64 || kind == R_X86_64_PC64 ? 8 : 4;
    if (size < width || r->r_offset > size - width)
        return refuse(l, "a relocation lies outside of its section");
    if (!l->address[symbol]) return refuse(l, "a relocation needs what is not loaded");
    char *at = l->image + l->place[section] + r->r_offset;
    uint64_t addend = (uint64_t)r->r_addend, here = (uint64_t)(uintptr_t)at;
    uint64_t target = l->address[symbol] + addend, slot = (uint64_t)l->slot[symbol];
    switch (kind) {
    case R_X86_64_64: memcpy(at, &target, sizeof target); return true;
    case R_X86_64_PC64:
        target -= here;
        memcpy(at, &target, sizeof target);
        return true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        if (!fits((int64_t)(target - here)) && l->slot[symbol] >= 0)
            target = in_image(l, l->stubs_at + slot * STUB_SIZE) + addend;
        return put32(l, at, (int64_t)(target - here));
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        if (relax(at, r->r_offset, r->r_addend, (int64_t)(target - here))) return true;
        /* fall through */
    case R_X86_64_GOTPCREL:
        target = in_image(l, l->slots_at + slot * SLOT_SIZE) + addend;
        return put32(l, at, (int64_t)(target - here));
    default: return refuse(l, "relocation %u is not known", kind);
    }
}

static bool relocate_all(Loader *l) {
    for (int32_t i = 0; i < l->nsections; i++) {
        uint64_t n;
        const Elf64_Rela *relocations = relocations_of(l, &l->sections[i], &n);
        for (uint64_t k = 0; k < n; k++)
            if (!relocate(l, &relocations[k], (int32_t)l->sections[i].sh_info)) return false;
    }
    return true;
}

static void copy_sections(Loader *l) {
    for (int32_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (l->place[i] == NOWHERE || s->sh_type == SHT_NOBITS || !s->sh_size) continue;
        memcpy(l->image + l->place[i], bytes_at(l, s->sh_offset, s->sh_size, 1), s->sh_size);
    }
}

static void tell_places(const Loader *l) {
    const ElfRequest *r = l->request;
    for (int32_t i = 0; i < r->nplaces && i < l->nsections; i++)
        r->places[i] = l->place[i] == NOWHERE ? 0 : (uint64_t)(uintptr_t)l->image + l->place[i];
}

/* -- all of it --------------------------------------------------------------------------------- */

static bool map_image(Loader *l) {
    void *memory = mmap(NULL, l->end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return refuse(l, "out of memory");
    l->image = memory;
    return true;
}

static bool load(Loader *l) {
    if (!read_head(l) || !read_symbols(l)) return false;
    l->place = calloc((size_t)l->nsections + 1, sizeof *l->place);
    l->address = calloc((size_t)l->nsymbols + 1, sizeof *l->address);
    l->slot = calloc((size_t)l->nsymbols + 1, sizeof *l->slot);
    if (!l->place || !l->address || !l->slot) return refuse(l, "out of memory");
    if (!lay_out(l) || !map_image(l)) return false;
    copy_sections(l);
    if (!resolve_all(l)) return false;
    write_slots(l);
    tell_places(l);
    if (!relocate_all(l) || !find_wanted(l)) return false;
    if (mprotect(l->image, l->data_at, PROT_READ | PROT_EXEC) == 0) return true;
    return refuse(l, "the system does not let this process make code: mprotect failed");
}

bool elf_load(const ElfRequest *request, ElfImage *image, char *error, size_t error_size) {
    Loader l = {.request = request, .error = error, .error_size = error_size};
    bool ok = load(&l);
    if (!ok && l.image) munmap(l.image, l.end);
    *image = ok ? (ElfImage){l.image, l.end, l.data_at} : (ElfImage){NULL, 0, 0};
    free(l.place);
    free(l.address);
    free(l.slot);
    free(l.copy);
    return ok;
}

void elf_unload(ElfImage *image) {
    if (image->memory) munmap(image->memory, image->size);
    *image = (ElfImage){NULL, 0, 0};
}
