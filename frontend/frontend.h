/* frontend.h - the public face of frontend: base, IR, bytecode, resolver. */
#ifndef QUERN_FRONTEND_H
#define QUERN_FRONTEND_H

#include "frontend/base/arena.h"
#include "frontend/base/bits.h"
#include "frontend/base/diag.h"
#include "frontend/base/hash.h"
#include "frontend/base/map.h"
#include "frontend/base/str.h"
#include "frontend/base/target_kind.h"
#include "frontend/base/vec.h"
#include "frontend/bytecode/code.h"
#include "frontend/ir/ir.h"
#include "frontend/ir/type.h"
#include "frontend/resolver.h"

#endif
