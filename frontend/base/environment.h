/* environment.h - the variables of the environment that Quern reads; `environment.def` has a row for each. */
#ifndef QUERN_ENVIRONMENT_H
#define QUERN_ENVIRONMENT_H

#include "frontend/base/str.h"

typedef enum EnvVariable {
#define VARIABLE(id, name, values, meaning) ENV_##id,
#include "frontend/base/environment.def"
#undef VARIABLE
    ENV_VARIABLES
} EnvVariable;

/* Its text, the environment's own (getenv); NULL: it is not set, or empty. */
const char *env_value(EnvVariable variable);
const char *env_name(EnvVariable variable);
/* The table of docs/reference.md. */
void env_print_reference(StrBuf *out);

#endif
