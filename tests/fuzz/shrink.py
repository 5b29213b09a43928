"""Makes a program smaller as long as it still does what is looked for."""
import ast
import copy


def _bodies(tree):
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield body


def _places(tree):
    """(parent, field, index or None) of each expression."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for k, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.expr) and isinstance(getattr(child, "ctx", ast.Load()), ast.Load):
                    yield node, name, k


def _statement_edits(tree):
    """Each edit changes `tree` in place and gives the change back as a function that undoes it."""
    for body in list(_bodies(tree)):
        for k in reversed(range(len(body))):
            if isinstance(body[k], (ast.FunctionDef, ast.Pass)):
                continue
            kept = body[:]
            replacements = [[] if len(body) > 1 else [ast.Pass()]]
            if isinstance(body[k], (ast.If, ast.For, ast.While)):
                inner = [x for x in body[k].body if not isinstance(x, (ast.Break, ast.Continue))] or [ast.Pass()]
                if isinstance(body[k], ast.For):
                    inner = [ast.Assign([copy.deepcopy(body[k].target)], ast.Constant(0), lineno=1), *inner]
                replacements += [inner] + [body[k].orelse] * bool(body[k].orelse)
            for replacement in replacements:
                body[k:k + 1] = replacement
                yield lambda body=body, kept=kept: body.__setitem__(slice(None), kept)


def _expression_edits(tree):
    for parent, name, k in list(_places(tree)):
        value = getattr(parent, name)
        old = value if k is None else value[k]
        smaller = [child for child in ast.iter_child_nodes(old) if isinstance(child, ast.expr)]
        if not isinstance(old, ast.Constant):
            smaller += [ast.Constant(0), ast.Constant(1)]
        for new in smaller:
            if k is None:
                setattr(parent, name, new)
                yield lambda parent=parent, name=name, old=old: setattr(parent, name, old)
            else:
                value[k] = new
                yield lambda value=value, k=k, old=old: value.__setitem__(k, old)


def unparsed(tree):
    """None: it is no program, as where a part of an f-string is a call."""
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except ValueError:
        return None


def shrink(source, still, tries=600):
    """The smallest program found for which still(source) holds."""
    tree = ast.parse(source)
    best, seen = source, {source}
    progress = True
    while progress and tries > 0:
        progress = False
        for edits in (_statement_edits, _expression_edits):
            again = True
            while again and tries > 0:
                again = False
                for undo in edits(tree):
                    text = unparsed(tree)
                    if text and text not in seen and tries > 0:
                        seen.add(text)
                        tries -= 1
                        if still(text):
                            best, again, progress = text, True, True
                            break
                    undo()
    return best
