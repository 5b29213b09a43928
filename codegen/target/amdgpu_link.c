/* amdgpu_link.c - places the sections of one object in segments, makes the dynamic tables, applies relocations.
 *
 * Segments lie as lld lays them: read-only data, code, what is read-only after relocation, data. Each starts on a
 * page of its own in memory and follows the one before in the file: address and offset agree in the lower bits. */
#include "codegen/target/amdgpu_link.h"
#include "frontend/base/vec.h"
#include <elf.h>

enum { PAGE = 0x1000, MACHINE_AMDGPU = 224 };
enum {
    R_ABS32_LO = 1,
    R_ABS32_HI = 2,
    R_ABS64 = 3,
    R_REL32 = 4,
    R_REL64 = 5,
    R_ABS32 = 6,
    R_REL32_LO = 10,
    R_REL32_HI = 11,
    R_RELATIVE64 = 13,
    R_REL16 = 14
};

/* Output sections in their order in the file. */
typedef enum Out {
    OUT_none,
    OUT_note,
    OUT_dynsym,
    OUT_gnu_hash,
    OUT_hash,
    OUT_dynstr,
    OUT_rela,
    OUT_rodata,
    OUT_text,
    OUT_relro,
    OUT_dynamic,
    OUT_padding,
    OUT_data,
    OUT_bss,
    OUT_symtab,
    OUT_shstrtab,
    OUT_strtab,
    OUT_COUNT
} Out;

typedef struct OutRow {
    const char *name;
    uint32_t type;
    uint64_t flags, entry;
} OutRow;

static const OutRow rows[OUT_COUNT] = {
    [OUT_none] = {"", SHT_NULL, 0, 0},
    [OUT_note] = {".note", SHT_NOTE, SHF_ALLOC, 0},
    [OUT_dynsym] = {".dynsym", SHT_DYNSYM, SHF_ALLOC, sizeof(Elf64_Sym)},
    [OUT_gnu_hash] = {".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, 0},
    [OUT_hash] = {".hash", SHT_HASH, SHF_ALLOC, 4},
    [OUT_dynstr] = {".dynstr", SHT_STRTAB, SHF_ALLOC, 0},
    [OUT_rela] = {".rela.dyn", SHT_RELA, SHF_ALLOC, sizeof(Elf64_Rela)},
    [OUT_rodata] = {".rodata", SHT_PROGBITS, SHF_ALLOC, 0},
    [OUT_text] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0},
    [OUT_relro] = {".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0},
    [OUT_dynamic] = {".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, sizeof(Elf64_Dyn)},
    [OUT_padding] = {".relro_padding", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0},
    [OUT_data] = {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0},
    [OUT_bss] = {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0},
    [OUT_symtab] = {".symtab", SHT_SYMTAB, 0, sizeof(Elf64_Sym)},
    [OUT_shstrtab] = {".shstrtab", SHT_STRTAB, 0, 0},
    [OUT_strtab] = {".strtab", SHT_STRTAB, 0, 0},
};

typedef struct Section {
    bool used;
    uint64_t align, size, addr, offset;
    char *bytes; /* NULL: none in the file */
    uint32_t link, info;
    int32_t number; /* in the section table of the output */
} Section;

typedef struct Placed { /* an input section */
    Out out;
    uint64_t at; /* in the output section */
} Placed;

typedef struct Link {
    Arena *arena;
    const char *object;
    size_t size;
    const char *why;
    Elf64_Ehdr head;
    Elf64_Shdr *inputs;
    Placed *placed;
    const char *names; /* of symbols */
    uint64_t names_size;
    Elf64_Sym *symbols;
    int32_t nsymbols;
    Section out[OUT_COUNT];
    Vec(int32_t) exported; /* symbols of the dynamic table, from number 1 on */
    Vec(Elf64_Rela) relative;
    StrBuf strings[OUT_COUNT];
    Vec(Elf64_Phdr) segments;
} Link;

static bool refuse(Link *l, const char *format, ...) QN_PRINTF(2, 3);
static bool refuse(Link *l, const char *format, ...) {
    va_list args;
    StrBuf text;
    buf_init(&text, l->arena);
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    if (!l->why) l->why = buf_take(&text).bytes;
    return false;
}

static uint64_t align_to(uint64_t n, uint64_t align) {
    return align > 1 ? (n + align - 1) / align * align : n;
}

/* -- reading the object ----------------------------------------------------------------------- */

/* `count` items of `item` bytes at `offset` of the object; NULL when they do not lie in it. */
static const char *object_bytes(const Link *l, uint64_t offset, uint64_t count, uint64_t item) {
    uint64_t bytes;
    if (__builtin_mul_overflow(count, item, &bytes) || offset > l->size || bytes > l->size - offset)
        return NULL;
    return l->object + offset;
}

/* A NUL-terminated name in a string table of the object, or NULL. */
static const char *name_in(const char *table, uint64_t size, uint64_t at) {
    return table && at < size && memchr(table + at, 0, size - at) ? table + at : NULL;
}

static bool read_head(Link *l) {
    const char *head = object_bytes(l, 0, 1, sizeof l->head);
    if (!head) return refuse(l, "this is no ELF file");
    memcpy(&l->head, head, sizeof l->head);
    const Elf64_Ehdr *h = &l->head;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_type != ET_REL || h->e_machine != MACHINE_AMDGPU ||
        h->e_shentsize != sizeof(Elf64_Shdr))
        return refuse(l, "this is no relocatable ELF file for AMD GPUs");
    const char *sections = object_bytes(l, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr));
    if (!sections) return refuse(l, "the section table lies outside the file");
    l->inputs = arena_copy(l->arena, sections, sizeof(Elf64_Shdr) * h->e_shnum);
    l->placed = arena_array(l->arena, Placed, h->e_shnum + 1);
    return true;
}

