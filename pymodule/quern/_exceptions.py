"""What the __init__ of a class of exceptions makes of its arguments, as functions of these.

A handler in compiled code that reads e.n asks Python for the value, which makes the exception and runs its __init__. What type the value
has is to be known before. So that inference finds it, attribute_of() makes a function of the source of __init__: self.n is a variable
of it, and what it gives. Nothing ever calls it."""
import ast
import builtins
import inspect
import textwrap
import types
import weakref

_PREFIX = "attribute "
_known = weakref.WeakKeyDictionary()


class _Unclear(Exception):
    """Nothing can be said of what the class does."""


def attribute_of(cls, name):
    """The function, or None; of "args" what the exception's arguments are where they are not those of the constructor."""
    known = _known.setdefault(cls, {})
    if name not in known:
        try:
            known[name] = _function(cls, name)
        except (_Unclear, OSError, TypeError, SyntaxError, ValueError):
            known[name] = None
    return known[name]


def _owner(cls):
    """The class whose __init__ runs, if that is a Python function."""
    for base in cls.__mro__:
        if "__init__" in vars(base):
            return base if isinstance(vars(base)["__init__"], types.FunctionType) else None
    return None


def _after(owner, cls):
    """The class that super() means in methods of owner."""
    line = cls.__mro__
    return line[line.index(owner) + 1]


class _Names(ast.NodeTransformer):
    """self.n becomes a variable."""

    def __init__(self, own):
        self.own = own

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == self.own:
            return ast.copy_location(ast.Name(_PREFIX + node.attr, node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id == self.own:
            raise _Unclear
        return node

    def visit_Return(self, node):
        raise _Unclear

    visit_Yield = visit_YieldFrom = visit_Await = visit_Return


def _is_super(node):
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    return call and not node.keywords and len(node.args) in (0, 2)


class _Body:
    def __init__(self, cls, owner, name):
        self.cls, self.owner, self.name = cls, owner, name
        self.init = vars(owner)["__init__"]
        source = textwrap.dedent(inspect.getsource(self.init))
        self.tree = ast.parse(source).body[0]
        if not isinstance(self.tree, ast.FunctionDef) or self.tree.decorator_list:
            raise _Unclear
        args = self.tree.args
        if not args.posonlyargs + args.args:
            raise _Unclear
        ast.increment_lineno(self.tree, self.init.__code__.co_firstlineno - 1)
        self.own = (args.posonlyargs or args.args).pop(0).arg
        names = self.init.__code__.co_freevars
        self.given = {n: c for n, c in zip(names, self.init.__closure__ or ()) if n != "__class__"}

    def base_of(self, call):
        """The class whose __init__ the statement calls, and the arguments; None: it is no such call."""
        f = call.func
        if not isinstance(f, ast.Attribute) or f.attr != "__init__":
            return None
        if _is_super(f.value):
            return self.base_by_super(f.value.args), call.args
        value = self.named(f.value)
        if not isinstance(value, type) or not call.args or getattr(call.args[0], "id", None) != self.own:
            return None
        return value, call.args[1:]

    def named(self, node):
        """What a name with dots stands for outside of the function; None: nothing, or it is no such name."""
        if isinstance(node, ast.Attribute):
            return getattr(self.named(node.value), node.attr, None)
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.given:
            return self.given[node.id].cell_contents
        local = node.id in self.init.__code__.co_varnames
        return None if local else self.init.__globals__.get(node.id, getattr(builtins, node.id, None))

    def base_by_super(self, args):
        if not args:
            return _after(self.owner, self.cls)
        behind = self.named(args[0])
        if getattr(args[1], "id", None) != self.own or behind not in self.cls.__mro__[:-1]:
            raise _Unclear
        return _after(behind, self.cls)

    def of_base(self, call, base, args):
        """What stands for the call of a base's __init__."""
        owner = _owner(base)
        if owner is not None:
            made = attribute_of(base, self.name)
            if made is None:
                return None
            name = f"base {len(self.given)}"
            self.given[name] = types.CellType(made)
            value = ast.Call(ast.Name(name, ast.Load()), args, call.keywords)
        elif self.name == "args" and not call.keywords:
            value = ast.Tuple(args, ast.Load())
        else:
            return None
        return ast.Assign([ast.Name(_PREFIX + self.name, ast.Store())], value)

    def statements(self):
        out = []
        for node in self.tree.body:
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Constant):
                continue
            base = self.base_of(call) if isinstance(call, ast.Call) else None
            if base:
                node = self.of_base(call, *base)
                if node is None:
                    continue
            out.append(_Names(self.own).visit(node))
        return out


def _written(node):
    """The attribute that the statement assigns, and nothing else."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else getattr(node, "target", None)
    plain = isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(target, ast.Name)
    return target.id if plain and target.id.startswith(_PREFIX) else None


def _needed(body, wanted):
    """Without what only other attributes need."""
    while True:
        read = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
        kept = [s for s in body if _written(s) in (None, wanted) or _written(s) in read]
        if len(kept) == len(body):
            return body
        body = kept


def _function(cls, name):
    owner = _owner(cls)
    if owner is None:
        return None
    body, wanted = _Body(cls, owner, name), _PREFIX + name
    statements = _needed(body.statements(), wanted)
    if not any(isinstance(n, ast.Name) and n.id == wanted for s in statements for n in ast.walk(s)):
        return None
    tree = body.tree
    tree.name = f"{cls.__name__}.{name}"
    tree.returns = None
    tree.body = statements + [ast.Return(ast.Name(wanted, ast.Load()))]
    names = list(body.given)
    make = ast.FunctionDef("make", ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, []),
                           [tree, ast.Return(ast.Name(tree.name, ast.Load()))], [])
    if hasattr(tree, "type_params"):
        make.type_params = []
    module = ast.fix_missing_locations(ast.Module([make], []))
    space = compile(module, body.init.__code__.co_filename, "exec")
    code = next(c for c in space.co_consts if isinstance(c, types.CodeType))
    function = types.FunctionType(code, body.init.__globals__)(*(c.cell_contents for c in body.given.values()))
    function.__defaults__, function.__kwdefaults__ = body.init.__defaults__, body.init.__kwdefaults__
    return function
