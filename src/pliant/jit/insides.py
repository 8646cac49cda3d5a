"""All that leans on the insides of Numba: checked for the versions of ``TESTED``, left aside for others.

*Tuples by reference.* Numba hands a named tuple over by value: every array is seven to fifteen numbers, so that a tuple
of a hundred arrays is a thousand arguments, and each mention of it in a kernel a thousand loads and stores for LLVM to
clear away. Here it is a pointer to words as `handover` writes them. They do not change while kernels run, so that
reading them is marked invariant: LLVM may read once and keep, whatever a kernel writes elsewhere.

*One program an entry.* Numba turns every function, together with all it calls, into machine code: what is called at a
depth of eight is emitted eight times. Here a kernel ends as optimised LLVM code; an entry, which Python calls, links
all it needs, once, is optimised as a whole and emitted as one program.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import compiler
from numba.core import ir as numba_ir
from numba.core import types as numba_types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.extending import infer_getattr, lower_getattr_generic, models, register_model
from numba.core.imputils import impl_ret_borrowed
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import AnnotateTypes
from numba.core.typing.templates import AttributeTemplate

from pliant.jit import handover
from pliant.jit.handover import TypeName
from pliant.jit.store import processor_levels

LARGEST_INLINED = 400  # instructions; LLVM's measure of inlining ends far below
WORD = ir.IntType(64)
types: Any = numba_types  # a module whose names are made at run time
NUMBERS = {"f": types.float64, "i": types.int64, "b": types.boolean, "c": types.complex128}


class TupleByReference(types.Type):
    """A named tuple: fields, their types, and where the words of each begin."""

    def __init__(self, label: str, fields: tuple[str, ...], members: tuple[Any, ...]) -> None:
        self.label, self.fields, self.members = label, fields, members
        *self.offsets, self.words = accumulate(map(_count_words, members), initial=0)
        listed = ", ".join(f"{field}: {member.name}" for field, member in zip(fields, members))
        super().__init__(f"{label}({listed})")

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """What stands for the type in names of functions: all its fields would be thousands of letters."""
        return hashlib.sha256(self.name.encode()).hexdigest()[:16], ()


def _count_words(member: Any) -> int:
    return member.words if isinstance(member, TupleByReference) else handover.count_words(name_of(member))


def type_of(name: TypeName) -> Any:
    """Numba's type for the name of a type."""
    if isinstance(name, tuple):
        label, members = name[0], tuple(map(type_of, name[1:]))
        if not label:
            return types.Tuple(members) if members else types.Tuple(())
        module, _, qualified = label.partition(":")
        fields = getattr(import_module(module), qualified)._fields
        return TupleByReference(label, fields, members)
    if name in NUMBERS:
        return NUMBERS[name]
    dtype, ndim, order, written, aligned = handover.name_parts(name)
    return types.Array(numba.from_dtype(np.dtype(dtype)), ndim, order, readonly=not written, aligned=aligned)


def name_of(typ: Any) -> TypeName:
    """The name of a type of Numba's; LookupError for one that has none."""
    if isinstance(typ, TupleByReference):
        return (typ.label, *map(name_of, typ.members))
    if isinstance(typ, types.NamedTuple):
        raise LookupError(typ)
    if isinstance(typ, types.BaseTuple):
        return ("", *map(name_of, typ))
    if isinstance(typ, types.Array):
        marks = ("" if typ.mutable else "r") + ("" if typ.aligned else "u")
        return f"{numba.np.numpy_support.as_dtype(typ.dtype).str}:{typ.ndim}{typ.layout}{marks}"
    if typ is types.none:
        return "n"
    for name, number in NUMBERS.items():
        if typ == number:
            return name
    raise LookupError(typ)


def result_name(typ: Any) -> TypeName:
    """The name of what a kernel returns: whole numbers of any size come back as 64 bits."""
    if isinstance(typ, types.BaseTuple) and not isinstance(typ, types.NamedTuple):
        return ("", *map(result_name, typ))
    return "i" if isinstance(typ, types.Integer) else name_of(typ)


