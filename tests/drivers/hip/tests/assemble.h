/* Machine code of a text, by LLVM's assembler: for the tests of the interpreter. */
#ifndef FAKEHIP_ASSEMBLE_H
#define FAKEHIP_ASSEMBLE_H

#include <elf.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct Chip {
    const char *name;
    uint32_t wave;
    LLVMTargetMachineRef machine;
} Chip;

static inline void assembler_start(void) {
    LLVMInitializeAMDGPUTargetInfo(), LLVMInitializeAMDGPUTarget(), LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter(), LLVMInitializeAMDGPUAsmParser();
}

static inline bool open_chip(Chip *chip) {
    char *message = NULL;
    LLVMTargetRef target;
    if (LLVMGetTargetFromTriple("amdgcn-amd-amdhsa", &target, &message)) return false;
    bool wide = chip->name[3] != '9' && chip->wave == 64;
    chip->machine = LLVMCreateTargetMachine(
        target, "amdgcn-amd-amdhsa", chip->name, wide ? "-wavefrontsize32,+wavefrontsize64" : "",
        LLVMCodeGenLevelNone, LLVMRelocPIC, LLVMCodeModelDefault);
    return chip->machine != NULL;
}

static inline void assembler_note(LLVMDiagnosticInfoRef info, void *failed) {
    *(bool *)failed |= LLVMGetDiagInfoSeverity(info) == LLVMDSError;
}

static inline size_t text_section(const char *elf, uint8_t *out, size_t room) {
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)elf;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(elf + h->e_shoff);
    const char *names = elf + s[h->e_shstrndx].sh_offset;
    for (int i = 0; i < h->e_shnum; i++)
        if (!strcmp(names + s[i].sh_name, ".text") && s[i].sh_size <= room) {
            memcpy(out, elf + s[i].sh_offset, s[i].sh_size);
            return s[i].sh_size;
        }
    return 0;
}

/* With s_endpgm behind it. 0: the chip has no such instruction. */
static inline size_t assemble(const Chip *chip, const char *text, uint8_t *out, size_t room) {
    bool failed = false;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, assembler_note, &failed);
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("row", context);
    LLVMSetTarget(module, "amdgcn-amd-amdhsa");
    LLVMSetModuleInlineAsm2(module, text, strlen(text));
    LLVMAppendModuleInlineAsm(module, "\ns_endpgm\n", 10);
    failed |= LLVMTargetMachineEmitToMemoryBuffer(chip->machine, module, LLVMObjectFile, &message,
                                                  &buffer);
    size_t size = failed || !buffer ? 0 : text_section(LLVMGetBufferStart(buffer), out, room);
    if (buffer) LLVMDisposeMemoryBuffer(buffer);
    LLVMDisposeMessage(message);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return size;
}

#endif
