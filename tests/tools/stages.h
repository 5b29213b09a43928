/* stages.h - what golden.c can run: each layer adds one file stages_NAME.c with a table of stages, and one
 * row in stages.def. */
#ifndef QUERN_STAGES_H
#define QUERN_STAGES_H

#include "frontend/frontend.h"

/* One run of a stage on one golden file. Everything is in the arena, which ends with the test. */
typedef struct StageRun {
    Arena *arena;
    DiagList *diags; /* rendered behind the output */
    Str value;       /* of --ARGS-- NAME=VALUE; empty when there is none */
    int nwords;      /* further words of --ARGS-- */
    const Str *words;
    const char *code; /* --CODE--, NUL-terminated */
    StrBuf *out;
} StageRun;

typedef struct Stage {
    const char *name;
    /* Writes its result to run->out. false: it failed, and said why in run->diags. */
    bool (*run)(StageRun *run);
} Stage;

/* A table of stages ends with a row whose name is NULL. */
#define STAGES(name) extern const Stage stages_##name[];
#include "tests/tools/stages.def"
#undef STAGES

#endif
