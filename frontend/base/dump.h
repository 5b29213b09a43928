/* dump.h - what QUERN_DUMP asks for: QUERN_DUMP=ssa,types,opt,llvm,asm,ptx,launch,cache. */
#ifndef QUERN_DUMP_H
#define QUERN_DUMP_H

#include "frontend/base/str.h"

/* DUMP(name): after the frontend, after inference, after the passes, LLVM, host code, PTX,
 * launches, entries of the disk cache. */
#define DUMP_WORDS(DUMP)                                                                           \
    DUMP(ssa) DUMP(types) DUMP(opt) DUMP(llvm) DUMP(asm) DUMP(ptx) DUMP(launch) DUMP(cache)

enum DumpIndex {
#define DUMP(name) DUMP_INDEX_##name,
    DUMP_WORDS(DUMP)
#undef DUMP
        DUMP_COUNT
};
enum DumpBit {
#define DUMP(name) DUMP_##name = 1 << DUMP_INDEX_##name,
    DUMP_WORDS(DUMP)
#undef DUMP
};

/* Words separated by commas, spaces allowed, empty items ignored; text == NULL is the empty set.
 * false: *unknown is the first word that is none of them (borrowed from `text`). */
bool dump_parse(const char *text, uint32_t *bits, Str *unknown);
/* The words, for the message about an unknown one: index 0..DUMP_COUNT-1. */
const char *dump_word(int index);

#endif