@register_model(TupleByReference)
class _TupleModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, WORD.as_pointer())


@infer_getattr
class _TupleFields(AttributeTemplate):
    key = TupleByReference

    def generic_resolve(self, typ: Any, attr: str) -> Any:  # type: ignore[override]
        return typ.members[typ.fields.index(attr)] if attr in typ.fields else None


@lower_getattr_generic(TupleByReference)
def _read_field(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    k = typ.fields.index(attr)
    found = read_value(context, builder, value, typ.offsets[k], typ.members[k])
    return impl_ret_borrowed(context, builder, typ.members[k], found)


def read_value(context: Any, builder: Any, base: Any, at: int, typ: Any) -> Any:
    """The value of a type whose words begin at an offset."""

    def word(k: int, as_type: Any = WORD) -> Any:
        place = builder.gep(base, [ir.Constant(WORD, at + k)], inbounds=True)
        value = builder.load(builder.bitcast(place, as_type.as_pointer()))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if isinstance(typ, TupleByReference):
        return builder.gep(base, [ir.Constant(WORD, at)], inbounds=True)
    if isinstance(typ, types.Array):
        return _read_array(context, builder, typ, word)
    if isinstance(typ, types.BaseTuple):
        values = []
        for each in typ:
            values.append(read_value(context, builder, base, at, each))
            at += _count_words(each)
        return context.make_tuple(builder, typ, values)
    if isinstance(typ, types.Boolean):
        return builder.trunc(word(0), ir.IntType(1))
    if isinstance(typ, types.Complex):
        number = context.make_complex(builder, typ)
        part = context.get_value_type(typ.underlying_float)
        number.real, number.imag = word(0, part), word(1, part)
        return number._getvalue()
    return word(0, context.get_value_type(typ))


def _read_array(context: Any, builder: Any, typ: Any, word: Any) -> Any:
    """Numba's description of an array: no owner, number and size of elements, address, shape, strides."""
    description = context.get_value_type(typ)
    shape = [word(1 + k) for k in range(typ.ndim)]
    size = ir.Constant(WORD, numba.np.numpy_support.as_dtype(typ.dtype).itemsize)
    count: Any = ir.Constant(WORD, 1)
    strides: list[Any] = [word(1 + typ.ndim + k) for k in range(typ.ndim)] if typ.layout != "C" else []
    stride: Any = size
    for n in reversed(shape):
        if typ.layout == "C":
            strides.insert(0, stride)
            stride = builder.mul(stride, n, flags=["nsw"])
        count = builder.mul(count, n, flags=["nsw"])
    value: Any = ir.Constant(description, None)
    for path, part in (
        (2, count),
        (3, size),
        (4, word(0, description.elements[4])),
        *(((5, k), n) for k, n in enumerate(shape)),
        *(((6, k), n) for k, n in enumerate(strides)),
    ):
        value = builder.insert_value(value, part, path)
    return value


class KernelCodegen(JITCPUCodegen):
    """Machine code for a level of processors instead of for this very one."""

    def _customize_tm_options(self, options: dict[str, Any]) -> None:
        options.update(cpu=processor_levels()[0], features="", reloc="pic", codemodel="small")

    def _customize_tm_features(self) -> str:
        return ""

    def _pass_builder(self, **options: Any) -> Any:
        # LLVM's pairing of scalar operations is off in Numba by default; tuples of scalars live from it.
        return super()._pass_builder(**{"slp_vectorize": True, **options})


class KernelLibrary(JITCodeLibrary):
    """LLVM code of a kernel, optimised, with what is inlined into it; no machine code."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        # Numba makes three passes, two of them for the sake of counted references, which kernels have none of
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def finalize(self) -> None:
        self._raise_if_finalized()
        own = {fn.name for fn in self._final_module.functions if not fn.is_declaration}
        called = {fn.name for fn in self._final_module.functions if fn.is_declaration}
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for fn in self._final_module.functions:
            if not fn.is_declaration and fn.name not in own:
                fn.linkage = "available_externally"  # to be inlined, or else left to its own library
                if b"alwaysinline" not in b" ".join(fn.attributes) and (fn.name not in called or _large(fn)):
                    # it came along with a library of the cache, and was inlined there if it ever is; or it never is
                    fn.add_function_attribute("noinline")
                    fn.add_function_attribute("optnone")
        self._optimize_final_module()
        for fn in self._final_module.functions:
            if not fn.is_declaration and fn.name in own:
                fn.linkage = "linkonce_odr"
        self._shared_module = self._final_module
        # what Numba wants of machine code: the places of environments, which kernels never use
        places = [g.name for g in self._final_module.global_variables if g.name.startswith("_ZN08NumbaEnv")]
        self._final_module = llvm.parse_assembly("".join(f'@"{name}" = common global ptr null\n' for name in places))
        self._final_module.triple = self._shared_module.triple
        self._final_module.data_layout = self._shared_module.data_layout
        self._finalize_final_module()

    def serialize_using_object_code(self) -> Any:
        self._ensure_finalized()
        return (self.name, "object", (self._get_compiled_object(), all_needed(self).as_bitcode()))


def _large(function: Any) -> bool:
    """Whether a function has so many instructions that LLVM leaves it where it is."""
    return any(count > LARGEST_INLINED for count, _ in enumerate(i for b in function.blocks for i in b.instructions))


def all_needed(library: Any) -> Any:
    """The LLVM code of a kernel and of all that it calls and that was not inlined.

    LLVM takes from a module what is wanted at that moment, so that a module may have to be linked again for what others
    want of it later.
    """
    found: dict[Any, None] = {}
    pending = [library]
    while pending:
        one = pending.pop()
        if one not in found:
            found[one] = None
            pending += one._linking_libraries
    homes = {name: one for one in reversed(found) for name in _functions(one._get_module_for_linking())[0]}
    whole = library._get_module_for_linking().clone()
    while missing := [homes[name] for name in _functions(whole)[1] if name in homes]:
        for home in dict.fromkeys(missing):
            whole.link_in(home._get_module_for_linking(), preserve=True)
    return whole


def _functions(module: Any) -> tuple[list[str], list[str]]:
    """Names of functions: those that a module holds, and those that it leaves to others."""
    held: list[str] = []
    left: list[str] = []
    for fn in module.functions:
        others = fn.is_declaration or fn.linkage == llvm.Linkage.available_externally
        (left if others else held).append(fn.name)
    return held, left


@register_pass(mutates_CFG=False, analysis_only=True)
class _ChooseLibrary(LoweringPass):
    _name = "pliant_choose_library"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = KernelLibrary(_codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.type_annotation = ""  # a listing for readers, which is long and would be kept with the code
        return False


class KernelCompiler(compiler.CompilerBase):
    """Numba's way through a function, into a library of ours."""

    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_ChooseLibrary, AnnotateTypes)
        passes.finalize()
        return [passes]


