"""Which instructions the processor has, and which build flags follow from that.

Pure but for `present_processor`. On macOS llama.cpp's own defaults are right (Metal, the native
instruction set): the trouble with instructions that trap is one of virtual machines.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")

# Build option -> the names in /proc/cpuinfo that it needs. With GGML_NATIVE=OFF llama.cpp's build
# switches the first table on by itself, and nothing of the second.
_X86_ON_BY_DEFAULT: Mapping[str, frozenset[str]] = {
    "GGML_SSE42": frozenset({"sse4_2"}),
    "GGML_AVX": frozenset({"avx"}),
    "GGML_F16C": frozenset({"f16c"}),
    "GGML_FMA": frozenset({"fma"}),
    "GGML_BMI2": frozenset({"bmi2"}),
    "GGML_AVX2": frozenset({"avx2"}),
}
_AVX512 = frozenset({"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"})
_X86_OFF_BY_DEFAULT: Mapping[str, frozenset[str]] = {
    "GGML_AVX_VNNI": frozenset({"avx2", "avx_vnni"}),
    "GGML_AVX512": _AVX512,
    "GGML_AVX512_VBMI": _AVX512 | {"avx512vbmi"},
    "GGML_AVX512_VNNI": _AVX512 | {"avx512_vnni"},
    "GGML_AVX512_BF16": _AVX512 | {"avx512_bf16"},
}

# Name in /proc/cpuinfo -> extension in -march, for 64-bit ARM on Linux.
_ARM_EXTENSIONS: Mapping[str, str] = {"asimddp": "dotprod", "asimdhp": "fp16", "i8mm": "i8mm"}

# Vision models aren't used; leaving their library out shortens the build.
_ALWAYS = ("-DLLAVA_BUILD=OFF",)


@dataclass(frozen=True)
class Processor:
    """What matters to a build."""

    system: str
    """``Linux`` or ``Darwin``."""
    machine: str
    """``x86_64``, ``aarch64``, ``arm64``, …"""
    features: frozenset[str]
    """Instruction sets by the kernel's names, only those that some flag depends on."""


def present_processor() -> Processor:
    """Return this machine's processor."""
    text = _CPUINFO.read_text(encoding="utf-8", errors="replace") if _CPUINFO.exists() else ""
    return describe(platform.system(), platform.machine(), text)


def describe(system: str, machine: str, cpuinfo: str) -> Processor:
    """Return the processor that a ``/proc/cpuinfo`` describes (the first core's entry)."""
    known: set[str] = set(_ARM_EXTENSIONS)
    for needed in (*_X86_ON_BY_DEFAULT.values(), *_X86_OFF_BY_DEFAULT.values()):
        known |= needed
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in {"flags", "features"}:
            return Processor(system, machine, frozenset(value.split()) & known)
    return Processor(system, machine, frozenset())


def flag_sets(processor: Processor) -> tuple[tuple[str, ...], ...]:
    """Return the sets of CMake flags to try, best first.

    A later set uses fewer instructions: for the case that the processor advertises some that trap.
    AMX is in none of them.
    """
    if processor.system == "Darwin":
        return (_ALWAYS,)
    base = ("-DGGML_NATIVE=OFF",)
    match processor.machine:
        case "x86_64" | "AMD64" | "i686":
            off = tuple(
                f"-D{option}=OFF"
                for option, needed in _X86_ON_BY_DEFAULT.items()
                if not needed <= processor.features
            )
            on = tuple(
                f"-D{option}=ON"
                for option, needed in _X86_OFF_BY_DEFAULT.items()
                if needed <= processor.features
            )
            nothing = tuple(f"-D{option}=OFF" for option in _X86_ON_BY_DEFAULT)
            candidates = [(*base, *off, *on), (*base, *off), (*base, *nothing)]
        case "aarch64" | "arm64":
            found = [name for key, name in _ARM_EXTENSIONS.items() if key in processor.features]
            level = "armv8.2-a" if found else "armv8-a"
            candidates = [
                (*base, f"-DGGML_CPU_ARM_ARCH={'+'.join([level, *found])}"),
                (*base, "-DGGML_CPU_ARM_ARCH=armv8-a"),
            ]
        case _:
            candidates = [base]
    return tuple(dict.fromkeys((*candidate, *_ALWAYS) for candidate in candidates))
