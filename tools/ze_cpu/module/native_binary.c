// SPDX-License-Identifier: MIT
#include "native_binary.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "ZECPU\0\0\4"
#define MAGIC_BYTES 8
#define HEADER_BYTES (MAGIC_BYTES + 8) // magic, payload bytes, checksum of the payload

// FNV-1a over words would miss nothing that matters here either; bytes keep it independent of size.
static uint32_t checksum(const uint8_t *bytes, size_t size_bytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size_bytes; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

// Writes when `bytes` is there, else only counts.
struct writer {
    uint8_t *bytes;
    size_t position;
};

static void write_bytes(struct writer *writer, const void *bytes, size_t size_bytes)
{
    if (writer->bytes != NULL && size_bytes > 0)
        memcpy(writer->bytes + writer->position, bytes, size_bytes);
    writer->position += size_bytes;
}

static void write_number(struct writer *writer, uint32_t number)
{
    write_bytes(writer, &number, sizeof(number));
}

static void write_text(struct writer *writer, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    write_number(writer, length);
    write_bytes(writer, text, length);
}

static void write_kernel(struct writer *writer, const struct zepi_spirv_kernel *kernel)
{
    write_text(writer, kernel->name);
    for (int i = 0; i < 3; i++)
        write_number(writer, kernel->required_group_size[i]);
    for (int i = 0; i < 3; i++)
        write_number(writer, kernel->hinted_group_size[i]);
    write_number(writer, kernel->required_sub_group_size);
    write_number(writer, kernel->argument_count);
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        write_number(writer, kernel->arguments[i].kind);
        write_number(writer, kernel->arguments[i].size_bytes);
    }
}

static void write_tables(struct writer *writer, const struct cpu_module *module)
{
    uint32_t kernel_count = 0;
    uint32_t symbol_count = 0;
    for (uint32_t i = 0; i < module->table_count; i++) {
        kernel_count += module->tables[i].kernel_count;
        symbol_count += module->tables[i].symbol_count;
    }
    write_number(writer, kernel_count);
    for (uint32_t i = 0; i < module->table_count; i++)
        for (uint32_t j = 0; j < module->tables[i].kernel_count; j++)
            write_kernel(writer, &module->tables[i].kernels[j]);
    write_number(writer, symbol_count);
    for (uint32_t i = 0; i < module->table_count; i++)
        for (uint32_t j = 0; j < module->tables[i].symbol_count; j++) {
            const struct zepi_spirv_symbol *symbol = &module->tables[i].symbols[j];
            write_text(writer, symbol->name);
            write_number(writer, symbol->linkage);
            write_number(writer, symbol->is_function);
        }
}

uint8_t *cpu_native_read_program(cl_program program, size_t *out_size_bytes)
{
    const struct cpu_opencl *cl = cpu_opencl();
    *out_size_bytes = 0;
    if (program == NULL)
        return NULL;
    size_t size_bytes = 0;
    cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size_bytes), &size_bytes,
                              NULL);
    uint8_t *bytes = size_bytes > 0 ? malloc(size_bytes) : NULL;
    if (bytes == NULL)
        return NULL;
    if (cl->api->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL) !=
        CL_SUCCESS) {
        free(bytes);
        return NULL;
    }
    *out_size_bytes = size_bytes;
    return bytes;
}

static void write_payload(struct writer *writer, const struct cpu_module *module,
                          const uint8_t *program, size_t program_bytes, const uint8_t *object,
                          size_t object_bytes)
{
    write_text(writer, cpu_opencl()->driver_version);
    write_tables(writer, module);
    write_number(writer, (uint32_t)program_bytes);
    write_bytes(writer, program, program_bytes);
    write_number(writer, (uint32_t)object_bytes);
    write_bytes(writer, object, object_bytes);
    const struct cpu_source *source = module->program != NULL ? module->program->source : NULL;
    write_text(writer, source != NULL ? source->options : "");
    write_number(writer, source != NULL ? (uint32_t)source->spirv_bytes : 0);
    write_bytes(writer, source != NULL ? source->spirv : NULL,
                source != NULL ? source->spirv_bytes : 0);
}