static bool read_symbols(Link *l) {
    for (int i = 0; i < l->head.e_shnum; i++) {
        const Elf64_Shdr *s = &l->inputs[i];
        if (s->sh_type != SHT_SYMTAB) continue;
        const char *symbols = object_bytes(l, s->sh_offset, s->sh_size, 1);
        if (!symbols || s->sh_link >= l->head.e_shnum) break;
        const Elf64_Shdr *strings = &l->inputs[s->sh_link];
        l->names = object_bytes(l, strings->sh_offset, strings->sh_size, 1);
        l->names_size = strings->sh_size;
        l->nsymbols = (int32_t)(s->sh_size / sizeof(Elf64_Sym));
        l->symbols = arena_copy(l->arena, symbols, sizeof(Elf64_Sym) * (size_t)l->nsymbols);
        if (l->names) return true;
    }
    return refuse(l, "the file has no symbol table");
}

static Out out_of(const Elf64_Shdr *s, const char *name) {
    if (!(s->sh_flags & SHF_ALLOC) || !s->sh_size) return OUT_none;
    if (s->sh_type == SHT_NOTE) return OUT_note;
    if (s->sh_flags & SHF_EXECINSTR) return OUT_text;
    if (!(s->sh_flags & SHF_WRITE)) return OUT_rodata;
    if (s->sh_type == SHT_NOBITS) return OUT_bss;
    return strncmp(name, ".data.rel.ro", 12) == 0 ? OUT_relro : OUT_data;
}

/* Sizes and alignments that LLVM writes; a damaged file may claim any. */
static bool believable(Link *l, const Elf64_Shdr *s, Out kind, uint64_t *total) {
    uint64_t align = QN_MAX(s->sh_addralign, 1);
    if (align > PAGE || (align & (align - 1)))
        return refuse(l, "a section is aligned to %llu bytes", (unsigned long long)align);
    if (s->sh_type == SHT_NOBITS) {
        if (s->sh_size <= INT32_MAX && kind == OUT_bss) return true;
        return refuse(l, "a section without bytes is no zeroed data of at most 2 GiB");
    }
    if (!object_bytes(l, s->sh_offset, s->sh_size, 1))
        return refuse(l, "a section lies outside the file");
    *total += s->sh_size;
    return *total <= l->size || refuse(l, "sections lie over each other");
}

