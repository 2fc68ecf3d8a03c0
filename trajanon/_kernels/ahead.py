"""Memory that is asked for before it is read: a core then does not wait for it."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def ask_for_row(_, array, row):
    """Let the first numbers of a row of an array come into the core's cache."""

    def generate(context, builder, signature, arguments):
        held = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, held.strides)[0]
        offset = builder.mul(builder.sext(arguments[1], stride.type), stride)
        place = builder.gep(builder.bitcast(held.data, cgutils.voidptr_t), [offset])
        word = ir.IntType(32)
        told = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [place.type], told)
        builder.call(ask, [place, word(0), word(3), word(1)])  # to be read, often; numbers
        return context.get_dummy_value()

    return types.void(array, row), generate