uint8_t *cpu_native_pack(const struct cpu_module *module, size_t *out_size_bytes)
{
    size_t program_bytes, object_bytes;
    cl_program linked = module->program != NULL ? module->program->program : NULL;
    uint8_t *program = cpu_native_read_program(linked, &program_bytes);
    uint8_t *object = cpu_native_read_program(module->object_program, &object_bytes);
    struct writer writer = {0};
    uint8_t *bytes = NULL;
    if ((linked != NULL && program == NULL) || (module->object_program != NULL && object == NULL))
        goto out;
    write_payload(&writer, module, program, program_bytes, object, object_bytes);
    size_t payload_bytes = writer.position;
    bytes = malloc(HEADER_BYTES + payload_bytes);
    if (bytes == NULL)
        goto out;
    writer = (struct writer){.bytes = bytes + HEADER_BYTES};
    write_payload(&writer, module, program, program_bytes, object, object_bytes);
    writer = (struct writer){.bytes = bytes};
    write_bytes(&writer, MAGIC, MAGIC_BYTES);
    write_number(&writer, (uint32_t)payload_bytes);
    write_number(&writer, checksum(bytes + HEADER_BYTES, payload_bytes));
    *out_size_bytes = HEADER_BYTES + payload_bytes;
out:
    free(program);
    free(object);
    return bytes;
}

// `failed` sticks; reads after a failure give zeros.
struct reader {
    const uint8_t *bytes;
    size_t left;
    bool failed;
};

static const uint8_t *read_bytes(struct reader *reader, size_t size_bytes)
{
    if (reader->failed || size_bytes > reader->left) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *bytes = reader->bytes;
    reader->bytes += size_bytes;
    reader->left -= size_bytes;
    return bytes;
}

static uint32_t read_number(struct reader *reader)
{
    uint32_t number = 0;
    const uint8_t *bytes = read_bytes(reader, sizeof(number));
    if (bytes != NULL)
        memcpy(&number, bytes, sizeof(number));
    return number;
}

// Memory for the table, handed out in pieces; the block is sized for the worst case.
struct arena {
    unsigned char *bytes;
    size_t used;
    size_t capacity;
};

static void *take(struct reader *reader, struct arena *arena, size_t count, size_t element_bytes)
{
    size_t size_bytes = (count * element_bytes + 7) / 8 * 8;
    if (reader->failed || count > reader->left || size_bytes > arena->capacity - arena->used) {
        reader->failed = true;
        return NULL;
    }
    void *piece = arena->bytes + arena->used;
    arena->used += size_bytes;
    return piece;
}