/* Input sections follow each other in the output section of their kind. */
static bool place_inputs(Link *l) {
    const Elf64_Shdr *inputs = l->inputs;
    uint64_t total = 0;
    if (l->head.e_shstrndx >= l->head.e_shnum) return refuse(l, "sections have no names");
    const Elf64_Shdr *strings = &inputs[l->head.e_shstrndx];
    const char *names = object_bytes(l, strings->sh_offset, strings->sh_size, 1);
    for (int i = 0; i < l->head.e_shnum; i++) {
        const char *name = name_in(names, strings->sh_size, inputs[i].sh_name);
        if (!name) return refuse(l, "a section has no name");
        Placed *p = &l->placed[i];
        Out kind = out_of(&inputs[i], name);
        if (!kind) continue;
        if (!believable(l, &inputs[i], kind, &total)) return false;
        Section *out = &l->out[kind];
        p->out = kind;
        p->at = align_to(out->size, inputs[i].sh_addralign);
        out->used = true;
        out->align = QN_MAX(out->align, QN_MAX(inputs[i].sh_addralign, 1));
        out->size = p->at + inputs[i].sh_size;
    }
    return true;
}

static void copy_inputs(Link *l) {
    for (int o = 0; o < OUT_COUNT; o++)
        if (l->out[o].used && rows[o].type != SHT_NOBITS)
            l->out[o].bytes = arena_zalloc(l->arena, l->out[o].size);
    for (int i = 0; i < l->head.e_shnum; i++) {
        Section *out = &l->out[l->placed[i].out];
        const Elf64_Shdr *s = &l->inputs[i];
        if (!l->placed[i].out || s->sh_type == SHT_NOBITS || !out->bytes) continue;
        memcpy(out->bytes + l->placed[i].at, l->object + s->sh_offset, s->sh_size);
    }
}

/* -- tables ----------------------------------------------------------------------------------- */

static void table(Link *l, Out out, uint64_t size, uint64_t align, Out link, uint32_t info) {
    Section *s = &l->out[out];
    s->used = true;
    s->size = size;
    s->align = align;
    s->link = link;
    s->info = info;
    s->bytes = rows[out].type == SHT_NOBITS ? NULL : arena_zalloc(l->arena, size);
}

static const char *symbol_name(const Link *l, int32_t i) {
    return name_in(l->names, l->names_size, l->symbols[i].st_name);
}

static bool is_defined(const Link *l, const Elf64_Sym *s) {
    return s->st_shndx != SHN_UNDEF && s->st_shndx < l->head.e_shnum &&
           l->placed[s->st_shndx].out != OUT_none;
}

static bool choose_exported(Link *l) {
    for (int32_t i = 1; i < l->nsymbols; i++) {
        const Elf64_Sym *s = &l->symbols[i];
        if (!symbol_name(l, i)) return refuse(l, "a symbol has no name");
        int visibility = ELF64_ST_VISIBILITY(s->st_other);
        if (ELF64_ST_BIND(s->st_info) == STB_LOCAL || !is_defined(l, s)) continue;
        if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
        vec_push(l->arena, &l->exported, i);
    }
    return true;
}

static uint32_t add_string(Link *l, Out out, const char *text) {
    StrBuf *buf = &l->strings[out];
    if (!buf->arena) {
        buf_init(buf, l->arena);
        buf_char(buf, 0);
    }
    uint32_t at = (uint32_t)buf->len;
    buf_bytes(buf, text, strlen(text) + 1);
    return at;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (uint8_t)*name;
    return h;
}

static uint32_t sysv_hash(const char *name) {
    uint32_t h = 0;
    for (; *name; name++) {
        h = (h << 4) + (uint8_t)*name;
        h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
    }
    return h;
}

/* Symbols of one bucket stand together: the order of the dynamic table. */
static uint32_t gnu_buckets(const Link *l) {
    return (uint32_t)QN_MAX(l->exported.len / 4, 1);
}

