/* A code object: the ELF file, its symbols, the metadata note (MessagePack) and the kernel descriptors, checked against
 * each other and against the device. What real loaders take on trust is an error here. */
#include "fh.h"

#include <elf.h>
#include <stdlib.h>

enum {
    MACHINE_AMDGPU = 224,
    OSABI_HSA = 64,
    NOTE_METADATA = 32,
    RELATIVE64 = 13,
    DESCRIPTOR_BYTES = 64,
    GENERIC_SINCE = 6040
};

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

typedef struct Check {
    FhImage *image;
    const Elf64_Ehdr *head;
    const Elf64_Phdr *segments;
    char target[96]; /* of the metadata */
    char *why;
    size_t room;
} Check;

static HipResult refuse(Check *c, HipResult code, const char *what) {
    snprintf(c->why, c->room, "code object: %s", what);
    return code;
}

/* -- MessagePack ------------------------------------------------------------------------------- */

typedef struct Reader {
    const unsigned char *at, *end;
    bool bad;
} Reader;

typedef enum Shape { SHAPE_number, SHAPE_text, SHAPE_list, SHAPE_map, SHAPE_other } Shape;

typedef struct Item {
    Shape shape;
    uint64_t number; /* also: how many items or bytes */
    const char *text;
} Item;

static uint64_t take(Reader *r, int bytes) {
    uint64_t value = 0;
    if (r->end - r->at < bytes) return r->bad = true, 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | *r->at++;
    return value;
}

static Item text_item(Reader *r, uint64_t length) {
    Item item = {SHAPE_text, length, (const char *)r->at};
    if ((uint64_t)(r->end - r->at) < length) r->bad = true;
    r->at = r->bad ? r->end : r->at + length;
    return item;
}

/* The next value; of a container only its head. */
static Item next(Reader *r) {
    unsigned tag = (unsigned)take(r, 1);
    if (tag < 0x80) return (Item){SHAPE_number, tag, NULL};
    if (tag < 0x90) return (Item){SHAPE_map, tag & 15, NULL};
    if (tag < 0xa0) return (Item){SHAPE_list, tag & 15, NULL};
    if (tag < 0xc0) return text_item(r, tag & 31);
    switch (tag) {
    case 0xc0:
    case 0xc2:
    case 0xc3: return (Item){SHAPE_other, tag == 0xc3, NULL};
    case 0xcc: return (Item){SHAPE_number, take(r, 1), NULL};
    case 0xcd: return (Item){SHAPE_number, take(r, 2), NULL};
    case 0xce: return (Item){SHAPE_number, take(r, 4), NULL};
    case 0xcf: return (Item){SHAPE_number, take(r, 8), NULL};
    case 0xd9: return text_item(r, take(r, 1));
    case 0xda: return text_item(r, take(r, 2));
    case 0xdc: return (Item){SHAPE_list, take(r, 2), NULL};
    case 0xde: return (Item){SHAPE_map, take(r, 2), NULL};
    default: return r->bad = true, (Item){SHAPE_other, 0, NULL};
    }
}

static void skip(Reader *r) {
    Item item = next(r);
    uint64_t inside = item.shape == SHAPE_map    ? item.number * 2
                      : item.shape == SHAPE_list ? item.number
                                                 : 0;
    for (uint64_t i = 0; i < inside && !r->bad; i++)
        skip(r);
}

static bool is(const Item *item, const char *text) {
    return item->shape == SHAPE_text && strlen(text) == item->number &&
           !memcmp(item->text, text, item->number);
}

static bool starts(const Item *item, const char *text) {
    return item->shape == SHAPE_text && item->number >= strlen(text) &&
           !memcmp(item->text, text, strlen(text));
}

/* -- the metadata ------------------------------------------------------------------------------ */

static void read_arg(Reader *r, FhKernel *k) {
    Item map = next(r), kind = {SHAPE_other, 0, NULL};
    FhArg arg = {0, 0, false};
    for (uint64_t i = 0; i < map.number && !r->bad; i++) {
        Item key = next(r);
        if (is(&key, ".offset"))
            arg.offset = (uint32_t)next(r).number;
        else if (is(&key, ".size"))
            arg.size = (uint32_t)next(r).number;
        else if (is(&key, ".value_kind"))
            kind = next(r);
        else
            skip(r);
    }
    if (starts(&kind, "hidden_")) return;
    arg.pointer = is(&kind, "global_buffer");
    if (k->nargs == FH_MAX_ARGS || (!arg.pointer && !is(&kind, "by_value"))) r->bad = true;
    if (r->bad) return;
    if (arg.offset < k->explicit_bytes) r->bad = true; /* in order, none over another */
    k->explicit_bytes = arg.offset + arg.size;
    k->args[k->nargs++] = arg;
}

