/* work.h - for the pass `loops`: what a round of a loop weighs. */
#ifndef QUERN_WORK_H
#define QUERN_WORK_H

#include "codegen/opt/pass.h"

typedef struct Work {
    int64_t insts;
    int64_t weight; /* rounds of a small loop */
    bool asks;      /* something in it may take long: the loop asks in each of its rounds */
} Work;

Work opt_work_of(const Func *func, const Cfg *cfg, int32_t loop);

#endif