static const char *read_text(struct reader *reader, struct arena *arena)
{
    uint32_t length = read_number(reader);
    const uint8_t *bytes = read_bytes(reader, length);
    char *text = NULL;
    if (bytes == NULL || memchr(bytes, '\0', length) != NULL) {
        reader->failed = true;
        return "";
    }
    size_t size_bytes = ((size_t)length + 8) / 8 * 8;
    if (size_bytes > arena->capacity - arena->used) {
        reader->failed = true;
        return "";
    }
    text = (char *)arena->bytes + arena->used;
    arena->used += size_bytes;
    memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

static void read_kernel(struct reader *reader, struct arena *arena,
                        struct zepi_spirv_kernel *kernel)
{
    kernel->name = read_text(reader, arena);
    for (int i = 0; i < 3; i++)
        kernel->required_group_size[i] = read_number(reader);
    for (int i = 0; i < 3; i++)
        kernel->hinted_group_size[i] = read_number(reader);
    kernel->required_sub_group_size = read_number(reader);
    uint32_t count = read_number(reader);
    struct zepi_spirv_argument *arguments = take(reader, arena, count, sizeof(*arguments));
    if (arguments == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = read_number(reader);
        reader->failed = reader->failed || kind > ZEPI_SPIRV_ARGUMENT_OTHER;
        arguments[i].kind = (enum zepi_spirv_argument_kind)kind;
        arguments[i].size_bytes = read_number(reader);
        reader->failed = reader->failed || arguments[i].size_bytes > 1 << 20;
    }
    kernel->arguments = arguments;
    kernel->argument_count = count;
}

static void read_table(struct reader *reader, struct arena *arena, struct zepi_spirv *table)
{
    uint32_t kernel_count = read_number(reader);
    struct zepi_spirv_kernel *kernels = take(reader, arena, kernel_count, sizeof(*kernels));
    for (uint32_t i = 0; kernels != NULL && i < kernel_count; i++)
        read_kernel(reader, arena, &kernels[i]);
    uint32_t symbol_count = read_number(reader);
    struct zepi_spirv_symbol *symbols = take(reader, arena, symbol_count, sizeof(*symbols));
    for (uint32_t i = 0; symbols != NULL && i < symbol_count; i++) {
        symbols[i].name = read_text(reader, arena);
        uint32_t linkage = read_number(reader);
        reader->failed = reader->failed || linkage > ZEPI_SPIRV_LINK_ONCE_ODR;
        symbols[i].linkage = (enum zepi_spirv_linkage)linkage;
        symbols[i].is_function = read_number(reader) != 0;
    }
    table->kernels = kernels;
    table->kernel_count = kernel_count;
    table->symbols = symbols;
    table->symbol_count = symbol_count;
}

uint32_t cpu_native_version(void)
{
    const char *runtime = cpu_opencl()->driver_version;
    return (uint32_t)MAGIC[MAGIC_BYTES - 1] << 24 |
           checksum((const uint8_t *)runtime, strlen(runtime)) >> 8;
}

bool cpu_native_is(const uint8_t *bytes, size_t size_bytes)
{
    return size_bytes >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

static bool read_header(struct reader *reader, struct cpu_log *log)
{
    if (!cpu_native_is(reader->bytes, reader->left)) {
        cpu_log_add(log, "error: not a native binary of ze_cpu\n");
        return false;
    }
    read_bytes(reader, MAGIC_BYTES);
    uint32_t payload_bytes = read_number(reader);
    uint32_t expected = read_number(reader);
    if (reader->failed || payload_bytes != reader->left ||
        checksum(reader->bytes, reader->left) != expected) {
        cpu_log_add(log, "error: the native binary is damaged\n");
        return false;
    }
    uint32_t length = read_number(reader);
    const char *version = (const char *)read_bytes(reader, length);
    if (version == NULL || strlen(cpu_opencl()->driver_version) != length ||
        memcmp(version, cpu_opencl()->driver_version, length) != 0) {
        cpu_log_add(log, "error: the native binary is of another OpenCL runtime\n");
        return false;
    }
    return true;
}

bool cpu_native_unpack(const uint8_t *bytes, size_t size_bytes, struct cpu_native *out_native,
                       struct cpu_log *log)
{
    struct reader reader = {.bytes = bytes, .left = size_bytes};
    *out_native = (struct cpu_native){0};
    if (!read_header(&reader, log))
        return false;
    // The rest passed the checksum, so that it needs no pass that counts: the OpenCL binary
    // dominates the size, and the table's structs are at most this much larger than its bytes.
    struct arena arena = {.capacity = (size_bytes < 1 << 20 ? size_bytes : 1 << 20) * 4 + 4096};
    arena.bytes = calloc(1, arena.capacity);
    if (arena.bytes == NULL)
        return false;
    struct cpu_native native = {.table = {.storage = arena.bytes}};
    read_table(&reader, &arena, &native.table);
    native.program_bytes = read_number(&reader);
    native.program = read_bytes(&reader, native.program_bytes);
    native.object_bytes = read_number(&reader);
    native.object = read_bytes(&reader, native.object_bytes);
    native.options = read_text(&reader, &arena);
    native.spirv_bytes = read_number(&reader);
    native.spirv = read_bytes(&reader, native.spirv_bytes);
    if (reader.failed || reader.left != 0 || native.program_bytes + native.object_bytes == 0) {
        cpu_log_add(log, "error: the native binary is damaged\n");
        free(arena.bytes);
        return false;
    }
    *out_native = native;
    return true;
}
