"""Compiles Triton kernels for a GPU that need not be there."""


def compile_for_hopper(kernel, constants, **types):
    """Compile with compile-time `constants` and the types of the other arguments; machine code must come out."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    signature = types | dict.fromkeys(constants, "constexpr")
    constexprs = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(kernel, signature={name: signature[name] for name in kernel.arg_names}, constexprs=constexprs)
    assert "cubin" in compile(source, target=GPUTarget("cuda", 90, 32)).asm