def called_by_type(dispatcher: Any) -> Any:
    """One version for all whole numbers: Numba compiles a function again for each that stands in a call of it."""
    resolve = dispatcher.get_call_template
    dispatcher.get_call_template = lambda given, named: resolve([types.unliteral(each) for each in given], named)
    return dispatcher


@cache
def _codegen() -> KernelCodegen:
    return KernelCodegen("pliant")


def entry_program(compiled: Any, symbol: str, levels: Sequence[str]) -> list[bytes]:
    """Object files, one a level of processors, of a kernel as Python calls it.

    The function ``symbol`` takes two pointers and gives Numba's status: to the words of all arguments, and to space for
    those of the result.
    """
    context, described = compiled.target_context, compiled.fndesc
    module = context.create_module("entry")
    kernel_type = context.call_conv.get_function_type(described.restype, described.argtypes)
    kernel = ir.Function(module, kernel_type, described.llvm_func_name)
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [WORD.as_pointer(), WORD.as_pointer()]), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    words, space = entry.args
    offsets = accumulate(map(_count_words, described.argtypes), initial=0)
    arguments = [read_value(context, builder, words, at, typ) for at, typ in zip(offsets, described.argtypes)]
    status, value = context.call_conv.call_function(builder, kernel, described.restype, described.argtypes, arguments)
    with builder.if_then(status.is_ok):
        _write_result(context, builder, space, 0, described.restype, value)
    builder.ret(status.code)
    program = llvm.parse_assembly(str(module))
    program.link_in(all_needed(compiled.library))
    for fn in program.functions:
        if not fn.is_declaration and fn.name != symbol:
            fn.linkage = "internal"
    # All functions are optimised; what is left is what shows in the whole. Loops that are vectorised twice get slower.
    passes, builder = _codegen()._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
    passes.run(program, builder)
    program.verify()
    return [_processor(level).emit_object(program) for level in levels]


