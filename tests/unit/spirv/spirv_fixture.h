// SPDX-License-Identifier: MIT
//
// Common parts of the tests of the SPIR-V walk: modules made of words, and those that tests/data
// compiles.
#ifndef ZEPI_TESTS_UNIT_SPIRV_FIXTURE_H
#define ZEPI_TESTS_UNIT_SPIRV_FIXTURE_H

#include "spirv/spirv.h"
#include "test_env.h"

// The result of the last walk. The next walk, or spirv_tear_down as a suite's .fini, frees it.
extern struct zepi_spirv spirv;
extern char message[512];

// Walks a copy of the bytes in a block of just their size, so that the address sanitizer sees a
// step beyond them. After a refusal, checks that there is a message and that nothing else was left
// behind.
enum zepi_spirv_status spirv_walk(const void *bytes, size_t size_bytes);
void spirv_tear_down(void);
// Whether `spirv` is zeroed, as a refusal leaves it.
bool spirv_is_empty(void);

// Walk what must be taken: words, or tests/data/NAME.cl.
void spirv_take(const uint32_t *words, size_t count);
void spirv_take_file(const char *name);
// Walks words that must be refused with just this message, and says in which line of which test.
void spirv_refuse(const uint32_t *words, size_t count, const char *expected, int line);

// Calls `visit` for each module that was compiled for tests, and fails if there are none.
void spirv_each_file(void (*visit)(const char *name, struct test_bytes file));

// NULL if there is none.
const struct zepi_spirv_symbol *spirv_find_symbol(const char *name);

// ---- Words ----

#define WORDS(...) ((const uint32_t[]){__VA_ARGS__})
#define COUNT(...) (sizeof(WORDS(__VA_ARGS__)) / sizeof(uint32_t))
#define TAKE(...) spirv_take(WORDS(__VA_ARGS__), COUNT(__VA_ARGS__))
#define REFUSE(expected, ...)                                                                      \
    spirv_refuse(WORDS(__VA_ARGS__), COUNT(__VA_ARGS__), expected, __LINE__)

// One instruction. A string of three letters is one operand: TEXT("abc"), one of one is 'a'.
#define OP(opcode, ...) (uint32_t)(COUNT(__VA_ARGS__) + 1) << 16 | (opcode), __VA_ARGS__
#define OP0(opcode) (1u << 16 | (opcode))
#define TEXT(text) ((uint32_t)(text)[0] | (uint32_t)(text)[1] << 8 | (uint32_t)(text)[2] << 16)

// As the specification numbers them.
enum {
    OpNop = 0,
    OpUndef = 1,
    OpName = 5,
    OpString = 7,
    OpLine = 8,
    OpExtInstImport = 11,
    OpExtInst = 12,
    OpMemoryModel = 14,
    OpEntryPoint = 15,
    OpExecutionMode = 16,
    OpCapability = 17,
    OpTypeVoid = 19,
    OpTypeBool = 20,
    OpTypeInt = 21,
    OpTypeFloat = 22,
    OpTypeVector = 23,
    OpTypeImage = 25,
    OpTypeSampler = 26,
    OpTypeArray = 28,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpTypeFunction = 33,
    OpTypeEvent = 34,
    OpConstantTrue = 41,
    OpConstant = 43,
    OpConstantNull = 46,
    OpSpecConstantTrue = 48,
    OpSpecConstantFalse = 49,
    OpSpecConstant = 50,
    OpSpecConstantComposite = 51,
    OpSpecConstantOp = 52,
    OpFunction = 54,
    OpFunctionParameter = 55,
    OpFunctionEnd = 56,
    OpFunctionCall = 57,
    OpVariable = 59,
    OpLoad = 61,
    OpDecorate = 71,
    OpDecorationGroup = 73,
    OpGroupDecorate = 74,
    OpIAdd = 128,
    OpPhi = 245,
    OpLabel = 248,
    OpBranch = 249,
    OpSwitch = 251,
    OpReturn = 253,
    OpNoLine = 317,
    OpExecutionModeId = 331,
    OpTypeUntypedPointerKHR = 4417,
    OpTypeStructContinuedINTEL = 6090,
    OpOfTheFuture = 60000,

    SpecId = 1,
    CPacked = 10,
    BuiltIn = 11,
    Constant = 22,
    FuncParamAttr = 38,
    LinkageAttributes = 41,
    ByVal = 2,
    Export = 0,
    Import = 1,
    LinkOnceODR = 2,

    UniformConstant = 0,
    Workgroup = 4,
    CrossWorkgroup = 5,
    Function = 7,
    Generic = 8,

    Kernel = 6,     // execution model, capability
    GLCompute = 5,  // execution model
    LocalSize = 17, // execution modes
    LocalSizeHint = 18,
    SubgroupSize = 35,
    LocalSizeId = 38,
    Physical32 = 1,
    Physical64 = 2,
    OpenCL = 2,
};

// Ids of the parts below. Tests take theirs from 10 on; the bound is 100.
enum { VOID = 1, KERNEL_TYPE, KERNEL, LABEL, INT, FLOAT, LONG };

#define MAGIC 0x07230203u
#define HEADER MAGIC, 0x00010000u, 0, 100, 0
#define CAPABILITY OP(OpCapability, Kernel)                // words 5 and 6
#define MEMORY_MODEL OP(OpMemoryModel, Physical64, OpenCL) // words 7 to 9
#define PROLOGUE HEADER, CAPABILITY, MEMORY_MODEL
#define ENTRY OP(OpEntryPoint, Kernel, KERNEL, 'k') // words 10 to 13
#define TYPES OP(OpTypeVoid, VOID), OP(OpTypeFunction, KERNEL_TYPE, VOID)
#define NUMBERS OP(OpTypeInt, INT, 32, 0), OP(OpTypeFloat, FLOAT, 32), OP(OpTypeInt, LONG, 64, 0)
#define BODY OP(OpLabel, LABEL), OP0(OpReturn), OP0(OpFunctionEnd)
#define BEGIN_KERNEL OP(OpFunction, VOID, KERNEL, 0, KERNEL_TYPE)
#define KERNEL_FUNCTION BEGIN_KERNEL, BODY

#endif
