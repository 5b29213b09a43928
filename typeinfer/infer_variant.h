/* infer_variant.h - what infer_variant.c, infer_fields.c and infer_match.c declare for the rest of typeinfer. */
#ifndef QUERN_INFER_VARIANT_H
#define QUERN_INFER_VARIANT_H

#include "typeinfer/infer.h"

/* -- infer_variant.c: defaultdict, Counter, OrderedDict, frozenset -- */
bool type_is_frozen(const Type *type);
bool type_is_variant(const Type *type, Variant variant);
const Type *type_variant_like(Infer *in, const Type *type, const Type *like);
Str variant_method(Infer *in, const Type *cls, Str name); /* its name in the library */
bool variant_hides(Infer *in, const Type *cls, Str method);
bool typed_defaultdict(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_counter(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_ordered(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool typed_frozenset(Infer *in, const Val *v, const CallArgs *args, Val *out);
bool primitive_missing(Infer *in, const Val *args, int32_t n, Val *out);
bool primitive_maker_text(Infer *in, const Val *args, int32_t n, Val *out);

/* -- infer_fields.c: _replace, _asdict and their kin of dataclasses -- */
const char *fields_name(int32_t index); /* NULL behind the last */
/* *known false: it is another name. */
bool v_fields_call(Infer *in, Str name, const CallArgs *args, bool *known, Val *out);
bool primitive_fields(Infer *in, const Val *args, int32_t n, Val *out);

/* -- infer_match.c: patterns of classes -- */
bool typed_match_class(Infer *in, const Val *v, const CallArgs *args, Val *out);

#endif
