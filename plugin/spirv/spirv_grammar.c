// SPDX-License-Identifier: MIT
#include "spirv_grammar.h"

#include <stddef.h>

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
    const char *name; // of a row for several instructions: the first and the last one
};

static const struct operand_format formats[] = {
    {0, 0, "", "OpNop"},
    {1, 1, "tr", "OpUndef"},
    {2, 2, "s", "OpSourceContinued"},
    {3, 3, "ww?is", "OpSource"},
    {4, 4, "s", "OpSourceExtension"},
    {5, 5, "is", "OpName"},
    {6, 6, "iws", "OpMemberName"},
    {7, 7, "rs", "OpString"},
    {8, 8, "iww", "OpLine"},
    {10, 10, "s", "OpExtension"},
    {11, 11, "rs", "OpExtInstImport"},
    {12, 12, "triwE", "OpExtInst"},
    {14, 14, "ww", "OpMemoryModel"},
    {15, 15, "wis*i", "OpEntryPoint"},
    {16, 16, "iw", "OpExecutionMode"},
    {17, 17, "w", "OpCapability"},
    {19, 19, "T", "OpTypeVoid"},
    {20, 20, "T", "OpTypeBool"},
    {21, 21, "Tww", "OpTypeInt"},
    {22, 22, "Tw", "OpTypeFloat"},
    {23, 23, "Tiw", "OpTypeVector"},
    {24, 24, "Tiw", "OpTypeMatrix"},
    {25, 25, "Tiwwwwww", "OpTypeImage"},
    {26, 26, "T", "OpTypeSampler"},
    {27, 27, "Ti", "OpTypeSampledImage"},
    {28, 28, "Tii", "OpTypeArray"},
    {29, 29, "Ti", "OpTypeRuntimeArray"},
    {30, 30, "T*i", "OpTypeStruct"},
    {31, 31, "Ts", "OpTypeOpaque"},
    {32, 32, "Twi", "OpTypePointer"},
    {33, 33, "Ti*i", "OpTypeFunction"},
    {34, 37, "T", "OpTypeEvent .. OpTypeQueue"},
    {38, 38, "Tw", "OpTypePipe"},
    {39, 39, "iw", "OpTypeForwardPointer"},
    {41, 41, "tr", "OpConstantTrue"},
    {42, 42, "tr", "OpConstantFalse"},
    {43, 43, "trn", "OpConstant"},
    {44, 44, "tr*i", "OpConstantComposite"},
    {45, 45, "trwww", "OpConstantSampler"},
    {46, 46, "tr", "OpConstantNull"},
    {48, 48, "tr", "OpSpecConstantTrue"},
    {49, 49, "tr", "OpSpecConstantFalse"},
    {50, 50, "trn", "OpSpecConstant"},
    {51, 51, "tr*i", "OpSpecConstantComposite"},
    {52, 52, "trO", "OpSpecConstantOp"},
    {54, 54, "trwi", "OpFunction"},
    {55, 55, "tr", "OpFunctionParameter"},
    {56, 56, "", "OpFunctionEnd"},
    {57, 57, "tri*i", "OpFunctionCall"},
    {59, 59, "trw?i", "OpVariable"},
    {60, 60, "triii", "OpImageTexelPointer"},
    {61, 61, "tri?M", "OpLoad"},
    {62, 62, "ii?M", "OpStore"},
    {63, 63, "ii?MM", "OpCopyMemory"},
    {64, 64, "iii?MM", "OpCopyMemorySized"},
    {65, 65, "tri*i", "OpAccessChain"},
    {66, 66, "tri*i", "OpInBoundsAccessChain"},
    {67, 67, "trii*i", "OpPtrAccessChain"},
    {69, 69, "tri", "OpGenericPtrMemSemantics"},
    {70, 70, "trii*i", "OpInBoundsPtrAccessChain"},
    {71, 71, "iw", "OpDecorate"},
    {72, 72, "iww", "OpMemberDecorate"},
    {73, 73, "r", "OpDecorationGroup"},
    {74, 74, "i*i", "OpGroupDecorate"},
    {75, 75, "i*iw", "OpGroupMemberDecorate"},
    {77, 77, "trii", "OpVectorExtractDynamic"},
    {78, 78, "triii", "OpVectorInsertDynamic"},
    {79, 79, "trii", "OpVectorShuffle"},
    {80, 80, "tr*i", "OpCompositeConstruct"},
    {81, 81, "tri", "OpCompositeExtract"},
    {82, 82, "trii", "OpCompositeInsert"},
    {83, 84, "tri", "OpCopyObject, OpTranspose"},
    {86, 86, "trii", "OpSampledImage"},
    {88, 88, "triiX", "OpImageSampleExplicitLod"},
    {95, 95, "trii?X", "OpImageFetch"},
    {98, 98, "trii?X", "OpImageRead"},
    {99, 99, "iii?X", "OpImageWrite"},
    {100, 102, "tri", "OpImage .. OpImageQueryOrder"},
    {103, 103, "trii", "OpImageQuerySizeLod"},
    {104, 104, "tri", "OpImageQuerySize"},
    {106, 107, "tri", "OpImageQueryLevels, OpImageQuerySamples"},
    {109, 122, "tri", "OpConvertFToU .. OpGenericCastToPtr"},
    {123, 123, "triw", "OpGenericCastToPtrExplicit"},
    {124, 124, "tri", "OpBitcast"},
    {126, 127, "tri", "OpSNegate, OpFNegate"},
    {128, 152, "trii", "OpIAdd .. OpSMulExtended"},
    {154, 160, "tri", "OpAny .. OpSignBitSet"},
    {161, 167, "trii", "OpLessOrGreater .. OpLogicalAnd"},
    {168, 168, "tri", "OpLogicalNot"},
    {169, 169, "triii", "OpSelect"},
    {170, 191, "trii", "OpIEqual .. OpFUnordGreaterThanEqual"},
    {194, 199, "trii", "OpShiftRightLogical .. OpBitwiseAnd"},
    {200, 200, "tri", "OpNot"},
    {201, 201, "triiii", "OpBitFieldInsert"},
    {202, 203, "triii", "OpBitFieldSExtract, OpBitFieldUExtract"},
    {204, 205, "tri", "OpBitReverse, OpBitCount"},
    {224, 224, "iii", "OpControlBarrier"},
    {225, 225, "ii", "OpMemoryBarrier"},
    {227, 227, "triii", "OpAtomicLoad"},
    {228, 228, "iiii", "OpAtomicStore"},
    {229, 229, "triiii", "OpAtomicExchange"},
    {230, 231, "triiiiii", "OpAtomicCompareExchange, OpAtomicCompareExchangeWeak"},
    {232, 233, "triii", "OpAtomicIIncrement, OpAtomicIDecrement"},
    {234, 242, "triiii", "OpAtomicIAdd .. OpAtomicXor"},
    {245, 245, "tr*ii", "OpPhi"},
    {246, 246, "iiw", "OpLoopMerge"},
    {247, 247, "iw", "OpSelectionMerge"},
    {248, 248, "r", "OpLabel"},
    {249, 249, "i", "OpBranch"},
    {250, 250, "iii", "OpBranchConditional"},
    {251, 251, "iiS", "OpSwitch"},
    {252, 253, "", "OpKill, OpReturn"},
    {254, 254, "i", "OpReturnValue"},
    {255, 255, "", "OpUnreachable"},
    {256, 257, "iw", "OpLifetimeStart, OpLifetimeStop"},
    {259, 259, "triiiiii", "OpGroupAsyncCopy"},
    {260, 260, "iii", "OpGroupWaitEvents"},
    {261, 262, "trii", "OpGroupAll, OpGroupAny"},
    {263, 263, "triii", "OpGroupBroadcast"},
    {264, 271, "triwi", "OpGroupIAdd .. OpGroupSMax"},
    {274, 275, "triiii", "OpReadPipe, OpWritePipe"},
    {276, 277, "triiiiii", "OpReservedReadPipe, OpReservedWritePipe"},
    {278, 279, "triiii", "OpReserveReadPipePackets, OpReserveWritePipePackets"},
    {280, 281, "iiii", "OpCommitReadPipe, OpCommitWritePipe"},
    {282, 282, "tri", "OpIsValidReserveId"},
    {283, 284, "triii", "OpGetNumPipePackets, OpGetMaxPipePackets"},
    {285, 286, "triiiii", "OpGroupReserveReadPipePackets, OpGroupReserveWritePipePackets"},
    {287, 288, "iiiii", "OpGroupCommitReadPipe, OpGroupCommitWritePipe"},
    {291, 291, "triiii", "OpEnqueueMarker"},
    {292, 292, "triiiiiiiiii*i", "OpEnqueueKernel"},
    {293, 294, "triiiii", "OpGetKernelNDrangeSubGroupCount, OpGetKernelNDrangeMaxSubGroupSize"},
    {295, 296, "triiii", "OpGetKernelWorkGroupSize, OpGetKernelPreferredWorkGroupSizeMultiple"},
    {297, 298, "i", "OpRetainEvent, OpReleaseEvent"},
    {299, 299, "tr", "OpCreateUserEvent"},
    {300, 300, "tri", "OpIsValidEvent"},
    {301, 301, "ii", "OpSetUserEventStatus"},
    {302, 302, "iii", "OpCaptureEventProfilingInfo"},
    {303, 303, "tr", "OpGetDefaultQueue"},
    {304, 304, "triii", "OpBuildNDRange"},
    {306, 306, "triiX", "OpImageSparseSampleExplicitLod"},
    {316, 316, "tri", "OpImageSparseTexelsResident"},
    {317, 317, "", "OpNoLine"},
    {318, 318, "triii", "OpAtomicFlagTestAndSet"},
    {319, 319, "iii", "OpAtomicFlagClear"},
    {320, 320, "trii?X", "OpImageSparseRead"},
    {321, 321, "tri", "OpSizeOf"},
    {322, 322, "T", "OpTypePipeStorage"},
    {323, 323, "trwww", "OpConstantPipeStorage"},
    {324, 324, "tri", "OpCreatePipeFromPipeStorage"},
    {325, 325, "triiiii", "OpGetKernelLocalSizeForSubgroupCount"},
    {326, 326, "triiii", "OpGetKernelMaxNumSubgroups"},
    {327, 327, "T", "OpTypeNamedBarrier"},
    {328, 328, "tri", "OpNamedBarrierInitialize"},
    {329, 329, "iii", "OpMemoryNamedBarrier"},
    {330, 330, "s", "OpModuleProcessed"},
    {331, 331, "iw*i", "OpExecutionModeId"},
    {332, 332, "iw*i", "OpDecorateId"},
    {333, 333, "tri", "OpGroupNonUniformElect"},
    {334, 336, "trii", "OpGroupNonUniformAll .. OpGroupNonUniformAllEqual"},
    {337, 337, "triii", "OpGroupNonUniformBroadcast"},
    {338, 340, "trii", "OpGroupNonUniformBroadcastFirst .. OpGroupNonUniformInverseBallot"},
    {341, 341, "triii", "OpGroupNonUniformBallotBitExtract"},
    {342, 342, "triwi", "OpGroupNonUniformBallotBitCount"},
    {343, 344, "trii", "OpGroupNonUniformBallotFindLSB, OpGroupNonUniformBallotFindMSB"},
    {345, 348, "triii", "OpGroupNonUniformShuffle .. OpGroupNonUniformShuffleDown"},
    {349, 364, "triwi?i", "OpGroupNonUniformIAdd .. OpGroupNonUniformLogicalXor"},
    {365, 366, "triii", "OpGroupNonUniformQuadBroadcast, OpGroupNonUniformQuadSwap"},
    {400, 400, "tri", "OpCopyLogical"},
    {401, 403, "trii", "OpPtrEqual .. OpPtrDiff"},
    {4417, 4417, "Tw", "OpTypeUntypedPointerKHR"},
    {4418, 4418, "trw?ii", "OpUntypedVariableKHR"},
    {4419, 4420, "trii*i", "OpUntypedAccessChainKHR, OpUntypedInBoundsAccessChainKHR"},
    {4421, 4422, "tri", "OpSubgroupBallotKHR, OpSubgroupFirstInvocationKHR"},
    {4423, 4424, "triii*i", "OpUntypedPtrAccessChainKHR, OpUntypedInBoundsPtrAccessChainKHR"},
    {4428, 4430, "tri", "OpSubgroupAllKHR .. OpSubgroupAllEqualKHR"},
    {4431, 4431, "triii?i", "OpGroupNonUniformRotateKHR"},
    {4432, 4432, "trii", "OpSubgroupReadInvocationKHR"},
    {4450, 4452, "trii", "OpSDot .. OpSUDot"},
    {4453, 4455, "triii", "OpSDotAccSat .. OpSUDotAccSat"},
    {4456, 4456, "Tiiiii", "OpTypeCooperativeMatrixKHR"},
    {5571, 5571, "trii", "OpSubgroupShuffleINTEL"},
    {5572, 5573, "triii", "OpSubgroupShuffleDownINTEL, OpSubgroupShuffleUpINTEL"},
    {5574, 5574, "trii", "OpSubgroupShuffleXorINTEL"},
    {5575, 5575, "tri", "OpSubgroupBlockReadINTEL"},
    {5576, 5576, "ii", "OpSubgroupBlockWriteINTEL"},
    {5577, 5577, "trii", "OpSubgroupImageBlockReadINTEL"},
    {5578, 5578, "iii", "OpSubgroupImageBlockWriteINTEL"},
    {5580, 5580, "triiii", "OpSubgroupImageMediaBlockReadINTEL"},
    {5581, 5581, "iiiii", "OpSubgroupImageMediaBlockWriteINTEL"},
    {5585, 5586, "tri", "OpUCountLeadingZerosINTEL, OpUCountTrailingZerosINTEL"},
    {5587, 5598, "trii", "OpAbsISubINTEL .. OpUMul32x16INTEL"},
    {5600, 5600, "tri", "OpConstantFunctionPointerINTEL"},
    {5601, 5601, "tr*i", "OpFunctionPointerCallINTEL"},
    {5610, 5610, "triiss", "OpAsmINTEL"},
    {5611, 5611, "tri*i", "OpAsmCallINTEL"},
    {5614, 5615, "triiii", "OpAtomicFMinEXT, OpAtomicFMaxEXT"},
    {5630, 5630, "i", "OpAssumeTrueKHR"},
    {5631, 5631, "trii", "OpExpectKHR"},
    {5632, 5632, "iw", "OpDecorateString"},
    {5633, 5633, "iww", "OpMemberDecorateString"},
    {5818, 5818, "tri", "OpVariableLengthArrayINTEL"},
    {5819, 5819, "tr", "OpSaveMemoryINTEL"},
    {5820, 5820, "i", "OpRestoreMemoryINTEL"},
    {5887, 5887, "", "OpLoopControlINTEL"},
    {5911, 5911, "r?i", "OpAliasDomainDeclINTEL"},
    {5912, 5912, "ri?i", "OpAliasScopeDeclINTEL"},
    {5913, 5913, "r*i", "OpAliasScopeListDeclINTEL"},
    {5934, 5934, "tri", "OpPtrCastToCrossWorkgroupINTEL"},
    {5938, 5938, "tri", "OpCrossWorkgroupCastToPtrINTEL"},
    {5946, 5947, "trii", "OpReadPipeBlockingINTEL, OpWritePipeBlockingINTEL"},
    {5949, 5949, "tri", "OpFPGARegINTEL"},
    {6035, 6035, "triiii", "OpAtomicFAddEXT"},
    {6086, 6086, "T", "OpTypeBufferSurfaceINTEL"},
    {6090, 6090, "*i", "OpTypeStructContinuedINTEL"},
    {6091, 6092, "*i",
     "OpConstantCompositeContinuedINTEL .. OpSpecConstantCompositeContinuedINTEL"},
    {6116, 6117, "tri", "OpConvertFToBF16INTEL, OpConvertBF16ToFINTEL"},
    {6142, 6143, "iii", "OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL"},
    {6145, 6145, "tri", "OpArithmeticFenceEXT"},
    {6401, 6408, "triwi", "OpGroupIMulKHR .. OpGroupLogicalXorKHR"},
};

static const struct operand_format *find_format(uint32_t opcode)
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
    return low < sizeof(formats) / sizeof(formats[0]) && opcode >= formats[low].first
               ? &formats[low]
               : NULL;
}

const char *zepi_spirv_format(uint32_t opcode)
{
    const struct operand_format *found = find_format(opcode);
    return found ? found->format : NULL;
}

const char *zepi_spirv_opcode_name(uint32_t opcode)
{
    const struct operand_format *found = find_format(opcode);
    return found && found->first == found->last ? found->name : NULL;
}

bool zepi_spirv_is_type(uint32_t opcode)
{
    const char *format = zepi_spirv_format(opcode);
    return format && format[0] == 'T';
}
