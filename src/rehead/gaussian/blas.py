"""Three BLAS and LAPACK routines that other threads can run beside.

scipy's Python wrappers of ``syrk``, ``trsm`` and ``potrf`` hold the interpreter lock, so classes
could not be worked on in parallel. scipy also exports the routines themselves, for Cython; called
through ctypes they let go of the lock. Where that table looks unfamiliar (a scipy built with
another integer size), the wrappers serve: the same numbers, one class at a time.

All matrices are in Fortran order, all triangles are lower ones, and results overwrite their
arguments. A C-contiguous block of rows is passed as its transpose.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs, get_lapack_funcs

Array = NDArray[Any]

_C_TYPE = {"f": ctypes.c_float, "d": ctypes.c_double}
_PREFIX = {"f": "s", "d": "d"}


def syrk(gram: Array, block: Array, alpha: float) -> None:
    """``gram += alpha * block' block`` for a C-contiguous block of rows."""
    dtype, (n, d) = gram.dtype.char, block.shape
    _check(gram.T, block)
    routine = _routine(dtype, "blas", "syrk", 10)
    if routine is None:
        wrapped = get_blas_funcs("syrk", dtype=gram.dtype)
        gram[...] = wrapped(alpha, block.T, beta=1.0, c=gram, lower=1, overwrite_c=1)
        return
    real, size = _C_TYPE[dtype], _int(d)
    one, factor = ctypes.byref(real(1.0)), ctypes.byref(real(alpha))
    routine(b"L", b"N", size, _int(n), factor, _at(block), size, one, _at(gram), size)


def trsm(lower: Array, block: Array) -> None:
    """Overwrite each row ``x`` of a C-contiguous block by ``L^-1 x``."""
    dtype, (n, d) = lower.dtype.char, block.shape
    _check(lower.T, block)
    routine = _routine(dtype, "blas", "trsm", 11)
    if routine is None:
        wrapped = get_blas_funcs("trsm", dtype=lower.dtype)
        block[...] = wrapped(1.0, lower, block.T, lower=1, overwrite_b=1).T
        return
    one, size = ctypes.byref(_C_TYPE[dtype](1.0)), _int(d)
    routine(
        b"L", b"L", b"N", b"N", size, _int(n), one, _at(lower), size, _at(block), size
    )  # fmt: skip


def potrf(a: Array) -> bool:
    """Overwrite the lower triangle of ``a`` by its Cholesky factor; tell whether there is one."""
    _check(a.T)
    routine = _routine(a.dtype.char, "lapack", "potrf", 5)
    if routine is None:
        wrapped = get_lapack_funcs("potrf", dtype=a.dtype)
        a[...], status = wrapped(a, lower=1, clean=0, overwrite_a=1)
        return bool(status == 0)
    info, size = ctypes.c_int(0), _int(len(a))
    routine(b"L", size, _at(a), size, ctypes.byref(info))
    return info.value == 0


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _at(a: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(a.ctypes.data)


def _check(*arrays: Array) -> None:
    """Foreign code would read past a wrong layout without a word."""
    first = arrays[0]
    for a in arrays:
        if not (a.flags.c_contiguous and a.dtype == first.dtype and a.shape[1] == first.shape[1]):
            raise ValueError(f"needs contiguous {first.dtype} arrays of {first.shape[1]} columns")


@cache
def _routine(dtype: str, library: str, name: str, n_arguments: int) -> Callable[..., None] | None:
    """The routine as scipy exports it to Cython, or None if its signature is not as expected."""
    exported = getattr(
        importlib.import_module(f"scipy.linalg.cython_{library}"), "__pyx_capi__", {}
    )
    capsule = exported.get(_PREFIX[dtype] + name)
    if capsule is None:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = (
        ctypes.c_char_p,
        [ctypes.py_object],
    )
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = api.PyCapsule_GetName(capsule)
    arguments = [part.strip() for part in signature.decode().split("(")[-1].rstrip(")").split(",")]
    kinds = {"char *", "int *"}
    known = all(
        a in kinds or a.endswith((f"_{_PREFIX[dtype]} *", "float *", "double *")) for a in arguments
    )
    if len(arguments) != n_arguments or not known:
        return None
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)
    return prototype(api.PyCapsule_GetPointer(capsule, signature))


__all__ = ["potrf", "syrk", "trsm"]