static void sort_exported(Link *l) {
    uint32_t n = gnu_buckets(l);
    for (int32_t i = 1; i < l->exported.len; i++) { /* stable; there are a few symbols */
        int32_t symbol = l->exported.items[i], at = i;
        uint32_t bucket = gnu_hash(symbol_name(l, symbol)) % n;
        for (; at > 0; at--) {
            if (gnu_hash(symbol_name(l, l->exported.items[at - 1])) % n <= bucket) break;
            l->exported.items[at] = l->exported.items[at - 1];
        }
        l->exported.items[at] = symbol;
    }
}

static uint32_t bloom_words(const Link *l) {
    uint32_t words = 1, wanted = (uint32_t)l->exported.len * 12 / 64;
    while (words <= wanted)
        words *= 2;
    return wanted ? words : 1;
}

static void fill_gnu_hash(Link *l) {
    uint32_t buckets = gnu_buckets(l), words = bloom_words(l), n = (uint32_t)l->exported.len;
    uint32_t *head = (uint32_t *)l->out[OUT_gnu_hash].bytes;
    uint64_t *bloom = (uint64_t *)(head + 4);
    uint32_t *bucket = (uint32_t *)(bloom + words), *values = bucket + buckets;
    head[0] = buckets, head[1] = 1, head[2] = words, head[3] = 26;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t h = gnu_hash(symbol_name(l, l->exported.items[i]));
        uint32_t next = i + 1 < n ? gnu_hash(symbol_name(l, l->exported.items[i + 1])) : 0;
        bool last = i + 1 == n || next % buckets != h % buckets;
        bloom[h / 64 & (words - 1)] |= UINT64_C(1) << h % 64 | UINT64_C(1) << (h >> 26) % 64;
        if (!bucket[h % buckets]) bucket[h % buckets] = i + 1;
        values[i] = last ? h | 1 : h & ~UINT32_C(1);
    }
}

static void fill_hash(Link *l) {
    uint32_t n = (uint32_t)l->exported.len + 1;
    uint32_t *head = (uint32_t *)l->out[OUT_hash].bytes, *buckets = head + 2, *chains = buckets + n;
    head[0] = head[1] = n;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t h = sysv_hash(symbol_name(l, l->exported.items[i - 1])) % n;
        chains[i] = buckets[h];
        buckets[h] = i;
    }
}

/* Sizes of everything that is not in the object, before addresses are given. */
static void size_tables(Link *l) {
    uint32_t n = (uint32_t)l->exported.len, nrelative = (uint32_t)l->relative.len;
    table(l, OUT_dynsym, sizeof(Elf64_Sym) * (n + 1), 8, OUT_dynstr, 1);
    uint64_t gnu =
        16 + 8 * (uint64_t)bloom_words(l) + 4 * (uint64_t)gnu_buckets(l) + 4 * (uint64_t)n;
    table(l, OUT_gnu_hash, gnu, 8, OUT_dynsym, 0);
    table(l, OUT_hash, 4 * (2 + 2 * ((uint64_t)n + 1)), 4, OUT_dynsym, 0);
    sort_exported(l);
    table(l, OUT_dynstr, 0, 1, OUT_none, 0);
    if (nrelative) table(l, OUT_rela, sizeof(Elf64_Rela) * nrelative, 8, OUT_dynsym, 0);
    table(l, OUT_dynamic, sizeof(Elf64_Dyn) * (nrelative ? 11 : 7), 8, OUT_dynstr, 0);
    table(l, OUT_padding, 0, 1, OUT_none, 0);
}

/* -- addresses -------------------------------------------------------------------------------- */

/* Is `out` the first section of a segment of its own? */
static bool opens_segment(const Link *l, Out out) {
    switch (out) {
    case OUT_text: return true;
    case OUT_relro: return true;
    case OUT_dynamic: return !l->out[OUT_relro].used;
    case OUT_data: return true;
    case OUT_bss: return !l->out[OUT_data].used;
    default: return false;
    }
}

static int count_segments(const Link *l) {
    /* headers, read-only, relocated, dynamic, relro, stack, note */
    return 7 + l->out[OUT_text].used + (l->out[OUT_data].used || l->out[OUT_bss].used);
}