static void read_kernel(Reader *r, FhKernel *k) {
    static const struct {
        const char *key;
        size_t field;
    } rows[] = {{".kernarg_segment_size", offsetof(FhKernel, kernarg)},
                {".group_segment_fixed_size", offsetof(FhKernel, lds)},
                {".private_segment_fixed_size", offsetof(FhKernel, scratch)},
                {".wavefront_size", offsetof(FhKernel, wave)},
                {".vgpr_count", offsetof(FhKernel, vgprs)},
                {".sgpr_count", offsetof(FhKernel, sgprs)},
                {".max_flat_workgroup_size", offsetof(FhKernel, max_threads)}};
    Item map = next(r);
    for (uint64_t i = 0; i < map.number && !r->bad; i++) {
        Item key = next(r);
        bool known = false;
        for (unsigned row = 0; row < sizeof rows / sizeof *rows && !known; row++)
            if ((known = is(&key, rows[row].key)))
                *(uint32_t *)((char *)k + rows[row].field) = (uint32_t)next(r).number;
        if (known) continue;
        if (is(&key, ".name")) {
            Item name = next(r);
            snprintf(k->name, sizeof k->name, "%.*s", (int)name.number, name.text ? name.text : "");
        } else if (is(&key, ".args")) {
            Item list = next(r);
            for (uint64_t a = 0; a < list.number && !r->bad; a++)
                read_arg(r, k);
        } else {
            skip(r);
        }
    }
}

static void read_metadata(Check *c, Reader *r) {
    FhImage *image = c->image;
    Item map = next(r);
    if (map.shape != SHAPE_map) r->bad = true;
    for (uint64_t i = 0; i < map.number && !r->bad; i++) {
        Item key = next(r);
        if (is(&key, "amdhsa.kernels")) {
            Item list = next(r);
            image->kernels = calloc(list.number + 1, sizeof *image->kernels);
            if (!image->kernels) r->bad = true;
            for (; image->nkernels < list.number && !r->bad; image->nkernels++)
                read_kernel(r, &image->kernels[image->nkernels]);
        } else if (is(&key, "amdhsa.target")) {
            Item text = next(r);
            snprintf(c->target, sizeof c->target, "%.*s", (int)text.number, text.text);
        } else {
            skip(r);
        }
    }
}

static HipResult find_metadata(Check *c) {
    for (int i = 0; i < c->head->e_phnum; i++) {
        const Elf64_Phdr *p = &c->segments[i];
        if (p->p_type != PT_NOTE) continue;
        const char *at = c->image->bytes + p->p_offset;
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
        uint64_t name = (note->n_namesz + 3u) & ~3u;
        if (note->n_type != NOTE_METADATA || memcmp(at + sizeof *note, "AMDGPU", 7) != 0) continue;
        if (sizeof *note + name + note->n_descsz > p->p_filesz) break;
        const unsigned char *data = (const unsigned char *)at + sizeof *note + name;
        Reader r = {data, data + note->n_descsz, false};
        read_metadata(c, &r);
        if (r.bad || r.at != r.end) return refuse(c, HIP_InvalidImage, "unreadable metadata");
        return HIP_Success;
    }
    return refuse(c, HIP_InvalidImage, "there is no note with metadata");
}

/* -- the file ---------------------------------------------------------------------------------- */

static const ChipRow *chip_named(const char *name, size_t length) {
    for (unsigned i = 0; i < sizeof chips / sizeof *chips; i++)
        if (strlen(chips[i].name) == length && !memcmp(chips[i].name, name, length))
            return &chips[i];
    return NULL;
}

/* fields: 0 none, 1 any, 2 off, 3 on */
static bool feature_ok(const char *arch, const char *feature, uint32_t field) {
    const char *at = strstr(arch, feature);
    char sign = at ? at[strlen(feature)] : 0;
    return field < 2 || !sign || sign == (field == 3 ? '+' : '-');
}

static HipResult check_flags(Check *c, const char *arch, int version) {
    const ChipRow *chip = chip_named(arch, strcspn(arch, ":"));
    uint32_t flags = c->head->e_flags, machine = flags & 0xff;
    bool generic = c->head->e_ident[EI_ABIVERSION] == 4;
    if (c->head->e_ident[EI_ABIVERSION] < 2 || c->head->e_ident[EI_ABIVERSION] > 4 ||
        (generic && version < GENERIC_SINCE))
        return refuse(c, HIP_NoBinaryForGpu, "a version that this runtime does not read");
    const ChipRow *family = chip ? chip_named(chip->family, strlen(chip->family)) : NULL;
    if (!chip || (machine != chip->machine && !(generic && family && machine == family->machine)))
        return refuse(c, HIP_NoBinaryForGpu, "it is for another chip");
    if (!feature_ok(arch, ":xnack", flags >> 8 & 3) ||
        !feature_ok(arch, ":sramecc", flags >> 10 & 3))
        return refuse(c, HIP_NoBinaryForGpu, "it wants another setting of the chip");
    return HIP_Success;
}

