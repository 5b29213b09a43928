"""What the functions of this package are written with, beside the compiled subset. They exist in compiled code only and
trust their callers; typeinfer/infer_primitive.c implements them, tables/primitives.def says what each does."""

from quern._names import Intrinsic

check_index = Intrinsic("primitive.check_index")
cholesky_columns = Intrinsic("primitive.cholesky_columns")
convert = Intrinsic("primitive.convert")
disjoint = Intrinsic("primitive.disjoint")
dot = Intrinsic("primitive.dot")
guard = Intrinsic("primitive.guard")
iterate = Intrinsic("primitive.iterate")
layout = Intrinsic("primitive.layout")
load = Intrinsic("primitive.load")
lu_columns = Intrinsic("primitive.lu_columns")
map = Intrinsic("primitive.map")
map_into = Intrinsic("primitive.map_into")
product = Intrinsic("primitive.product")
promise = Intrinsic("primitive.promise")
read_only = Intrinsic("primitive.read_only")
reduce = Intrinsic("primitive.reduce")
reinterpret = Intrinsic("primitive.reinterpret")
reshape = Intrinsic("primitive.reshape")
restride = Intrinsic("primitive.restride")
result_type = Intrinsic("primitive.result_type")
solve_columns = Intrinsic("primitive.solve_columns")
store = Intrinsic("primitive.store")