static uint64_t place_sections(Link *l) {
    uint64_t headers = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) * (uint64_t)count_segments(l);
    uint64_t addr = headers, offset = headers;
    for (Out o = OUT_note; o < OUT_symtab; o++) {
        Section *s = &l->out[o];
        if (!s->used) continue;
        if (opens_segment(l, o)) addr = align_to(addr, PAGE) + addr % PAGE;
        s->addr = addr = align_to(addr, s->align);
        /* what has bytes lies at an offset that agrees with its address in the lower bits */
        if (o == OUT_padding) { /* reserves the rest of the page, but nothing follows it */
            s->size = align_to(addr, PAGE) - addr;
            s->offset = offset;
            continue;
        }
        offset = align_to(offset, s->align);
        s->offset = offset;
        addr += s->size;
        if (rows[o].type != SHT_NOBITS) offset += s->size;
    }
    return offset;
}

static void segment(Link *l, uint32_t type, uint32_t flags, Out first, Out last, uint64_t align) {
    const Section *s = NULL;
    Elf64_Phdr p = {.p_type = type, .p_flags = flags, .p_align = align};
    for (Out o = first; first && o <= last; o++) {
        const Section *next = &l->out[o];
        if (!next->used) continue;
        if (!s) {
            s = next;
            p.p_offset = s->offset;
            p.p_vaddr = p.p_paddr = s->addr;
        }
        p.p_memsz = next->addr + next->size - s->addr;
        if (rows[o].type != SHT_NOBITS) p.p_filesz = next->addr + next->size - s->addr;
    }
    if (s || !first) vec_push(l->arena, &l->segments, p);
}

static void make_segments(Link *l) {
    uint64_t headers = sizeof(Elf64_Phdr) * (uint64_t)count_segments(l);
    Elf64_Phdr self = {.p_type = PT_PHDR,
                       .p_flags = PF_R,
                       .p_offset = sizeof(Elf64_Ehdr),
                       .p_vaddr = sizeof(Elf64_Ehdr),
                       .p_paddr = sizeof(Elf64_Ehdr),
                       .p_filesz = headers,
                       .p_memsz = headers,
                       .p_align = 8};
    vec_push(l->arena, &l->segments, self);
    segment(l, PT_LOAD, PF_R, OUT_note, OUT_rodata, PAGE);
    Elf64_Phdr *first = &vec_last(&l->segments); /* begins with the headers */
    first->p_filesz = first->p_memsz = first->p_vaddr + first->p_memsz;
    first->p_offset = first->p_vaddr = first->p_paddr = 0;
    segment(l, PT_LOAD, PF_R | PF_X, OUT_text, OUT_text, PAGE);
    segment(l, PT_LOAD, PF_R | PF_W, OUT_relro, OUT_padding, PAGE);
    segment(l, PT_LOAD, PF_R | PF_W, OUT_data, OUT_bss, PAGE);
    segment(l, PT_DYNAMIC, PF_R | PF_W, OUT_dynamic, OUT_dynamic, 8);
    segment(l, PT_GNU_RELRO, PF_R, OUT_relro, OUT_padding, 1);
    segment(l, PT_GNU_STACK, PF_R | PF_W, OUT_none, OUT_none, 0);
    segment(l, PT_NOTE, PF_R, OUT_note, OUT_note, l->out[OUT_note].align);
}

/* -- relocations ------------------------------------------------------------------------------ */

static uint64_t symbol_address(const Link *l, const Elf64_Sym *s) {
    const Placed *p = &l->placed[s->st_shndx];
    return l->out[p->out].addr + p->at + s->st_value;
}

static void put(char *to, uint64_t value, int bytes) {
    memcpy(to, &value, (size_t)bytes);
}

/* The symbol of a relocation; NULL after refusing. */
static const Elf64_Sym *target_of(Link *l, const Elf64_Rela *r) {
    uint64_t number = ELF64_R_SYM(r->r_info);
    if (number == 0 || number >= (uint64_t)l->nsymbols) {
        refuse(l, "a relocation without a symbol");
        return NULL;
    }
    const Elf64_Sym *s = &l->symbols[number];
    if (is_defined(l, s)) return s;
    refuse(l, "%s is not defined", symbol_name(l, (int32_t)number));
    return NULL;
}

