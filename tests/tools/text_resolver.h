/* text_resolver.h - a program as text: functions as code fixtures, and what their names mean. The
 * resolver of golden tests and of jitc.
 *
 *     args i64, array(f64, 1, C)          types of the entry's arguments, in IR form
 *     result f64                          optional
 *     option kernel debug no_boundscheck error_numpy strong_numbers parallel target=cuda
 *     global N = const 5                  a name of every function's module
 *     freevar f 0 = const 2.5             free variable 0 of function f
 *     default f 1 = const none            default of parameter 1 of function f
 *     attr numpy.thing = const 3          an attribute that the library does not have
 *     library builtins.sum = my_sum       the function that implements a name of the library
 *     function f                          the code of f: a fixture of dump_code.py, to the next one
 *     code 313
 *     ...
 *
 * What a name is:  const VALUE   numpy TYPE VALUE   module NAME   library NAME   function NAME
 *     type TYPE   exception NAME   array TYPE "name" shape(2) bytes "hex"   opaque NAME
 *     tuple (WHAT; WHAT; ...)
 * Values, types and arrays are written as in the IR's text form. The first function is the entry. */
#ifndef QUERN_TEXT_RESOLVER_H
#define QUERN_TEXT_RESOLVER_H

#include "typeinfer/typeinfer.h"

typedef struct TextProgram {
    Resolver resolver;
    InferRequest request; /* function, argument types, options */
} TextProgram;

/* NULL: a diagnostic says what is wrong. Everything lives in the module's arena. */
TextProgram *text_program(Module *module, const char *text, DiagList *diags);

#endif
