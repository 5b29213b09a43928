/* strings.h - objects of the class str, for those that make and read them outside of compiled code. */
#ifndef QUERN_STRINGS_H
#define QUERN_STRINGS_H

#include "codegen/artifact.h"

/* As ir_classes.def lays it out. */
typedef struct StrObject {
    ObjectHeader header;
    int64_t length, kind, hash;
    char *data;
    Owner *owner;
    int64_t nbytes, stride;
} StrObject;

/* With room for so many code points of `kind` bytes, which are the caller's to write; `cells`: of the class. NULL: no memory. */
StrObject *string_new(const CellLayout *cells, int64_t length, int64_t kind);
/* The layout of str and its kin, for those without types. */
const CellLayout *string_cells(void);
/* A new object of UTF-8, which is as long as the first zero byte. What is no UTF-8 is some code point. NULL: no memory. */
StrObject *quern_text_new(const char *utf8);
/* The text as UTF-8, in memory of malloc(). NULL: none. */
char *quern_text_utf8(const void *text);
/* The object of a constant, given as UTF-8 (with lone surrogates as if they were characters). There is one for each text, and it
 * is never freed: other objects refer to it when the code is long gone. NULL: no memory. */
const StrObject *string_literal(Str text);

/* Called by generated code: the object of one code point, which is below 256. It is never freed. */
StrObject *quern_character(int64_t code);

/* Called by generated code: `n` bytes are as Python hashes the text that they are. */
int64_t quern_text_hash(const char *data, int64_t room, int64_t n);
/* How bytes are hashed: the interpreter says. Until then, in programs without one, by a function of our own. */
void quern_text_use_hash(int64_t (*hash)(const void *data, int64_t n));

/* Called by generated code. The decimal digits of a finite number that is not negative, into `out`, which has room for n + 400
 * bytes: of the shortest text that is read as the number again (as a float32, if it is one), n significant ones without zeros at
 * the end, or all with n behind the point. How many there are, and from bit 32 on where the point stands, plus 100000. */
enum TextDigits { TEXT_SHORTEST, TEXT_SHORTEST_OF_FLOAT32, TEXT_BEHIND_POINT = 3 };
int64_t quern_text_digits(double x, int64_t mode, int64_t n, char *out, int64_t room);
/* The number nearest to so many digits times 10 ** scale; there is room for 40 bytes more. */
double quern_text_number(char *digits, int64_t room, int64_t n, int64_t scale);

#endif
