/* The table of exported functions, and cuGetProcAddress. */
#include "fc.h"

#define SYM(name, base, version) void name(void);
#include "syms.def"
#undef SYM

const FcSymRow fc_syms[SYM_COUNT] = {
#define SYM(name, base, version) {#name, #base, version, name},
#include "syms.def"
#undef SYM
};

/* FAKECUDA_MISSING names exported or base names. */
static bool is_missing(const FcSymRow *row) {
    char word[128];
    const char *missing = fc_driver()->config.missing;
    snprintf(word, sizeof word, ",%s,", row->name);
    if (strstr(missing, word)) return true;
    snprintf(word, sizeof word, ",%s,", row->base);
    return strstr(missing, word) != NULL;
}

/* The newest row of that base name that both the caller and this driver's version know. */
static void *look_up(const char *name, int version, int *status) {
    const FcSymRow *best = NULL;
    int driver_version = fc_driver()->config.version;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (int i = 0; i < SYM_COUNT; i++) {
        const FcSymRow *row = &fc_syms[i];
        if (strcmp(row->base, name) != 0 || row->version > driver_version || is_missing(row))
            continue;
        if (row->version > version) {
            if (!best) *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            continue;
        }
        if (!best || row->version > best->version) best = row;
    }
    if (!best) return NULL;
    *status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *address;
    memcpy(&address, &best->address, sizeof address);
    return address;
}

/* The exported functions are declared above as what they are to the table: addresses. Those defined
 * in this file therefore get their names through the assembler. */
FC_API CUresult fc_get_proc_address(const char *name, void **out, int version,
                                    uint64_t flags) __asm__("cuGetProcAddress");
FC_API CUresult fc_get_proc_address_v2(const char *name, void **out, int version, uint64_t flags,
                                       int *status) __asm__("cuGetProcAddress_v2");

CUresult fc_get_proc_address(const char *name, void **out, int version, uint64_t flags) {
    int status;
    FC_ENTER(cuGetProcAddress, FC_NOTHING, "%s, %d, %d", name ? name : "NULL", version, (int)flags);
    FC_REQUIRE(name && out && flags <= 2, ERROR_INVALID_VALUE);
    *out = look_up(name, version, &status);
    return fc_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CUresult fc_get_proc_address_v2(const char *name, void **out, int version, uint64_t flags,
                                int *status) {
    int found;
    FC_ENTER(cuGetProcAddress_v2, FC_NOTHING, "%s, %d, %d", name ? name : "NULL", version,
             (int)flags);
    FC_REQUIRE(name && out && flags <= 2, ERROR_INVALID_VALUE);
    *out = look_up(name, version, &found);
    if (status) *status = found;
    return fc_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}