static HipResult check_head(Check *c) {
    const Elf64_Ehdr *h = c->head;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB)
        return refuse(c, HIP_InvalidImage, "no ELF file");
    if (h->e_machine != MACHINE_AMDGPU || h->e_ident[EI_OSABI] != OSABI_HSA || h->e_type != ET_DYN)
        return refuse(c, HIP_InvalidImage, "no shared object for AMD GPUs");
    c->image->size = h->e_shoff + (uint64_t)h->e_shnum * h->e_shentsize;
    c->segments = (const Elf64_Phdr *)(c->image->bytes + h->e_phoff);
    for (int i = 0; i < h->e_phnum; i++) {
        const Elf64_Phdr *p = &c->segments[i];
        if (p->p_offset + p->p_filesz > c->image->size || p->p_filesz > p->p_memsz)
            return p->p_type == PT_LOAD || p->p_type == PT_NOTE
                       ? refuse(c, HIP_InvalidImage, "a segment lies outside the file")
                       : HIP_Success;
        if (p->p_type == PT_LOAD && p->p_align && (p->p_vaddr - p->p_offset) % p->p_align)
            return refuse(c, HIP_InvalidImage, "address and offset of a segment disagree");
        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > c->image->span)
            c->image->span = p->p_vaddr + p->p_memsz;
    }
    return c->image->span ? HIP_Success : refuse(c, HIP_InvalidImage, "nothing is to be loaded");
}

/* File bytes behind an address of memory, or NULL. */
static const char *at_address(const FhImage *image, uint64_t address, uint64_t size,
                              bool executable) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)image->bytes;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(image->bytes + h->e_phoff);
    for (int i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr &&
            address + size <= p[i].p_vaddr + p[i].p_filesz && (!executable || p[i].p_flags & PF_X))
            return image->bytes + p[i].p_offset + (address - p[i].p_vaddr);
    return NULL;
}

static uint64_t dynamic(const FhImage *image, int64_t tag) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)image->bytes;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(image->bytes + h->e_phoff);
    for (int i = 0; i < h->e_phnum; i++) {
        if (p[i].p_type != PT_DYNAMIC) continue;
        const Elf64_Dyn *d = (const Elf64_Dyn *)(image->bytes + p[i].p_offset);
        for (; d->d_tag != DT_NULL; d++)
            if (d->d_tag == tag) return d->d_un.d_val;
    }
    return 0;
}

/* The number of symbols stands in the hash table only. */
static uint64_t symbol_count(const FhImage *image) {
    const char *hash = at_address(image, dynamic(image, DT_HASH), 8, false);
    return dynamic(image, DT_HASH) && hash ? ((const uint32_t *)hash)[1] : 0;
}

static const Elf64_Sym *symbol(const FhImage *image, const char *name) {
    uint64_t n = symbol_count(image), room = dynamic(image, DT_STRSZ);
    const Elf64_Sym *s =
        (const Elf64_Sym *)at_address(image, dynamic(image, DT_SYMTAB), n * sizeof *s, false);
    const char *names = at_address(image, dynamic(image, DT_STRTAB), room, false);
    for (uint64_t i = 1; s && names && i < n; i++)
        if (s[i].st_name < room && !strcmp(names + s[i].st_name, name)) return &s[i];
    return NULL;
}

/* The descriptor says what the metadata say, and its code is where code may be. */
static HipResult check_kernel(Check *c, const FhKernel *k) {
    char name[520];
    snprintf(name, sizeof name, "%s.kd", k->name);
    const Elf64_Sym *s = symbol(c->image, name), *code = symbol(c->image, k->name);
    if (!s || !code) return refuse(c, HIP_InvalidImage, "a kernel has no symbol");
    if (s->st_size != DESCRIPTOR_BYTES || ELF64_ST_TYPE(s->st_info) != STT_OBJECT ||
        s->st_value % 64)
        return refuse(c, HIP_InvalidImage,
                      "a kernel's descriptor is no 64 bytes at a multiple of 64");
    const char *d = at_address(c->image, s->st_value, DESCRIPTOR_BYTES, false);
    if (!d) return refuse(c, HIP_InvalidImage, "a kernel's descriptor is not in the file");
    uint32_t lds, scratch, kernarg;
    int64_t entry;
    memcpy(&lds, d, 4), memcpy(&scratch, d + 4, 4), memcpy(&kernarg, d + 8, 4),
        memcpy(&entry, d + 16, 8);
    if (lds != k->lds || scratch != k->scratch || kernarg != k->kernarg)
        return refuse(c, HIP_InvalidImage, "descriptor and metadata disagree");
    uint64_t begin = s->st_value + (uint64_t)entry;
    if (begin != code->st_value || begin % 256 || !at_address(c->image, begin, 4, true))
        return refuse(c, HIP_InvalidImage, "the code of a kernel is not where its descriptor says");
    if (k->explicit_bytes > k->kernarg)
        return refuse(c, HIP_InvalidImage, "arguments lie behind the end of their segment");
    return HIP_Success;
}

