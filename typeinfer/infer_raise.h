/* infer_raise.h - the part of infer.h about exceptions: raising them, and what handlers make of them. */
#ifndef QUERN_INFER_RAISE_H
#define QUERN_INFER_RAISE_H

/* -- infer_raise.c -- */

bool infer_raise(Infer *in, Ref ref);
bool infer_caught(Infer *in, Ref ref, Val *out);
bool infer_match(Infer *in, Ref ref, Val *out);
bool infer_reraise(Infer *in, Ref ref);
/* When all functions are typed: which of the exceptions raised in the module each handler matches. false: a Python exception
 * is pending. */
bool infer_settle_handlers(Ti *ti);

/* type(e): its own type, which comparisons and __name__ take. */
bool type_is_caught_class(const Type *type);
bool infer_refuse_class(Infer *in, Ref at); /* false always */
bool v_caught_class(Infer *in, Val caught, Val *out);
/* type(e) is ValueError; *done false: it is no such comparison. */
bool v_compare_caught_class(Infer *in, bool is_not, Val a, Val b, bool *done, Val *out);
/* Adds a class or a tuple of them; `others`: classes of anything else are passed over. */
bool infer_classes(Infer *in, ClassSet *set, Val v, bool others);

/* -- infer_exception.c: exceptions that are objects -- */

/* Of an exception; of type(e) of one. */
bool type_is_exception(const Type *type);
bool type_is_exception_class(const Type *type);
const Type *type_exception(TypeTable *types, const RaisedAt *const *found, int32_t count);
const Type *type_any_exception(TypeTable *types); /* nothing is known of it */
const Type *type_exceptions_joined(TypeTable *types, const Type *a, const Type *b);
/* `cls` as an exception of that class without arguments, where it meets one: `raise` takes either. */
const Type *type_raised_class(TypeTable *types, const Type *cls, const Type *other);
Ref emit_raised_class(Emit *e, const Binding *cls, const Type *exception);
/* Are what the function's handlers catch objects? */
bool infer_keeps_caught(const Infer *in);
/* They have to be: all begins again, or this use is refused. false always. */
bool infer_keep_caught(Infer *in, Ref at);
bool infer_phi_of_caught(const Infer *in, Ref phi);
bool infer_yields_in_handler(const Infer *in);
bool infer_only_raised(const Infer *in, Ref made);
/* Where code is emitted: what rows take of an exception, which lives until v_exception_held. */
Ref v_exception_memory(Infer *in, Val exception);
void v_exception_held(Infer *in, Val exception);
bool v_same_exception(Infer *in, Val a, Val b, Val *out);

/* -- infer_caught.c: what handlers read of exceptions -- */

/* The type of what the `caught` instruction catches, an object, where inference is now. */
bool infer_caught_type(Infer *in, Ref caught, const Type **out);

void infer_note_raise(Infer *in, Ref at, const Binding *cls, const Type *args);
void infer_note_call(Infer *in, Instance *callee); /* at in->at */
bool v_caught_attr(Infer *in, Val caught, Str name, Val *out);

/* -- infer_stop.c -- */

/* May a StopIteration that the instruction raises leave the generator that is specialised? */
bool stop_may_leave(Infer *in, Ref ref);
/* What it becomes, in the block that it comes to. */
void emit_stop_leaves(Infer *in, int32_t handler);

#endif
