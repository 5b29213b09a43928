/* objects.h - objects on the heap, and buffers of what is counted: how they are made, and how they go.
 *
 * Destruction is data: each block knows where in its cells pointers to owners lie, and one function walks over them with a
 * list instead of recursion. */
#ifndef QUERN_OBJECTS_H
#define QUERN_OBJECTS_H

#include "codegen/artifact.h"

/* Where the counted pointers lie. Made once for each shape and kept until the process ends: objects outlive the code that
 * made them. An object is one cell, which starts with its header; those of a buffer start behind it. */
struct CellLayout {
    struct CellLayout *next; /* of the registry */
    int64_t first, size;     /* of the first cell from the header on; of each */
    int32_t n;
    int64_t offsets[]; /* in a cell */
};

/* A list, as ir_classes.def lays it out. */
typedef struct ListObject {
    ObjectHeader header;
    int64_t length;
    char *data;
    Owner *owner;
    int64_t capacity, stride;
} ListObject;

typedef struct TableArray {
    char *data;
    Owner *owner;
    int64_t length, stride;
} TableArray;

/* A dict, as ir_classes.def lays it out; a set has no values. */
typedef struct TableObject {
    ObjectHeader header;
    int64_t length, used, free;
    TableArray table, hashes, keys, values;
} TableObject;

/* NULL: no memory. */
const CellLayout *object_cells(const Type *cls);
const CellLayout *buffer_cells(const Type *element);
/* One with the numbers of `shape`, and n offsets. */
const CellLayout *known_cells(const CellLayout *shape, const int64_t *offsets);

/* Called by generated code, and by what makes objects for it. NULL: no memory. The fields are the caller's to fill, all of them. */
Owner *quern_new_object(const CellLayout *cells);
/* As quern_alloc_array, with elements that are all empty. */
Owner *quern_alloc_buffer(int64_t nbytes, const CellLayout *cells);
/* A buffer with room for nbytes, of which the first `used` are those of the old one: the old one itself, moved, where nobody else
 * refers to it. `cells`: of counted elements, or NULL. NULL: no memory, and the old one is as it was. */
Owner *quern_grow(Owner *old, int64_t used, int64_t nbytes, const CellLayout *cells);
/* The elements go from `from` to `to`, and where they were is empty if they are counted. */
void quern_move(char *to, char *from, int64_t nbytes, int32_t counted);
/* A frame of a generator: `close` (cg_close.c) is called before it goes. */
typedef int32_t (*CloseCode)(CallContext *ctx, char *data, Owner *owner);
enum { CLOSE_YIELDED = 3 }; /* beside the statuses of calls */
void quern_closing(Owner *frame, CloseCode close);
/* Another reference to a frame goes: if it is the last one, its handlers run; what they raise goes to nobody (PendingHandler.close). */
void quern_drop_frame(CallContext *ctx, Owner *frame);
/* As a call; a generator that has not begun, or has ended, does nothing more. */
int32_t quern_close(CallContext *ctx, Owner *frame);
/* Does it wait in code that shall know of its end? */
bool quern_closes(const Owner *frame);
/* For the whole process, for tests; what has a `destroy` of its own counts itself. */
int64_t support_live_objects(void);
void support_count_object(int64_t change);

#endif
