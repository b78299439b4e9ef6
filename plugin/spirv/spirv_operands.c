// SPDX-License-Identifier: MIT
#include "spirv_operands.h"

// The words after the first of each instruction, one letter per operand:
//   t  id of the result's type         T  result id of an instruction that declares a type
//   r  result id                       i  id of anything
//   w  one literal word                s  string
//   n  literal of the result's type    S  pairs of selector literal and label, to the end
//   M  memory operands                 X  image operands
//   O  opcode and its operands         E  operands of an extended instruction
//   ?  what follows is optional        *  what follows repeats until the words run out
// Literals at the end are left out: more words than the letters need are fine. So is an instruction
// that is not here: its operands go unchecked.
struct operand_format {
    uint16_t first;
    uint16_t last;
    const char *format;
};

static const struct operand_format formats[] = {
    {0, 0, ""},                   // OpNop
    {1, 1, "tr"},                 // OpUndef
    {2, 2, "s"},                  // OpSourceContinued
    {3, 3, "ww?is"},              // OpSource
    {4, 4, "s"},                  // OpSourceExtension
    {5, 5, "is"},                 // OpName
    {6, 6, "iws"},                // OpMemberName
    {7, 7, "rs"},                 // OpString
    {8, 8, "iww"},                // OpLine
    {10, 10, "s"},                // OpExtension
    {11, 11, "rs"},               // OpExtInstImport
    {12, 12, "triwE"},            // OpExtInst
    {14, 14, "ww"},               // OpMemoryModel
    {15, 15, "wis*i"},            // OpEntryPoint
    {16, 16, "iw"},               // OpExecutionMode
    {17, 17, "w"},                // OpCapability
    {19, 20, "T"},                // OpTypeVoid, OpTypeBool
    {21, 21, "Tww"},              // OpTypeInt
    {22, 22, "Tw"},               // OpTypeFloat
    {23, 24, "Tiw"},              // OpTypeVector, OpTypeMatrix
    {25, 25, "Tiwwwwww"},         // OpTypeImage
    {26, 26, "T"},                // OpTypeSampler
    {27, 27, "Ti"},               // OpTypeSampledImage
    {28, 28, "Tii"},              // OpTypeArray
    {29, 29, "Ti"},               // OpTypeRuntimeArray
    {30, 30, "T*i"},              // OpTypeStruct
    {31, 31, "Ts"},               // OpTypeOpaque
    {32, 32, "Twi"},              // OpTypePointer
    {33, 33, "Ti*i"},             // OpTypeFunction
    {34, 37, "T"},                // OpTypeEvent .. OpTypeQueue
    {38, 38, "Tw"},               // OpTypePipe
    {39, 39, "iw"},               // OpTypeForwardPointer
    {41, 42, "tr"},               // OpConstantTrue, OpConstantFalse
    {43, 43, "trn"},              // OpConstant
    {44, 44, "tr*i"},             // OpConstantComposite
    {45, 45, "trwww"},            // OpConstantSampler
    {46, 46, "tr"},               // OpConstantNull
    {48, 49, "tr"},               // OpSpecConstantTrue, OpSpecConstantFalse
    {50, 50, "trn"},              // OpSpecConstant
    {51, 51, "tr*i"},             // OpSpecConstantComposite
    {52, 52, "trO"},              // OpSpecConstantOp
    {54, 54, "trwi"},             // OpFunction
    {55, 55, "tr"},               // OpFunctionParameter
    {56, 56, ""},                 // OpFunctionEnd
    {57, 57, "tri*i"},            // OpFunctionCall
    {59, 59, "trw?i"},            // OpVariable
    {60, 60, "triii"},            // OpImageTexelPointer
    {61, 61, "tri?M"},            // OpLoad
    {62, 62, "ii?M"},             // OpStore
    {63, 63, "ii?MM"},            // OpCopyMemory
    {64, 64, "iii?MM"},           // OpCopyMemorySized
    {65, 66, "tri*i"},            // OpAccessChain, OpInBoundsAccessChain
    {67, 67, "trii*i"},           // OpPtrAccessChain
    {68, 68, "triw"},             // OpArrayLength
    {69, 69, "tri"},              // OpGenericPtrMemSemantics
    {70, 70, "trii*i"},           // OpInBoundsPtrAccessChain
    {71, 71, "iw"},               // OpDecorate
    {72, 72, "iww"},              // OpMemberDecorate
    {73, 73, "r"},                // OpDecorationGroup
    {74, 74, "i*i"},              // OpGroupDecorate
    {75, 75, "i*iw"},             // OpGroupMemberDecorate
    {77, 77, "trii"},             // OpVectorExtractDynamic
    {78, 78, "triii"},            // OpVectorInsertDynamic
    {79, 79, "trii"},             // OpVectorShuffle
    {80, 80, "tr*i"},             // OpCompositeConstruct
    {81, 81, "tri"},              // OpCompositeExtract
    {82, 82, "trii"},             // OpCompositeInsert
    {83, 84, "tri"},              // OpCopyObject, OpTranspose
    {86, 86, "trii"},             // OpSampledImage
    {87, 87, "trii?X"},           // OpImageSampleImplicitLod
    {88, 88, "triiX"},            // OpImageSampleExplicitLod
    {89, 89, "triii?X"},          // OpImageSampleDrefImplicitLod
    {90, 90, "triiiX"},           // OpImageSampleDrefExplicitLod
    {91, 91, "trii?X"},           // OpImageSampleProjImplicitLod
    {92, 92, "triiX"},            // OpImageSampleProjExplicitLod
    {93, 93, "triii?X"},          // OpImageSampleProjDrefImplicitLod
    {94, 94, "triiiX"},           // OpImageSampleProjDrefExplicitLod
    {95, 95, "trii?X"},           // OpImageFetch
    {96, 97, "triii?X"},          // OpImageGather, OpImageDrefGather
    {98, 98, "trii?X"},           // OpImageRead
    {99, 99, "iii?X"},            // OpImageWrite
    {100, 102, "tri"},            // OpImage .. OpImageQueryOrder
    {103, 103, "trii"},           // OpImageQuerySizeLod
    {104, 104, "tri"},            // OpImageQuerySize
    {105, 105, "trii"},           // OpImageQueryLod
    {106, 107, "tri"},            // OpImageQueryLevels, OpImageQuerySamples
    {109, 124, "tri"},            // OpConvertFToU .. OpBitcast
    {126, 127, "tri"},            // OpSNegate, OpFNegate
    {128, 152, "trii"},           // OpIAdd .. OpSMulExtended
    {154, 160, "tri"},            // OpAny .. OpSignBitSet
    {161, 167, "trii"},           // OpLessOrGreater .. OpLogicalAnd
    {168, 168, "tri"},            // OpLogicalNot
    {169, 169, "triii"},          // OpSelect
    {170, 191, "trii"},           // OpIEqual .. OpFUnordGreaterThanEqual
    {194, 199, "trii"},           // OpShiftRightLogical .. OpBitwiseAnd
    {200, 200, "tri"},            // OpNot
    {201, 201, "triiii"},         // OpBitFieldInsert
    {202, 203, "triii"},          // OpBitFieldSExtract, OpBitFieldUExtract
    {204, 205, "tri"},            // OpBitReverse, OpBitCount
    {207, 215, "tri"},            // OpDPdx .. OpFwidthCoarse
    {218, 219, ""},               // OpEmitVertex, OpEndPrimitive
    {220, 221, "i"},              // OpEmitStreamVertex, OpEndStreamPrimitive
    {224, 224, "iii"},            // OpControlBarrier
    {225, 225, "ii"},             // OpMemoryBarrier
    {227, 227, "triii"},          // OpAtomicLoad
    {228, 228, "iiii"},           // OpAtomicStore
    {229, 229, "triiii"},         // OpAtomicExchange
    {230, 231, "triiiiii"},       // OpAtomicCompareExchange, OpAtomicCompareExchangeWeak
    {232, 233, "triii"},          // OpAtomicIIncrement, OpAtomicIDecrement
    {234, 242, "triiii"},         // OpAtomicIAdd .. OpAtomicXor
    {245, 245, "tr*ii"},          // OpPhi
    {246, 246, "iiw"},            // OpLoopMerge
    {247, 247, "iw"},             // OpSelectionMerge
    {248, 248, "r"},              // OpLabel
    {249, 249, "i"},              // OpBranch
    {250, 250, "iii"},            // OpBranchConditional
    {251, 251, "iiS"},            // OpSwitch
    {252, 253, ""},               // OpKill, OpReturn
    {254, 254, "i"},              // OpReturnValue
    {255, 255, ""},               // OpUnreachable
    {256, 257, "iw"},             // OpLifetimeStart, OpLifetimeStop
    {259, 259, "triiiiii"},       // OpGroupAsyncCopy
    {260, 260, "iii"},            // OpGroupWaitEvents
    {261, 262, "trii"},           // OpGroupAll, OpGroupAny
    {263, 263, "triii"},          // OpGroupBroadcast
    {264, 271, "triwi"},          // OpGroupIAdd .. OpGroupSMax
    {274, 275, "triiii"},         // OpReadPipe, OpWritePipe
    {276, 277, "triiiiii"},       // OpReservedReadPipe, OpReservedWritePipe
    {278, 279, "triiii"},         // OpReserveReadPipePackets, OpReserveWritePipePackets
    {280, 281, "iiii"},           // OpCommitReadPipe, OpCommitWritePipe
    {282, 282, "tri"},            // OpIsValidReserveId
    {283, 284, "triii"},          // OpGetNumPipePackets, OpGetMaxPipePackets
    {285, 286, "triiiii"},        // OpGroupReserveReadPipePackets, OpGroupReserveWritePipePackets
    {287, 288, "iiiii"},          // OpGroupCommitReadPipe, OpGroupCommitWritePipe
    {291, 291, "triiii"},         // OpEnqueueMarker
    {292, 292, "triiiiiiiiii*i"}, // OpEnqueueKernel
    {293, 294, "triiiii"},        // OpGetKernelNDrangeSubGroupCount, ..MaxSubGroupSize
    {295, 296, "triiii"},         // OpGetKernelWorkGroupSize, ..PreferredWorkGroupSizeMultiple
    {297, 298, "i"},              // OpRetainEvent, OpReleaseEvent
    {299, 299, "tr"},             // OpCreateUserEvent
    {300, 300, "tri"},            // OpIsValidEvent
    {301, 301, "ii"},             // OpSetUserEventStatus
    {302, 302, "iii"},            // OpCaptureEventProfilingInfo
    {303, 303, "tr"},             // OpGetDefaultQueue
    {304, 304, "triii"},          // OpBuildNDRange
    {305, 305, "trii?X"},         // OpImageSparseSampleImplicitLod
    {306, 306, "triiX"},          // OpImageSparseSampleExplicitLod
    {307, 307, "triii?X"},        // OpImageSparseSampleDrefImplicitLod
    {308, 308, "triiiX"},         // OpImageSparseSampleDrefExplicitLod
    {313, 313, "trii?X"},         // OpImageSparseFetch
    {314, 315, "triii?X"},        // OpImageSparseGather, OpImageSparseDrefGather
    {316, 316, "tri"},            // OpImageSparseTexelsResident
    {317, 317, ""},               // OpNoLine
    {318, 318, "triii"},          // OpAtomicFlagTestAndSet
    {319, 319, "iii"},            // OpAtomicFlagClear
    {320, 320, "trii?X"},         // OpImageSparseRead
    {321, 321, "tri"},            // OpSizeOf
    {322, 322, "T"},              // OpTypePipeStorage
    {323, 323, "trwww"},          // OpConstantPipeStorage
    {324, 324, "tri"},            // OpCreatePipeFromPipeStorage
    {325, 325, "triiiii"},        // OpGetKernelLocalSizeForSubgroupCount
    {326, 326, "triiii"},         // OpGetKernelMaxNumSubgroups
    {327, 327, "T"},              // OpTypeNamedBarrier
    {328, 328, "tri"},            // OpNamedBarrierInitialize
    {329, 329, "iii"},            // OpMemoryNamedBarrier
    {330, 330, "s"},              // OpModuleProcessed
    {331, 332, "iw*i"},           // OpExecutionModeId, OpDecorateId
    {333, 333, "tri"},            // OpGroupNonUniformElect
    {334, 336, "trii"},           // OpGroupNonUniformAll .. OpGroupNonUniformAllEqual
    {337, 337, "triii"},          // OpGroupNonUniformBroadcast
    {338, 340, "trii"},           // OpGroupNonUniformBroadcastFirst .. InverseBallot
    {341, 341, "triii"},          // OpGroupNonUniformBallotBitExtract
    {342, 342, "triwi"},          // OpGroupNonUniformBallotBitCount
    {343, 344, "trii"},           // OpGroupNonUniformBallotFindLSB, ..MSB
    {345, 348, "triii"},          // OpGroupNonUniformShuffle .. ShuffleDown
    {349, 364, "triwi?i"},        // OpGroupNonUniformIAdd .. LogicalXor
    {365, 366, "triii"},          // OpGroupNonUniformQuadBroadcast, ..QuadSwap
    {400, 400, "tri"},            // OpCopyLogical
    {401, 403, "trii"},           // OpPtrEqual .. OpPtrDiff
    {4416, 4416, ""},             // OpTerminateInvocation
    {4417, 4417, "Tw"},           // OpTypeUntypedPointerKHR
    {4418, 4418, "trw?ii"},       // OpUntypedVariableKHR
    {4419, 4420, "trii*i"},       // OpUntypedAccessChainKHR, OpUntypedInBoundsAccessChainKHR
    {4421, 4422, "tri"},          // OpSubgroupBallotKHR, OpSubgroupFirstInvocationKHR
    {4423, 4424, "triii*i"},      // OpUntypedPtrAccessChainKHR, OpUntypedInBoundsPtrAccessChainKHR
    {4428, 4430, "tri"},          // OpSubgroupAllKHR .. OpSubgroupAllEqualKHR
    {4431, 4431, "triii?i"},      // OpGroupNonUniformRotateKHR
    {4432, 4432, "trii"},         // OpSubgroupReadInvocationKHR
    {4450, 4452, "trii"},         // OpSDot .. OpSUDot
    {4453, 4455, "triii"},        // OpSDotAccSat .. OpSUDotAccSat
    {4456, 4456, "Tiiiii"},       // OpTypeCooperativeMatrixKHR
    {5571, 5571, "trii"},         // OpSubgroupShuffleINTEL
    {5572, 5573, "triii"},        // OpSubgroupShuffleDownINTEL, OpSubgroupShuffleUpINTEL
    {5574, 5574, "trii"},         // OpSubgroupShuffleXorINTEL
    {5575, 5575, "tri"},          // OpSubgroupBlockReadINTEL
    {5576, 5576, "ii"},           // OpSubgroupBlockWriteINTEL
    {5577, 5577, "trii"},         // OpSubgroupImageBlockReadINTEL
    {5578, 5578, "iii"},          // OpSubgroupImageBlockWriteINTEL
    {5580, 5580, "triiii"},       // OpSubgroupImageMediaBlockReadINTEL
    {5581, 5581, "iiiii"},        // OpSubgroupImageMediaBlockWriteINTEL
    {5585, 5586, "tri"},          // OpUCountLeadingZerosINTEL, OpUCountTrailingZerosINTEL
    {5587, 5598, "trii"},         // OpAbsISubINTEL .. OpUMul32x16INTEL
    {5600, 5600, "tri"},          // OpConstantFunctionPointerINTEL
    {5601, 5601, "tri*i"},        // OpFunctionPointerCallINTEL
    {5610, 5610, "triiss"},       // OpAsmINTEL
    {5611, 5611, "tri*i"},        // OpAsmCallINTEL
    {5614, 5615, "triiii"},       // OpAtomicFMinEXT, OpAtomicFMaxEXT
    {5630, 5630, "i"},            // OpAssumeTrueKHR
    {5631, 5631, "trii"},         // OpExpectKHR
    {5632, 5632, "iw"},           // OpDecorateString
    {5633, 5633, "iww"},          // OpMemberDecorateString
    {5818, 5818, "tri"},          // OpVariableLengthArrayINTEL
    {5819, 5819, "tr"},           // OpSaveMemoryINTEL
    {5820, 5820, "i"},            // OpRestoreMemoryINTEL
    {5887, 5887, ""},             // OpLoopControlINTEL
    {5911, 5911, "r?i"},          // OpAliasDomainDeclINTEL
    {5912, 5912, "ri?i"},         // OpAliasScopeDeclINTEL
    {5913, 5913, "r*i"},          // OpAliasScopeListDeclINTEL
    {5934, 5934, "tri"},          // OpPtrCastToCrossWorkgroupINTEL
    {5938, 5938, "tri"},          // OpCrossWorkgroupCastToPtrINTEL
    {5946, 5947, "trii"},         // OpReadPipeBlockingINTEL, OpWritePipeBlockingINTEL
    {5949, 5949, "tri"},          // OpFPGARegINTEL
    {6035, 6035, "triiii"},       // OpAtomicFAddEXT
    {6086, 6086, "T"},            // OpTypeBufferSurfaceINTEL
    {6090, 6092, "*i"},    // OpTypeStructContinuedINTEL .. OpSpecConstantCompositeContinuedINTEL
    {6116, 6117, "tri"},   // OpConvertFToBF16INTEL, OpConvertBF16ToFINTEL
    {6142, 6143, "iii"},   // OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL
    {6145, 6145, "tri"},   // OpArithmeticFenceEXT
    {6401, 6408, "triwi"}, // OpGroupIMulKHR .. OpGroupLogicalXorKHR
};

