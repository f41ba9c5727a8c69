"""Which build flags follow from which processor."""

import pytest

from eris.llama_build.processor import describe, flag_sets

ZEN4 = (
    "fpu sse4_2 avx f16c fma bmi2 avx2 avx512f avx512cd avx512vl avx512dq avx512bw "
    "avx512vbmi avx512_vnni avx512_bf16"
)
CASES = {
    "a server with AVX-512": (
        f"flags : {ZEN4}",
        "x86_64",
        (
            "-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_AVX512_VBMI=ON -DGGML_AVX512_VNNI=ON "
            "-DGGML_AVX512_BF16=ON -DLLAVA_BUILD=OFF"
        ),
    ),
    "one that advertises AMX too": (
        f"flags : {ZEN4} amx_bf16 amx_tile amx_int8",
        "x86_64",
        (
            "-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_AVX512_VBMI=ON -DGGML_AVX512_VNNI=ON "
            "-DGGML_AVX512_BF16=ON -DLLAVA_BUILD=OFF"
        ),
    ),
    "half of AVX-512": (
        "flags : sse4_2 avx f16c fma bmi2 avx2 avx512f avx512_vnni",
        "x86_64",
        "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF",
    ),
    "a laptop with AVX-VNNI": (
        "flags : sse4_2 avx f16c fma bmi2 avx2 avx_vnni",
        "x86_64",
        "-DGGML_NATIVE=OFF -DGGML_AVX_VNNI=ON -DLLAVA_BUILD=OFF",
    ),
    "an old one without AVX2": (
        "flags : sse4_2 avx f16c",
        "x86_64",
        "-DGGML_NATIVE=OFF -DGGML_FMA=OFF -DGGML_BMI2=OFF -DGGML_AVX2=OFF -DLLAVA_BUILD=OFF",
    ),
    "one about which nothing is known": (
        "",
        "x86_64",
        (
            "-DGGML_NATIVE=OFF -DGGML_SSE42=OFF -DGGML_AVX=OFF -DGGML_F16C=OFF -DGGML_FMA=OFF "
            "-DGGML_BMI2=OFF -DGGML_AVX2=OFF -DLLAVA_BUILD=OFF"
        ),
    ),
    "an ARM server": (
        "Features : fp asimd asimdhp asimddp sve i8mm",
        "aarch64",
        "-DGGML_NATIVE=OFF -DGGML_CPU_ARM_ARCH=armv8.2-a+dotprod+fp16+i8mm -DLLAVA_BUILD=OFF",
    ),
    "an old ARM board": (
        "Features : fp asimd",
        "aarch64",
        "-DGGML_NATIVE=OFF -DGGML_CPU_ARM_ARCH=armv8-a -DLLAVA_BUILD=OFF",
    ),
    "another architecture": ("", "riscv64", "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"),
}


@pytest.mark.parametrize(("cpuinfo", "machine", "flags"), CASES.values(), ids=CASES)
def test_flags_fit_the_processor(cpuinfo, machine, flags):
    assert " ".join(flag_sets(describe("Linux", machine, cpuinfo))[0]) == flags


@pytest.mark.parametrize(("cpuinfo", "machine", "_flags"), CASES.values(), ids=CASES)
def test_later_sets_use_fewer_instructions_and_none_uses_amx(cpuinfo, machine, _flags):
    sets = flag_sets(describe("Linux", machine, cpuinfo))
    assert len(set(sets)) == len(sets)
    switched_on = [sum(flag.endswith("=ON") for flag in flags) for flags in sets]
    assert switched_on == sorted(switched_on, reverse=True)
    assert not any("AMX" in flag for flags in sets for flag in flags)


def test_on_macos_the_defaults_are_kept():
    assert flag_sets(describe("Darwin", "arm64", "")) == (("-DLLAVA_BUILD=OFF",),)


def test_features_that_change_nothing_are_not_part_of_the_description():
    assert describe("Linux", "x86_64", "flags: fpu avx2 erms").features == {"avx2"}
