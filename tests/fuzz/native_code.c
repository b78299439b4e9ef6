// SPDX-License-Identifier: MIT
#include "kernels/native_code.h"
#include "fuzz.h"

// Intel's native code, and the text of .ze_info in it.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct shim_native_code code;
    struct shim_ze_info info;
    char message[256] = "";
    fuzz_require(shim_native_code_length(bytes, size_bytes) <= size_bytes);
    if (shim_ze_info_init(&info, (const char *)bytes, size_bytes, message, sizeof(message)))
        shim_ze_info_finish(&info);
    else
        fuzz_require(message[0] != '\0' && !info.kernels);
    if (!shim_native_code_init(&code, bytes, size_bytes, message, sizeof(message))) {
        fuzz_require(message[0] != '\0' && !code.bytes);
        return 0;
    }
    shim_native_code_read_info(&code, message, sizeof(message));
    for (uint32_t i = 0; i < code.kernel_count; i++)
        fuzz_require(shim_native_kernel_is(&code.kernels[i], code.kernels[i].text,
                                           code.kernels[i].text_bytes));
    shim_native_code_finish(&code);
    return 0;
}