static bool relocate(Link *l, const Placed *p, uint64_t room, const Elf64_Rela *r) {
    static const uint8_t sizes[] = {
        [R_ABS32_LO] = 4, [R_ABS32_HI] = 4, [R_ABS64] = 8,    [R_REL32] = 4, [R_REL64] = 8,
        [R_ABS32] = 4,    [R_REL32_LO] = 4, [R_REL32_HI] = 4, [R_REL16] = 2};
    const Elf64_Sym *symbol = target_of(l, r);
    if (!symbol) return false;
    uint64_t kind = ELF64_R_TYPE(r->r_info);
    int bytes = kind < (uint64_t)countof(sizes) ? sizes[kind] : 0;
    if (!bytes) return refuse(l, "relocations of kind %d are not known here", (int)kind);
    if (r->r_offset > room || room - r->r_offset < (uint64_t)bytes)
        return refuse(l, "a relocation outside its section");
    Section *out = &l->out[p->out];
    char *place = out->bytes + p->at + r->r_offset;
    uint64_t value = symbol_address(l, symbol) + (uint64_t)r->r_addend;
    uint64_t relative = value - (out->addr + p->at + r->r_offset);
    switch (kind) {
    case R_REL32:
    case R_REL32_LO:
    case R_REL64: put(place, relative, bytes); return true;
    case R_REL32_HI: put(place, relative >> 32, bytes); return true;
    case R_REL16: put(place, (uint64_t)(((int64_t)relative - 4) / 4), bytes); return true;
    case R_ABS64: return true; /* the loader does it: fill_relative */
    default: return refuse(l, "the code needs absolute addresses of 32 bits");
    }
}

typedef bool (*Visit)(Link *l, const Placed *p, uint64_t room, const Elf64_Rela *r);

static bool each_relocation(Link *l, Visit visit) {
    for (int i = 0; i < l->head.e_shnum; i++) {
        const Elf64_Shdr *s = &l->inputs[i];
        if (s->sh_type != SHT_RELA) continue;
        if (s->sh_info >= l->head.e_shnum) return refuse(l, "relocations of no section");
        const Placed *p = &l->placed[s->sh_info];
        if (!p->out || !l->out[p->out].bytes) continue; /* of debug information, say */
        const char *at = object_bytes(l, s->sh_offset, s->sh_size, 1);
        if (!at) return refuse(l, "relocations lie outside the file");
        for (uint64_t k = 0; k < s->sh_size / sizeof(Elf64_Rela); k++) {
            Elf64_Rela r;
            memcpy(&r, at + k * sizeof r, sizeof r);
            if (!visit(l, p, l->inputs[s->sh_info].sh_size, &r)) return false;
        }
    }
    return true;
}

static bool collect_relative(Link *l, const Placed *p, uint64_t room, const Elf64_Rela *r) {
    (void)room;
    if (ELF64_R_TYPE(r->r_info) != R_ABS64) return true;
    if (!(rows[p->out].flags & SHF_WRITE))
        return refuse(l, "an address in memory that is only read");
    if (!target_of(l, r)) return false;
    Elf64_Rela kept = *r; /* r_info: the output section, for now */
    kept.r_offset += p->at;
    kept.r_addend += (int64_t)l->symbols[ELF64_R_SYM(r->r_info)].st_value;
    const Placed *of = &l->placed[l->symbols[ELF64_R_SYM(r->r_info)].st_shndx];
    kept.r_addend += (int64_t)of->at;
    kept.r_info = (uint64_t)p->out << 32 | of->out;
    vec_push(l->arena, &l->relative, kept);
    return true;
}

