/* environment.c - the variables of the environment: see environment.h. */
#include "frontend/base/environment.h"
#include <stdlib.h>

static const struct {
    const char *name, *values, *meaning;
} variables[] = {
#define VARIABLE(id, name, values, meaning) {name, values, meaning},
#include "frontend/base/environment.def"
#undef VARIABLE
};

const char *env_value(EnvVariable variable) {
    const char *text = getenv(variables[variable].name);
    return text && *text ? text : NULL;
}

const char *env_name(EnvVariable variable) {
    return variables[variable].name;
}

void env_print_reference(StrBuf *out) {
    buf_str(out,
            "\n## Environment variables\n\nA variable that is set to nothing is as one that is "
            "not set. Under `--as-numba`, settings that Numba has are also read from `NUMBA_` "
            "and the rest of the name.\n\n| variable | values | meaning |\n|---|---|---|\n");
    for (int i = 0; i < ENV_VARIABLES; i++)
        buf_printf(out, "| `%s` | %s | %s |\n", variables[i].name, variables[i].values,
                   variables[i].meaning);
}
