/* diag.c - the table of messages, the list, and the rendering with a source line and a caret. */
#include "frontend/base/diag.h"

typedef struct DiagRow {
    const char *name;
    Severity severity;
    DiagClass cls;
    const char *format;
} DiagRow;

static const DiagRow rows[DIAG_COUNT] = {
#define DIAG(code, severity, cls, format) [code] = {#code, severity, cls, format},
#include "frontend/base/diag.def"
#undef DIAG
};

const char *diag_name(DiagCode code) {
    return rows[code].name;
}
DiagClass diag_class(DiagCode code) {
    return rows[code].cls;
}
Severity diag_severity(DiagCode code) {
    return rows[code].severity;
}

void diag_init(DiagList *list, Arena *arena) {
    *list = (DiagList){.arena = arena};
}

bool diag_add(DiagList *list, DiagCode code, const Span *span, ...) {
    StrBuf text;
    buf_init(&text, list->arena);
    va_list args;
    va_start(args, span);
    buf_vprintf(&text, rows[code].format, args);
    va_end(args);
    DiagItem item = {.code = code, .text = buf_take(&text)};
    if (span) item.has_span = true, item.span = *span;
    vec_push(list->arena, &list->items, item);
    list->failed |= rows[code].severity == SEV_ERROR;
    return false;
}

bool diag_out_of_memory(DiagList *list) {
    list->spare = (DiagItem){.code = E0003, .text = str_from(rows[E0003].format)};
    list->items.items = &list->spare;
    list->items.len = list->items.cap = 1;
    list->failed = true;
    return false;
}

void diag_note(DiagList *list, const Span *span, const char *format, ...) {
    if (list->items.len == 0) return;
    StrBuf text;
    buf_init(&text, list->arena);
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    DiagNote note = {.text = buf_take(&text)};
    if (span) note.has_span = true, note.span = *span;
    vec_push(list->arena, &vec_last(&list->items).notes, note);
}

/* -- rendering ------------------------------------------------------------------------------- */

/* The column where codes stand, so that they line up in a terminal. */
enum { CODE_COLUMN = 77, CODE_GAP = 3 };

/* Length of the well-formed UTF-8 sequence at p, or 0; *point receives the character. */
static int utf8_length(const char *bytes, int32_t left, uint32_t *point) {
    const uint8_t *p = (const uint8_t *)bytes;
    if (p[0] < 0x80) return *point = p[0], 1;
    int n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n > left) return 0;
    uint32_t c = p[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    return *point = c, n;
}

/* Characters that could move the cursor, recolour a terminal or reorder the text around them. */
static bool is_hostile(uint32_t c) {
    return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Writes one character of user text, escaped where needed; returns the bytes read. *width: columns.
 */
static int put_char(StrBuf *out, const char *bytes, int32_t left, int *width) {
    uint32_t c = 0;
    int n = utf8_length(bytes, left, &c), before = out->len;
    if (n == 0)
        buf_printf(out, "\\x%02x", (uint8_t)bytes[0]);
    else if (!is_hostile(c))
        return buf_bytes(out, bytes, (size_t)n), *width = 1, n;
    else
        buf_printf(out, c == '\n' ? "\\n" : c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
    *width = out->len - before;
    return QN_MAX(n, 1);
}

static int put_text(StrBuf *out, Str text) {
    int columns = 0, width = 0;
    for (int32_t i = 0; i < text.len; columns += width)
        i += put_char(out, text.bytes + i, text.len - i, &width);
    return columns;
}

/* The source line and, below it, the caret line. A span of several lines is underlined to the end
 * of its first. */
static void put_source(StrBuf *out, const Span *span, Str line) {
    while (line.len && (line.bytes[line.len - 1] == '\n' || line.bytes[line.len - 1] == '\r' ||
                        line.bytes[line.len - 1] == ' '))
        line.len--;
    if (line.len == 0) return;
    buf_printf(out, "%5d | ", (int)span->line);
    int32_t from = span->column, to = span->end_column;
    if (span->end_line != span->line || to > line.len) to = line.len;
    StrBuf carets;
    buf_init(&carets, out->arena);
    for (int32_t i = 0; i < line.len;) {
        char mark = i >= from && i < to ? '^' : line.bytes[i] == '\t' ? '\t' : ' ';
        int width = 0;
        int n = put_char(out, line.bytes + i, line.len - i, &width);
        if (i < to)
            for (int k = 0; k < width; k++)
                buf_char(&carets, mark);
        i += n;
    }
    buf_char(out, '\n');
    if (from < 0 || from >= to) return;
    buf_str(out, "      | ");
    buf_bytes(out, carets.bytes, (size_t)carets.len);
    buf_char(out, '\n');
}

/* Editors count characters: so does the column shown, where the line is known. */
static int shown_column(const Span *span, Str line) {
    int column = 1;
    for (int32_t i = 0; i < span->column; i++)
        column += !(i < line.len && (line.bytes[i] & 0xc0) == 0x80);
    return column;
}

/* "file:line:column: "; returns the columns written. */
static int put_place(StrBuf *out, const Span *span, Str line) {
    int columns = put_text(out, span->file);
    int before = out->len;
    if (span->line > 0) buf_printf(out, ":%d", (int)span->line);
    if (span->line > 0 && span->column >= 0) buf_printf(out, ":%d", shown_column(span, line));
    buf_str(out, ": ");
    return columns + out->len - before;
}

static Str line_of(const Span *span, SourceLine source, void *user) {
    return source && span->line > 0 ? source(user, span->file, span->line) : (Str){NULL, 0};
}

void diag_render(StrBuf *out, const DiagItem *item, SourceLine source, void *user) {
    static const char *const words[] = {"error: ", "warning: ", "note: "};
    const char *word = words[rows[item->code].severity];
    Str line = {NULL, 0};
    if (item->has_span) line = line_of(&item->span, source, user);
    int columns = item->has_span ? put_place(out, &item->span, line) : 0;
    buf_str(out, word);
    columns += (int)strlen(word) + put_text(out, item->text);
    for (int gap = QN_MAX(CODE_COLUMN - columns, CODE_GAP); gap > 0; gap--)
        buf_char(out, ' ');
    buf_printf(out, "[%s]\n", rows[item->code].name);
    if (line.bytes) put_source(out, &item->span, line);
    for (int32_t i = 0; i < item->notes.len; i++) {
        const DiagNote *note = &item->notes.items[i];
        line = note->has_span ? line_of(&note->span, source, user) : (Str){NULL, 0};
        if (note->has_span) put_place(out, &note->span, line);
        buf_str(out, "note: ");
        put_text(out, note->text);
        buf_char(out, '\n');
        if (line.bytes) put_source(out, &note->span, line);
    }
}