/* Sections of the output come in the order of their addresses, and so do relocations inside one. */
static void fill_relative(Link *l) {
    Elf64_Rela *out = (Elf64_Rela *)l->out[OUT_rela].bytes;
    int32_t n = 0;
    for (int32_t i = 0; i < l->relative.len; i++) {
        Elf64_Rela r = l->relative.items[i];
        r.r_offset += l->out[r.r_info >> 32].addr;
        r.r_addend += (int64_t)l->out[(uint32_t)r.r_info].addr;
        r.r_info = ELF64_R_INFO(0, R_RELATIVE64);
        int32_t at = n++;
        for (; at > 0 && out[at - 1].r_offset > r.r_offset; at--)
            out[at] = out[at - 1];
        out[at] = r;
    }
}

/* -- contents of the tables ------------------------------------------------------------------- */

static Elf64_Sym output_symbol(Link *l, int32_t i, Out names) {
    Elf64_Sym s = l->symbols[i];
    const char *name = symbol_name(l, i);
    s.st_value = symbol_address(l, &l->symbols[i]);
    s.st_shndx = (uint16_t)l->out[l->placed[l->symbols[i].st_shndx].out].number;
    s.st_name = names == OUT_none ? 0 : add_string(l, names, name);
    return s;
}

static void name_exported(Link *l) {
    for (int32_t i = 0; i < l->exported.len; i++)
        add_string(l, OUT_dynstr, symbol_name(l, l->exported.items[i]));
    if (!l->exported.len) add_string(l, OUT_dynstr, "");
    l->out[OUT_dynstr].size = (uint64_t)l->strings[OUT_dynstr].len;
    l->out[OUT_dynstr].bytes = l->strings[OUT_dynstr].bytes;
}

static void fill_dynsym(Link *l) {
    Elf64_Sym *out = (Elf64_Sym *)l->out[OUT_dynsym].bytes;
    uint32_t name = 1;
    for (int32_t i = 0; i < l->exported.len; i++) {
        out[i + 1] = output_symbol(l, l->exported.items[i], OUT_none);
        out[i + 1].st_name = name;
        name += (uint32_t)strlen(symbol_name(l, l->exported.items[i])) + 1;
    }
}

/* Locals first, as ELF wants it. */
static void fill_symtab(Link *l) {
    Vec(Elf64_Sym) all = {0};
    Elf64_Sym none = {0};
    uint32_t locals = 0;
    vec_push(l->arena, &all, none);
    for (int global = 0; global < 2; global++) {
        for (int32_t i = 1; i < l->nsymbols; i++) {
            const Elf64_Sym *s = &l->symbols[i];
            if ((ELF64_ST_BIND(s->st_info) != STB_LOCAL) != global || !is_defined(l, s)) continue;
            if (ELF64_ST_TYPE(s->st_info) == STT_SECTION) continue;
            Elf64_Sym symbol = output_symbol(l, i, OUT_strtab);
            vec_push(l->arena, &all, symbol);
        }
        if (!global) locals = (uint32_t)all.len;
    }
    table(l, OUT_symtab, sizeof(Elf64_Sym) * (uint64_t)all.len, 8, OUT_strtab, locals);
    memcpy(l->out[OUT_symtab].bytes, all.items, sizeof(Elf64_Sym) * (size_t)all.len);
}

static void fill_dynamic(Link *l) {
    Elf64_Dyn *out = (Elf64_Dyn *)l->out[OUT_dynamic].bytes;
    const Section *s = l->out;
    int n = 0;
    if (s[OUT_rela].used) {
        out[n++] = (Elf64_Dyn){DT_RELA, {s[OUT_rela].addr}};
        out[n++] = (Elf64_Dyn){DT_RELASZ, {s[OUT_rela].size}};
        out[n++] = (Elf64_Dyn){DT_RELAENT, {sizeof(Elf64_Rela)}};
        out[n++] = (Elf64_Dyn){DT_RELACOUNT, {(uint64_t)l->relative.len}};
    }
    out[n++] = (Elf64_Dyn){DT_SYMTAB, {s[OUT_dynsym].addr}};
    out[n++] = (Elf64_Dyn){DT_SYMENT, {sizeof(Elf64_Sym)}};
    out[n++] = (Elf64_Dyn){DT_STRTAB, {s[OUT_dynstr].addr}};
    out[n++] = (Elf64_Dyn){DT_STRSZ, {s[OUT_dynstr].size}};
    out[n++] = (Elf64_Dyn){DT_GNU_HASH, {s[OUT_gnu_hash].addr}};
    out[n++] = (Elf64_Dyn){DT_HASH, {s[OUT_hash].addr}};
}