static HipResult check_kernels(Check *c, const char *arch) {
    size_t base = strcspn(arch, ":");
    const char *dash = strstr(c->target, "--");
    if (!dash || (strncmp(dash + 2, arch, base) != 0 && !strstr(dash, "generic")))
        return refuse(c, HIP_InvalidImage, "metadata and flags name different chips");
    if (!c->image->nkernels) return refuse(c, HIP_InvalidImage, "there is no kernel");
    for (uint32_t i = 0; i < c->image->nkernels; i++) {
        HipResult result = check_kernel(c, &c->image->kernels[i]);
        if (result) return result;
    }
    return HIP_Success;
}

HipResult fh_image_open(FhImage *image, const void *bytes, const char *arch, int version, char *why,
                        size_t room) {
    *image = (FhImage){.bytes = bytes};
    Check c = {.image = image, .head = bytes, .why = why, .room = room};
    HipResult result = check_head(&c);
    if (!result) result = check_flags(&c, arch, version);
    if (!result) result = find_metadata(&c);
    if (!result) result = check_kernels(&c, arch);
    if (result) {
        fh_image_close(image);
        return result;
    }
    char *kept = malloc(image->size); /* the caller may free its own */
    if (!kept) return fh_image_close(image), HIP_OutOfMemory;
    image->bytes = memcpy(kept, bytes, image->size);
    image->owned = true;
    return HIP_Success;
}

void fh_image_close(FhImage *image) {
    if (image->owned) free((void *)(uintptr_t)image->bytes);
    free(image->kernels);
    *image = (FhImage){.bytes = NULL};
}

void fh_image_place(const FhImage *image, char *memory, uint64_t address) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)image->bytes;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(image->bytes + h->e_phoff);
    memset(memory, 0, image->span);
    for (int i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD)
            memcpy(memory + p[i].p_vaddr, image->bytes + p[i].p_offset, p[i].p_filesz);
    uint64_t size = dynamic(image, DT_RELASZ);
    const Elf64_Rela *r =
        (const Elf64_Rela *)at_address(image, dynamic(image, DT_RELA), size, false);
    for (uint64_t i = 0; r && i < size / sizeof *r; i++) {
        uint64_t value = address + (uint64_t)r[i].r_addend;
        if (ELF64_R_TYPE(r[i].r_info) == RELATIVE64 && r[i].r_offset + 8 <= image->span)
            memcpy(memory + r[i].r_offset, &value, sizeof value);
    }
}

bool fh_image_variable(const FhImage *image, const char *name, uint64_t *offset, uint64_t *size) {
    const Elf64_Sym *s = symbol(image, name);
    size_t length = strlen(name);
    bool descriptor = length > 3 && !strcmp(name + length - 3, ".kd");
    if (!s || ELF64_ST_TYPE(s->st_info) != STT_OBJECT || descriptor) return false;
    *offset = s->st_value;
    *size = s->st_size;
    return true;
}

bool fh_image_code(const FhImage *image, uint64_t *offset, uint64_t *size) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)image->bytes;
    const Elf64_Phdr *p = (const Elf64_Phdr *)(image->bytes + h->e_phoff);
    for (int i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X) {
            *offset = p[i].p_vaddr;
            *size = p[i].p_filesz;
            return true;
        }
    return false;
}

const char *fh_image_descriptor(const FhImage *image, const char *kernel, uint64_t *entry) {
    char name[520];
    int64_t distance;
    snprintf(name, sizeof name, "%s.kd", kernel);
    const Elf64_Sym *s = symbol(image, name);
    const char *d = s ? at_address(image, s->st_value, DESCRIPTOR_BYTES, false) : NULL;
    if (!d) return NULL;
    memcpy(&distance, d + 16, sizeof distance);
    *entry = s->st_value + (uint64_t)distance;
    return d;
}
