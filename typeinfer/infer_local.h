/* infer_local.h - what a kernel makes. */
#ifndef QUERN_INFER_LOCAL_H
#define QUERN_INFER_LOCAL_H

#include "typeinfer/infer.h"

bool ti_has_heap(const Infer *in); /* kernels and code for GPUs have none */
/* What is known of an array of these sizes. */
const Fact *local_lengths(Infer *in, const ConstVal *sizes);
/* A new array in a kernel, of lengths that are constants, or an error; `name`: who makes it. */
bool v_local_array(Infer *in, const char *name, const Type *type, const Val *shape, int32_t n,
                   Val *out);

/* A list in a kernel of which an item is assigned (`k` 0: by `ref`, and it is the list that a display or a repetition, `list`, makes): it is
 * to be made anew, as an array. false: it cannot be one. */
bool local_list_changes(Infer *in, Ref ref, int32_t k, Ref list);
/* Is it such a list? Then what `ref` does with it as its operand k is looked at; *ok false: an error, or to be visited again. */
bool local_list_checked(Infer *in, Ref ref, int32_t k, bool *ok);
/* Of a display or a repetition that came to a tuple. */
bool v_local_list(Infer *in, Ref list, Val *v);
/* An item of one that holds Python numbers alone is one. */
void v_local_item(Infer *in, Ref ref, Val *item);
/* format, str, repr and "".join of what is only printed, in kernels; known false: it is something else. */
bool v_kernel_text(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);

#endif
