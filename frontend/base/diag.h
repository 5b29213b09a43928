/* diag.h - diagnostics are values with places.
 *
 * A function that can fail returns false or NULL after adding one DiagItem; the layer that detects
 * writes the place, the layer that calls adds a note. Nothing prints. Texts are rows of diag.def. */
#ifndef QUERN_DIAG_H
#define QUERN_DIAG_H

#include "frontend/base/str.h"
#include "frontend/base/vec.h"

/* A place in a source file, as CPython gives it: 1-based lines, 0-based UTF-8 byte columns, -1 and 0
 * where unknown. `file` names the file; it is interned per compilation. */
typedef struct Span {
    Str file;
    int32_t line, end_line;
    int32_t column, end_column;
} Span;

typedef enum Severity { SEV_ERROR, SEV_WARNING } Severity;

/* Which Python exception the boundary raises for a diagnostic. */
typedef enum DiagClass {
    DIAG_UNSUPPORTED, /* quern.errors.UnsupportedError */
    DIAG_TYPING,      /* quern.errors.TypingError */
    DIAG_VALUE, /* quern.errors.LiteralValueError: a constant out of the range that is possible */
    DIAG_LOWERING, /* quern.errors.LoweringError: code generation failed */
    DIAG_SYNTAX,   /* ValueError: a bad signature string, option or IR text */
    DIAG_MEMORY,   /* MemoryError */
    DIAG_WARNING   /* a performance or numeric warning, delivered through `warnings` */
} DiagClass;

typedef enum DiagCode {
#define DIAG(code, severity, cls, format) code,
#include "frontend/base/diag.def"
#undef DIAG
    DIAG_COUNT
} DiagCode;

typedef struct DiagNote {
    bool has_span;
    Span span;
    Str text;
} DiagNote;

typedef struct DiagItem {
    DiagCode code;
    bool has_span;
    Span span;
    Str text; /* formatted */
    Vec(DiagNote) notes;
} DiagItem;

typedef struct DiagList {
    Arena *arena;
    Vec(DiagItem) items;
    bool failed;    /* an ERROR is in the list */
    DiagItem spare; /* diag_out_of_memory */
} DiagList;

void diag_init(DiagList *list, Arena *arena);
/* Adds an item; arguments follow the row's format. Returns false so that one can `return diag_add(...)`. */
bool diag_add(DiagList *list, DiagCode code, const Span *span, ...);
/* The list is E0003 and nothing else now; takes no memory. false, as diag_add. */
bool diag_out_of_memory(DiagList *list);
/* Attach a note to the newest item. */
void diag_note(DiagList *list, const Span *span, const char *format, ...) QN_PRINTF(3, 4);

const char *diag_name(DiagCode code); /* "E0207" */
DiagClass diag_class(DiagCode code);
Severity diag_severity(DiagCode code);

/* Gives the text of line `line` (without newline) of `file`, or an empty Str. */
typedef Str (*SourceLine)(void *user, Str file, int32_t line);
/* The form of DESIGN 10: file:line:column, message, code, the line, the caret, notes. Control
 * characters in user text are escaped. `source` may be NULL. */
void diag_render(StrBuf *out, const DiagItem *item, SourceLine source, void *user);

#endif
