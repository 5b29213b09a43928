/* infer_made.h - containers whose maker does not say what they hold (infer_container.c), and what makes their objects (infer_made.c). */
#ifndef QUERN_INFER_MADE_H
#define QUERN_INFER_MADE_H

#include "typeinfer/infer.h"

/* An object of that class; a list with these items, the others with none. */
Ref container_emit(Infer *in, const Type *type, const Val *items, int32_t n);

/* What the function returns, as long as nothing need be assumed: a container of nobody knows what; NULL: something else. */
const Type *container_left_open(Infer *in);
/* Is that the other one, of which any type was assumed? */
bool container_is_closed(Infer *in, const Type *open, const Type *type);
/* The call that is looked at gives such a container, or one that was just made: *out is its type, by what the caller does with it. `result`:
 * what it gives when any type is assumed. */
bool container_of_call(Infer *in, const Type *made, const Type *result, const Type **out);
/* A list, dict or set, of no variant. */
bool container_is_made(const Type *type);
/* It is returned by a function whose result is of a type that its caller says. */
bool container_returned(Infer *in, Ref ref, const Type *declared);
/* The sum of two lists, of which nobody knows what one holds. */
bool container_added(Infer *in, Val a, Val b, Val *out);

/* The fact of a value that is a container, in the type that its web has now. */
void container_of_today(Infer *in, Ref ref, Fact *f);
/* A web of containers that stay empty gets a type; false: there is none. */
bool container_close_webs(Infer *in);
/* As `like`, of these parameters; NULL: nobody knows. */
const Type *container_like(Infer *in, const Type *like, const Type *const *params);
/* The value is a container of that type, or a tuple that holds some, of which more is known than its fact says: whatever makes them is told.
 * false: an error; *found: there is something to tell. */
bool container_told(Infer *in, Ref ref, const Type *type, int steps, bool *found);

/* -- infer.c -- */

/* Is there an instruction of which inference has come no further? */
bool infer_is_stuck(const Infer *in);

/* -- infer_assumed.c -- */

/* Which unknown type: in parameter `param` of the containers of a web; `path` says where in it. */
typedef struct AssumedAt {
    Ref web;
    int32_t param;
    uint64_t path;
} AssumedAt;
/* Nothing says what a container holds that is of this type, or NULL: an int is assumed of each unknown type in it. */
const Type *assumed_type(Infer *in, const Type *type, const AssumedAt *at);
/* Both are what containers hold that are of one type: so is what is assumed in them. */
void assumed_is(Infer *in, const Type *a, const Type *b);
/* A value may be of either: containers are of one type then, numbers need not be. */
void assumed_meets(Infer *in, const Type *a, const Type *b);
/* The instruction has computed it: if that is an int of what was assumed to be one, it says nothing of what it is put into. */
void assumed_follows(Infer *in, Ref ref, Fact *f);
/* All that was assumed is known now, or an int; false: nothing was assumed. */
bool assumed_settle(Ti *ti);
/* Has anything been assumed in this round? Then there is another one. */
bool assumed_any(const Ti *ti);
void assumed_begin(Ti *ti); /* another round */

/* -- infer_origin.c -- */

/* What a method of a container, or a function that is given one, gives. */
typedef enum Gives {
    GIVES_OTHER,     /* nothing that is known as long as nobody knows what the container holds */
    GIVES_NONE,      /* it changes the container */
    GIVES_ITSELF,    /* an operator in place */
    GIVES_COPY,      /* another container of the same */
    GIVES_LIST,      /* of what a walk over it gives */
    GIVES_STORED,    /* one of its elements, or of the values of a dict */
    GIVES_STORED_OR, /* that, or a default */
    GIVES_PAIR,      /* a key and its value */
    GIVES_NEXT,      /* what a walk over it gives, once */
    /* Walks, which ask themselves what is known of the items: */
    GIVES_WALK,
    GIVES_KEYS,
    GIVES_VALUES,
    GIVES_PAIRS,
    GIVES_NUMBERED, /* (number, item) */
    GIVES_EACH,     /* a tuple of an item of each argument */
    GIVES_LENGTH
} Gives;
Gives container_gives(Str name);
static inline bool gives_walk(Gives gives) {
    return gives >= GIVES_WALK;
}

/* So many values may be taken out of one another. */
enum { ORIGIN_STEPS = 12 };
/* What the value was taken out of is told of what type it is; *found: there is such a thing. */
bool origin_told(Infer *in, Ref ref, const Type *type, int steps, bool *found);
/* It was given to the function: whoever calls that is told. */
void origin_wants(Infer *in, Ref ref, const Type *type);
/* The callee puts something into containers among its arguments of which nothing was known. `closure`: whose variables are the last. */
bool container_wanted(Infer *in, const Instance *callee, const Val *values, const Val *closure);

/* Of an empty display that is seen as a tuple until it is known to be filled, what was concluded may be wrong: sorted(()) is a list of
 * ints. Then inference begins again with the list, of what it was found to hold `before` (NULL: nothing is known). */
void list_begin(Infer *in, const Infer *before);
/* Did inference get stuck where another round may not? */
bool list_unstick(Infer *in);
/* The display is a list from the beginning in another round; the list that it then makes. */
void list_begins(Infer *in, Ref site);
void container_begins(Infer *in, Ref site, const Type *list);

#endif
