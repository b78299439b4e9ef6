// SPDX-License-Identifier: MIT
// Text that kernels print on Intel's driver, and messages that name refused kernels. Neither hangs.
#include "kernel_fixture.h"

#include "test_env.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[8192]; // the text that was written to a descriptor meanwhile
static int kept_descriptor;

static void begin_text(int descriptor)
{
    fflush(NULL);
    kept_descriptor = dup(descriptor);
    const int file = open(test_env_scratch_path("text"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    INTEL_EXPECT(file >= 0 && dup2(file, descriptor) >= 0, "no scratch file");
    close(file);
}

static void end_text(int descriptor)
{
    fflush(NULL);
    const ssize_t length = pread(descriptor, text, sizeof(text) - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    dup2(kept_descriptor, descriptor);
    close(kept_descriptor);
    fputs(text, stderr);
}

static void expect_text(const char *words)
{
    INTEL_EXPECT(strstr(text, words), "no \"%s\" in it", words);
}

static void prints_reach_the_standard_output(void)
{
    const int number = 47;
    kernels_set_up("execution");
    begin_text(STDOUT_FILENO);
    kernels_run("print_number", 1, (zepi_argument_t[]){TEST_VALUE(number)}, 1, 1);
    end_text(STDOUT_FILENO);
    expect_text("the number is 47\n");
    kernels_tear_down();
}

// The process ends, as on a GPU: the story is the one that waits for it.
static void a_failed_assertion_says_where_and_ends_the_process(void)
{
    int status = 0;
    fflush(NULL);
    begin_text(STDERR_FILENO);
    const pid_t child = fork();
    if (child == 0) {
        const int fine = 2, wrong = 3;
        kernels_set_up("execution");
        kernels_run("check_number", 1, (zepi_argument_t[]){TEST_VALUE(fine)}, 1, 1);
        kernels_run("check_number", 1, (zepi_argument_t[]){TEST_VALUE(wrong)}, 1, 1);
        _exit(0);
    }
    const bool has_ended = child > 0 && waitpid(child, &status, 0) == child;
    end_text(STDERR_FILENO);
    INTEL_EXPECT(has_ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status 0x%x",
                 (unsigned)status);
    expect_text("Assertion `number < 3` failed");
}

// The program sees a lost device, soon, and can end.
static _Noreturn void expect_refusal(const char *words)
{
    const zepi_result_t result = zepi.queue_finish(gear.queue);
    end_text(STDERR_FILENO);
    INTEL_EXPECT(result == ZEPI_ERROR_DEVICE_LOST, "result %d", (int)result);
    expect_text(words);
    intel_end_lost();
}

static void an_image_that_the_cpu_lacks_is_refused_by_name(void)
{
    const ze_srgb_ext_desc_t srgb = {.stype = ZE_STRUCTURE_TYPE_SRGB_EXT_DESC, .sRGB = true};
    kernels_set_up("images");
    begin_text(STDERR_FILENO);
    kernels_launch_on_line(kernels_make_line(&srgb));
    expect_refusal("add_line is refused: an image: the surface format 0xc8 is not known");
}

// As libraries ship it. No record of the SPIR-V is kept, and the section that has it is renamed.
static void machine_code_without_spirv_is_refused_by_name(void)
{
    setenv("DRM_SHIM_RECORDS", "/dev/null/none", 1);
    kernels_set_up("negate");
    zepi_device_image_desc_t image = test_native_image(module, gear.device, ZEPI_MODULE_EXECUTABLE);
    uint8_t *bytes = (uint8_t *)image.bytes;
    uint8_t *name = memmem(bytes, image.size_bytes, ".spv", 5);
    INTEL_EXPECT(name, "the native code has no SPIR-V");
    memcpy(name, ".abc", 4);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &module));
    const zepi_kernel_t kernel = kernels_get("negate");
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    begin_text(STDERR_FILENO);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    expect_refusal("negate is refused: machine code without SPIR-V");
}

// The SPIR-V in native code has default values, not those of its build.
static void native_code_of_unknown_constants_is_refused_by_name(void)
{
    setenv("DRM_SHIM_RECORDS", "/dev/null/none", 1);
    kernels_set_up("spec_types");
    zepi_device_image_desc_t image = test_native_image(module, gear.device, ZEPI_MODULE_EXECUTABLE);
    TEST_OK(zepi.release(module));
    TEST_OK(zepi.cache_clear(gear.context));
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_EXECUTABLE, 1, &image, &module));
    const zepi_kernel_t kernel = kernels_get("show_types");
    const zepi_argument_t argument = TEST_POINTER(out);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    begin_text(STDERR_FILENO);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    expect_refusal("show_types is refused: native code of unknown values");
}

// ze_cpu has pointers to some functions alone.
static void a_function_that_the_cpu_lacks_has_no_pointer(void)
{
    void *native, *function;
    kernels_set_up("function_pointers");
    TEST_OK(zepi.module_get_native(module, gear.device, &native));
    begin_text(STDERR_FILENO);
    const ze_result_t result = ZE(zeModuleGetFunctionPointer)(native, "twice", &function);
    end_text(STDERR_FILENO);
    INTEL_EXPECT(result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "result 0x%x", result);
    expect_text("twice is refused");
    kernels_tear_down();
}

static const struct intel_story stories[] = {
    STORY(prints_reach_the_standard_output, EXECUTED),
    STORY(a_failed_assertion_says_where_and_ends_the_process, EXECUTED),
    STORY(an_image_that_the_cpu_lacks_is_refused_by_name, REFUSED),
    STORY(machine_code_without_spirv_is_refused_by_name, REFUSED),
    STORY(native_code_of_unknown_constants_is_refused_by_name, REFUSED),
    STORY(a_function_that_the_cpu_lacks_has_no_pointer, REFUSED),
    {0}};

int main(int argc, char **argv)
{
    return intel_main(argc, argv, stories);
}