static const char *find_format(uint32_t opcode)
{
    size_t low = 0;
    size_t high = sizeof(formats) / sizeof(formats[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (opcode > formats[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof(formats) / sizeof(formats[0]) || opcode < formats[low].first)
        return NULL;
    return formats[low].format;
}

bool zepi_spirv_is_known(uint32_t opcode)
{
    return find_format(opcode) != NULL;
}

bool zepi_spirv_is_type(uint32_t opcode)
{
    const char *format = find_format(opcode);
    return format && format[0] == 'T';
}

bool zepi_spirv_has_result_type(uint32_t opcode)
{
    const char *format = find_format(opcode);
    return format && format[0] == 't';
}

// The operands of one instruction from `next` on.
struct cursor {
    struct zepi_spirv_walk *walk;
    struct zepi_spirv_instruction instruction;
    uint32_t next;
};

static enum zepi_spirv_status too_short(struct cursor *cursor)
{
    return zepi_spirv_fail(
        cursor->walk, cursor->instruction.word, "%s has %u words, expected more for its operands",
        zepi_spirv_opcode_text(cursor->instruction.opcode).text, cursor->instruction.length);
}

static enum zepi_spirv_status take_word(struct cursor *cursor, uint32_t *out_word)
{
    if (cursor->next >= cursor->instruction.length)
        return too_short(cursor);
    *out_word = zepi_spirv_operand(cursor->walk, cursor->instruction, cursor->next++);
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status take_id(struct cursor *cursor, uint32_t *out_id)
{
    uint32_t id = 0;
    enum zepi_spirv_status status = take_word(cursor, &id);
    if (status != ZEPI_SPIRV_OK)
        return status;
    if (id == 0)
        return zepi_spirv_fail(cursor->walk, cursor->instruction.word,
                               "%s names id 0, expected ids from 1 on",
                               zepi_spirv_opcode_text(cursor->instruction.opcode).text);
    if (id >= cursor->walk->bound)
        return zepi_spirv_fail(cursor->walk, cursor->instruction.word,
                               "%s names id %u, expected an id below the bound %u",
                               zepi_spirv_opcode_text(cursor->instruction.opcode).text, id,
                               cursor->walk->bound);
    *out_id = id;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status use_id(struct cursor *cursor)
{
    uint32_t id = 0;
    enum zepi_spirv_status status = take_id(cursor, &id);
    if (status != ZEPI_SPIRV_OK)
        return status;
    struct zepi_spirv_id *entry = &cursor->walk->ids[id];
    if (entry->used_at == 0) {
        entry->used_at = cursor->instruction.word;
        if (entry->defined_at == 0)
            cursor->walk->undefined_count++;
    }
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status use_type(struct cursor *cursor)
{
    struct zepi_spirv_walk *walk = cursor->walk;
    enum zepi_spirv_status status = use_id(cursor);
    if (status != ZEPI_SPIRV_OK)
        return status;
    uint32_t id = zepi_spirv_operand(walk, cursor->instruction, cursor->next - 1);
    struct zepi_spirv_instruction type = zepi_spirv_definition(walk, id);
    // An instruction unknown to the table may have declared the type.
    if (walk->ids[id].defined_at == 0 ? walk->unknown_count > 0 : zepi_spirv_is_type(type.opcode))
        return ZEPI_SPIRV_OK;
    return zepi_spirv_fail(walk, cursor->instruction.word,
                           "%s has id %u as result type, expected a type that is declared before "
                           "it",
                           zepi_spirv_opcode_text(cursor->instruction.opcode).text, id);
}

static enum zepi_spirv_status define_id(struct cursor *cursor)
{
    uint32_t id = 0;
    enum zepi_spirv_status status = take_id(cursor, &id);
    if (status != ZEPI_SPIRV_OK)
        return status;
    struct zepi_spirv_id *entry = &cursor->walk->ids[id];
    if (entry->defined_at != 0)
        return zepi_spirv_fail(
            cursor->walk, cursor->instruction.word,
            "%s defines id %u, expected one that word %u has not defined already",
            zepi_spirv_opcode_text(cursor->instruction.opcode).text, id, entry->defined_at);
    entry->defined_at = cursor->instruction.word;
    if (entry->used_at != 0)
        cursor->walk->undefined_count--;
    return ZEPI_SPIRV_OK;
}

bool zepi_spirv_string(const struct zepi_spirv_walk *walk,
                       struct zepi_spirv_instruction instruction, uint32_t index,
                       uint32_t *out_length, uint32_t *out_next)
{
    if (index >= instruction.length)
        return false;
    size_t size_bytes = (size_t)(instruction.length - index) * sizeof(uint32_t);
    const unsigned char *text = walk->bytes + ((size_t)instruction.word + index) * sizeof(uint32_t);
    const unsigned char *end = memchr(text, 0, size_bytes);
    if (!end)
        return false;
    *out_length = (uint32_t)(end - text);
    *out_next = index + *out_length / (uint32_t)sizeof(uint32_t) + 1;
    return true;
}

static enum zepi_spirv_status take_string(struct cursor *cursor)
{
    uint32_t length;
    if (cursor->next >= cursor->instruction.length)
        return too_short(cursor);
    if (!zepi_spirv_string(cursor->walk, cursor->instruction, cursor->next, &length, &cursor->next))
        return zepi_spirv_fail(cursor->walk, cursor->instruction.word,
                               "%s holds a string that does not end, expected a byte 0 in it",
                               zepi_spirv_opcode_text(cursor->instruction.opcode).text);
    return ZEPI_SPIRV_OK;
}

// Words of a literal of the type that `type_id` names; 0 if the type is no number.
static uint32_t literal_words(const struct zepi_spirv_walk *walk, uint32_t type_id)
{
    struct zepi_spirv_instruction type = zepi_spirv_definition(walk, type_id);
    if (type.opcode != OpTypeInt && type.opcode != OpTypeFloat)
        return 0;
    uint32_t width = zepi_spirv_operand(walk, type, 2);
    return width / 32 + (width % 32 != 0);
}

static enum zepi_spirv_status take_literal(struct cursor *cursor)
{
    uint32_t type_id = zepi_spirv_operand(cursor->walk, cursor->instruction, 1);
    uint32_t words = literal_words(cursor->walk, type_id);
    if (words == 0) {
        uint32_t opcode = zepi_spirv_definition(cursor->walk, type_id).opcode;
        if (opcode == 0 || !zepi_spirv_is_known(opcode)) {
            cursor->next = cursor->instruction.length;
            return ZEPI_SPIRV_OK;
        }
        return zepi_spirv_fail(cursor->walk, cursor->instruction.word,
                               "%s is of type id %u, expected an integer or floating-point type",
                               zepi_spirv_opcode_text(cursor->instruction.opcode).text, type_id);
    }
    if (words != cursor->instruction.length - cursor->next)
        return zepi_spirv_fail(cursor->walk, cursor->instruction.word,
                               "%s has %u words of value, expected %u for its type",
                               zepi_spirv_opcode_text(cursor->instruction.opcode).text,
                               cursor->instruction.length - cursor->next, words);
    cursor->next += words;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status take_switch_pairs(struct cursor *cursor)
{
    uint32_t selector_id = zepi_spirv_operand(cursor->walk, cursor->instruction, 1);
    struct zepi_spirv_instruction selector = zepi_spirv_definition(cursor->walk, selector_id);
    uint32_t words = 0;
    if (zepi_spirv_has_result_type(selector.opcode))
        words = literal_words(cursor->walk, zepi_spirv_operand(cursor->walk, selector, 1));
    if (words == 0) // the width cannot be known
        return ZEPI_SPIRV_OK;
    while (cursor->next < cursor->instruction.length) {
        if (words >= cursor->instruction.length - cursor->next)
            return too_short(cursor);
        cursor->next += words;
        enum zepi_spirv_status status = use_id(cursor);
        if (status != ZEPI_SPIRV_OK)
            return status;
    }
    return ZEPI_SPIRV_OK;
}

// A mask, then for some bits a literal or an id, in the order of the bits.
static enum zepi_spirv_status take_memory_operands(struct cursor *cursor)
{
    const uint32_t aligned = 0x2;
    const uint32_t with_id = 0x8 | 0x10 | 0x10000 | 0x20000; // make available, make visible,
                                                             // alias scope, no alias
    const uint32_t without_operand = 0x1 | 0x4 | 0x20;       // volatile, nontemporal, non-private
    uint32_t mask = 0;
    enum zepi_spirv_status status = take_word(cursor, &mask);
    if (status == ZEPI_SPIRV_OK && (mask & ~(aligned | with_id | without_operand)) != 0) {
        // Where the operands of an unknown bit end is unknown.
        cursor->next = cursor->instruction.length;
        return ZEPI_SPIRV_OK;
    }
    for (uint32_t bit = 1; status == ZEPI_SPIRV_OK && bit != 0 && bit <= mask; bit <<= 1) {
        uint32_t literal;
        if (mask & bit & aligned)
            status = take_word(cursor, &literal);
        else if (mask & bit & with_id)
            status = use_id(cursor);
    }
    return status;
}

static enum zepi_spirv_status take_ids_to_end(struct cursor *cursor)
{
    while (cursor->next < cursor->instruction.length) {
        enum zepi_spirv_status status = use_id(cursor);
        if (status != ZEPI_SPIRV_OK)
            return status;
    }
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status take_image_operands(struct cursor *cursor)
{
    uint32_t mask;
    enum zepi_spirv_status status = take_word(cursor, &mask);
    if (status != ZEPI_SPIRV_OK)
        return status;
    return take_ids_to_end(cursor);
}

// Only where all operands are known to be ids: the instructions of OpenCL.std but for the vector
// loads and stores (171 to 182), which hold literals.
static enum zepi_spirv_status take_extended_operands(struct cursor *cursor)
{
    struct zepi_spirv_walk *walk = cursor->walk;
    struct zepi_spirv_instruction set =
        zepi_spirv_definition(walk, zepi_spirv_operand(walk, cursor->instruction, 3));
    uint32_t number = zepi_spirv_operand(walk, cursor->instruction, 4);
    if (set.opcode != OpExtInstImport) {
        if (walk->unknown_count > 0)
            return ZEPI_SPIRV_OK;
        return zepi_spirv_fail(walk, cursor->instruction.word,
                               "OpExtInst names id %u as its instruction set, expected an "
                               "OpExtInstImport before it",
                               zepi_spirv_operand(walk, cursor->instruction, 3));
    }
    static const char opencl[] = "OpenCL.std";
    const unsigned char *name = walk->bytes + ((size_t)set.word + 2) * sizeof(uint32_t);
    bool is_opencl = (set.length - 2) * sizeof(uint32_t) >= sizeof(opencl) &&
                     memcmp(name, opencl, sizeof(opencl)) == 0;
    if (!is_opencl || (number >= 171 && number <= 182))
        return ZEPI_SPIRV_OK;
    return take_ids_to_end(cursor);
}

static enum zepi_spirv_status check_format(struct cursor *cursor, const char *format);

static enum zepi_spirv_status take_nested_operation(struct cursor *cursor)
{
    uint32_t opcode = 0;
    enum zepi_spirv_status status = take_word(cursor, &opcode);
    if (status != ZEPI_SPIRV_OK)
        return status;
    const char *format = find_format(opcode);
    if (!format || strncmp(format, "tri", 3) != 0 || strchr(format, 'E'))
        return ZEPI_SPIRV_OK;
    return check_format(cursor, format + 2);
}

static enum zepi_spirv_status take_operand(struct cursor *cursor, char letter)
{
    uint32_t literal;
    switch (letter) {
    case 't':
        return use_type(cursor);
    case 'T':
    case 'r':
        return define_id(cursor);
    case 'i':
        return use_id(cursor);
    case 'w':
        return take_word(cursor, &literal);
    case 's':
        return take_string(cursor);
    case 'n':
        return take_literal(cursor);
    case 'S':
        return take_switch_pairs(cursor);
    case 'M':
        return take_memory_operands(cursor);
    case 'X':
        return take_image_operands(cursor);
    case 'E':
        return take_extended_operands(cursor);
    default:
        assert(letter == 'O');
        return take_nested_operation(cursor);
    }
}

static enum zepi_spirv_status check_format(struct cursor *cursor, const char *format)
{
    const char *repeated = NULL;
    bool optional = false;
    for (const char *letter = format; *letter || repeated; letter++) {
        if (!*letter)
            letter = repeated;
        bool at_end = cursor->next == cursor->instruction.length;
        if (*letter == '?' || *letter == '*') {
            optional = true;
            if (*letter == '*')
                repeated = letter + 1;
            continue;
        }
        if (at_end && (optional && (!repeated || letter == repeated)))
            return ZEPI_SPIRV_OK;
        enum zepi_spirv_status status = take_operand(cursor, *letter);
        if (status != ZEPI_SPIRV_OK)
            return status;
    }
    return ZEPI_SPIRV_OK;
}

enum zepi_spirv_status zepi_spirv_check_operands(struct zepi_spirv_walk *walk,
                                                 struct zepi_spirv_instruction instruction)
{
    const char *format = find_format(instruction.opcode);
    if (!format) {
        walk->unknown_count++;
        return ZEPI_SPIRV_OK;
    }
    struct cursor cursor = {.walk = walk, .instruction = instruction, .next = 1};
    return check_format(&cursor, format);
}