/* -- the file --------------------------------------------------------------------------------- */

static void number_sections(Link *l) {
    int32_t n = 1;
    for (Out o = OUT_note; o < OUT_symtab; o++)
        if (l->out[o].used) l->out[o].number = n++;
    for (Out o = OUT_symtab; o < OUT_COUNT; o++)
        l->out[o].number = n++;
}

static void string_table(Link *l, Out out) {
    table(l, out, 0, 1, OUT_none, 0);
    l->out[out].size = (uint64_t)l->strings[out].len;
    l->out[out].bytes = l->strings[out].bytes;
}

static Str write_file(Link *l, uint64_t offset) {
    uint32_t names[OUT_COUNT] = {0};
    int32_t count = 1;
    fill_symtab(l);
    for (Out o = OUT_note; o < OUT_COUNT; o++)
        if (l->out[o].used || o >= OUT_symtab) names[o] = add_string(l, OUT_shstrtab, rows[o].name);
    string_table(l, OUT_shstrtab);
    string_table(l, OUT_strtab);
    for (Out o = OUT_symtab; o < OUT_COUNT; o++) {
        l->out[o].offset = offset = align_to(offset, l->out[o].align);
        offset += l->out[o].size;
    }
    offset = align_to(offset, 8);
    for (Out o = OUT_note; o < OUT_COUNT; o++)
        count += l->out[o].used;
    size_t size = (size_t)offset + sizeof(Elf64_Shdr) * (size_t)count;
    char *file = arena_zalloc(l->arena, size);
    Elf64_Ehdr head = l->head;
    head.e_type = ET_DYN;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = (uint16_t)l->segments.len;
    head.e_shoff = offset;
    head.e_shnum = (uint16_t)count;
    head.e_shstrndx = (uint16_t)l->out[OUT_shstrtab].number;
    memcpy(file, &head, sizeof head);
    memcpy(file + sizeof head, l->segments.items, sizeof(Elf64_Phdr) * (size_t)l->segments.len);
    Elf64_Shdr *table_at = (Elf64_Shdr *)(file + offset);
    for (Out o = OUT_note; o < OUT_COUNT; o++) {
        const Section *s = &l->out[o];
        if (!s->used) continue;
        if (s->bytes) memcpy(file + s->offset, s->bytes, s->size);
        table_at[s->number] = (Elf64_Shdr){.sh_name = names[o],
                                           .sh_type = rows[o].type,
                                           .sh_flags = rows[o].flags,
                                           .sh_addr = s->addr,
                                           .sh_offset = s->offset,
                                           .sh_size = s->size,
                                           .sh_link = (uint32_t)l->out[s->link].number,
                                           .sh_info = s->info,
                                           .sh_addralign = s->align,
                                           .sh_entsize = rows[o].entry};
    }
    return (Str){file, (int32_t)size};
}

/* The object is read: everything gets its place, then its contents. */
static bool lay_out(Link *l, uint64_t *end) {
    copy_inputs(l);
    if (!each_relocation(l, collect_relative)) return false;
    size_tables(l);
    name_exported(l);
    number_sections(l);
    *end = place_sections(l);
    make_segments(l);
    return each_relocation(l, relocate);
}

Str amdgpu_link(Arena *arena, const void *object, size_t size, const char **why) {
    Link l = {.arena = arena, .object = object, .size = size};
    uint64_t end;
    bool ok = read_head(&l) && read_symbols(&l) && place_inputs(&l) && choose_exported(&l) &&
              lay_out(&l, &end);
    if (!ok) {
        *why = l.why;
        return (Str){0};
    }
    fill_dynsym(&l);
    fill_gnu_hash(&l);
    fill_hash(&l);
    if (l.relative.len) fill_relative(&l);
    fill_dynamic(&l);
    return write_file(&l, end);
}