def _write_result(context: Any, builder: Any, words: Any, at: int, typ: Any, value: Any) -> int:
    """Store a value to the words of the result; the place after it."""
    if typ is types.none:
        return at
    if isinstance(typ, types.BaseTuple):
        for k, each in enumerate(typ):
            at = _write_result(context, builder, words, at, each, builder.extract_value(value, k))
        return at
    if isinstance(typ, types.Complex):
        number = context.make_complex(builder, typ, value=value)
        part = typ.underlying_float
        at = _write_result(context, builder, words, at, part, number.real)
        return _write_result(context, builder, words, at, part, number.imag)
    if isinstance(typ, types.Integer) and value.type != WORD:
        value = builder.sext(value, WORD) if typ.signed else builder.zext(value, WORD)
    if isinstance(typ, types.Boolean):
        value = builder.zext(value, WORD)
    place = builder.gep(words, [ir.Constant(WORD, at)])
    builder.store(value, builder.bitcast(place, value.type.as_pointer()))
    return at + 1


@cache
def _processor(level: str) -> Any:
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=level, features="", opt=3, reloc="pic", codemodel="small")


def quicken() -> None:
    """Have Numba answer at once what it works out over and over; for processes that only compile.

    The answers are the same.
    """
    llvm.ffi.lib._lock._cblist.clear()  # events at every call of LLVM, to which nobody listens
    equal, some_hash = TargetConfig.__eq__, hash(TargetConfig)
    resolve = types.BaseFunction.get_call_type
    known: dict[Any, Any] = {}
    config: Any = TargetConfig
    instruction_kind: Any = numba_ir.Inst
    processor: Any = PostProcessor
    without = {numba_ir.Loc, str, int, float, bool, type(None)}  # no variables in there

    def same(one: Any, other: Any) -> Any:
        return one is other or (type(one) is type(other) and one._values == other._values) or equal(one, other)

    def call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
        if named:
            return resolve(function, context, arguments, named)
        key = (function, context, tuple(arguments), ConfigStack.top_or_none())
        return known.get(key) or known.setdefault(key, resolve(function, context, arguments, named))

    def variables(instruction: Any, value: Any) -> list[Any]:
        if isinstance(value, numba_ir.Var):
            return [value]
        if isinstance(value, numba_ir.Inst):
            return list(value.list_vars())
        found: list[Any] = []
        if isinstance(value, dict | list | tuple):
            for each in value.values() if isinstance(value, dict) else value:
                if each.__class__ not in without:
                    found += variables(instruction, each)
        return found

    def analyse(analysis: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        """After each pass: Numba finds what lives where at once, we when it is asked for."""
        code = analysis.func_ir
        code.blocks = canonicalize_cfg(code.blocks)
        code.variable_lifetime, code.generator_info = VariableLifetime(code.blocks), None
        if emit_dels:
            analysis._insert_var_dels(extend_lifetimes=extend_lifetimes)

    config.__eq__ = same
    config.__hash__ = lambda _: some_hash  # Numba's, of the names of all options, tells none from another either
    types.BaseFunction.get_call_type = call_type
    processor.run = analyse
    instruction_kind._rec_list_vars = variables
