// SPDX-License-Identifier: MIT
//
// zepi: a Level Zero backend plugin for SYCL runtimes. A host loads libzepi.so.0 with dlopen (or
// links with libzepi), calls zepiPluginInit, and gets a table of functions.
//
//     zepi_plugin_t zepi = {.size = sizeof(zepi), .interface_version = ZEPI_INTERFACE_VERSION};
//     zepi_plugin_init_fn *init = (zepi_plugin_init_fn *)dlsym(library, "zepiPluginInit");
//     if (init(&zepi) != ZEPI_SUCCESS) ... // zepiPluginLastError has the reason
//
// Rules for the whole interface:
//
// - Threads. Every function may be called from any thread at any time, on shared handles too.
// - Handles are counted references. Functions named *_create, *_get (single objects) and everything
//   else that says "new reference" give the caller one; the host hands it back with release. An
//   object keeps alive the objects that it needs (a kernel its module, a queue its context).
// - Outputs are written on success only, once, at the end. Pointers that are called out_... must
//   not be NULL unless the function says so.
// - Errors are result codes; last_error gives the sentence that belongs to the calling thread's
//   last failed call: the mistake, and the expected value. No call aborts.
// - NULL where an object is needed, an object of another type and a released handle are
//   ZEPI_ERROR_INVALID_OBJECT, as far as they can be told: the memory of objects is never returned
//   to the system, so that a released handle is recognised until its memory serves a new object.
// - Structures that may grow begin with their size in bytes, filled by the caller (sizeof). A
//   smaller size is an older caller: members past it are taken as zero, or not written. Names of
//   members end in their unit.
// - What the caller passes (strings, arrays, values, images) is copied if it is kept.
// - Lists: `capacity` elements may be written to `out_...`, which may be NULL if capacity is 0;
//   *out_count is always the number there are.
//
// Specifications that this follows: Level Zero, SYCL 2020, CP015 (SYCL specialization constants)
// and the SYCL Modules proposal, revision 9.
#ifndef ZEPI_ZEPI_H
#define ZEPI_ZEPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Versions ----

#define ZEPI_MAKE_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define ZEPI_VERSION_MAJOR(version) ((uint32_t)(version) >> 16)
#define ZEPI_VERSION_MINOR(version) ((uint32_t)(version)&0xffffu)

// Version of this interface, which is that of the package without its last number. Within a major
// version functions are only appended. While the major version is 0, every minor version may change
// the interface: zepiPluginInit then refuses all but its own. The number of the library's file
// (libzepi.so.0) is the major version.
#define ZEPI_INTERFACE_VERSION ZEPI_MAKE_VERSION(0, 4)

// ---- Results ----

typedef enum zepi_result {
    ZEPI_SUCCESS = 0,
    // A value is not one of those allowed: NULL output, unknown enumerator, bad combination.
    ZEPI_ERROR_INVALID_VALUE = 1,
    // A size or count is wrong: of a structure, an argument, a copy, a group.
    ZEPI_ERROR_INVALID_SIZE = 2,
    // A handle is NULL, of another type, released, or belongs to another context.
    ZEPI_ERROR_INVALID_OBJECT = 3,
    // The module, the graph or the queue is not in the state that the operation needs.
    ZEPI_ERROR_WRONG_STATE = 4,
    ZEPI_ERROR_KERNEL_NOT_FOUND = 5,
    // A kernel object of another module than the one that the launch names.
    ZEPI_ERROR_INVALID_KERNEL = 6,
    // The driver has no compiler for this kind of image.
    ZEPI_ERROR_COMPILER_UNAVAILABLE = 7,
    ZEPI_ERROR_OUT_OF_HOST_MEMORY = 8,
    ZEPI_ERROR_OUT_OF_DEVICE_MEMORY = 9,
    ZEPI_ERROR_DEVICE_LOST = 10,
    // Level Zero, this driver or this version of zepi cannot do it.
    ZEPI_ERROR_UNSUPPORTED = 11,
    ZEPI_ERROR_UNSUPPORTED_VERSION = 12,
    // Not there yet: an event's times before it is complete, a wait that timed out.
    ZEPI_ERROR_NOT_READY = 13,
    // No Level Zero loader, no driver, or a driver that does not come up.
    ZEPI_ERROR_UNINITIALIZED = 14,
    // The driver failed in a way that has no code here; the error text has its code.
    ZEPI_ERROR_UNKNOWN = 15,

    // Failures to compile. Specialization constant errors are kinds of it, as in CP015.
    ZEPI_ERROR_COMPILE_FAILURE = 0x200,
    ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN = 0x201,      // declared by no image
    ZEPI_ERROR_SPEC_CONSTANT_SIZE = 0x202,         // value of another size than the constant
    ZEPI_ERROR_SPEC_CONSTANT_NOT_SETTABLE = 0x203, // the module is an object or executable
    ZEPI_ERROR_SPEC_CONSTANT_MISMATCH = 0x204,     // not the value of the build
    ZEPI_ERROR_SPEC_CONSTANT_REQUIRED = 0x205,     // marked as required, and has no value
    ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS = 0x206,    // several objects have one of this id

    ZEPI_ERROR_LINK_FAILURE = 0x300,

    // Queues in capture mode. Waits by the host and some commands cannot be captured.
    ZEPI_ERROR_CAPTURE_UNSUPPORTED = 0x400,
    // A command failed that was partly captured: the captured commands cannot be executed.
    ZEPI_ERROR_CAPTURE_INVALIDATED = 0x401,
    ZEPI_ERROR_CAPTURE_MERGE = 0x402,    // a wait in one capture for an event of another
    ZEPI_ERROR_CAPTURE_UNJOINED = 0x403, // the last command of another queue is waited for by none
    ZEPI_ERROR_CAPTURED_EVENT = 0x404,   // an event of a graph's command is used outside
    ZEPI_ERROR_NOT_CAPTURING = 0x405,    // the queue is in no capture
} zepi_result_t;

// True for ZEPI_ERROR_COMPILE_FAILURE and every specialization constant error.
#define ZEPI_IS_COMPILE_FAILURE(result) (((uint32_t)(result)&0xff00u) == 0x200u)

// ---- Handles ----

typedef struct zepi_platform *zepi_platform_t; // a Level Zero driver
typedef struct zepi_device *zepi_device_t;     // a device or sub-device
typedef struct zepi_context *zepi_context_t;
typedef struct zepi_queue *zepi_queue_t;
typedef struct zepi_event *zepi_event_t;
typedef struct zepi_buffer *zepi_buffer_t;
typedef struct zepi_device_image *zepi_device_image_t; // code of a module; no image of pixels
typedef struct zepi_module *zepi_module_t;
typedef struct zepi_kernel *zepi_kernel_t;
typedef struct zepi_graph *zepi_graph_t;
typedef struct zepi_pool *zepi_pool_t;
typedef struct zepi_image *zepi_image_t; // of pixels
typedef struct zepi_sampler *zepi_sampler_t;
typedef struct zepi_physical_memory *zepi_physical_memory_t;

// ---- Platforms and devices ----

typedef struct zepi_platform_info {
    size_t size;
    char name[64];           // "Level Zero"
    char driver_version[64]; // as the driver numbers itself, dotted
    uint32_t api_version;    // ze_api_version_t
    uint8_t driver_uuid[16];
    bool is_ze_cpu;      // zepi's own driver, which executes on the CPU
    void *native_handle; // ze_driver_handle_t
    // The workarounds in force for the driver: their names, separated by commas (docs/drivers.md).
    // Borrowed until unload.
    const char *quirks;
} zepi_platform_info_t;

typedef enum zepi_device_type {
    ZEPI_DEVICE_TYPE_GPU = 1,
    ZEPI_DEVICE_TYPE_CPU = 2,
    ZEPI_DEVICE_TYPE_FPGA = 3,
    ZEPI_DEVICE_TYPE_MCA = 4,
    ZEPI_DEVICE_TYPE_NPU = 5,
    ZEPI_DEVICE_TYPE_OTHER = 6,
} zepi_device_type_t;

typedef struct zepi_device_info {
    size_t size;
    zepi_platform_t platform; // borrowed
    zepi_device_t parent;     // borrowed; NULL for a root device
    zepi_device_type_t type;
    char name[256];
    uint32_t vendor_id;
    uint32_t device_id;
    uint8_t uuid[16];
    uint32_t compute_unit_count;
    uint32_t clock_rate_mhz;
    uint32_t max_group_size; // work-items in a group
    uint32_t max_group_size_per_dimension[3];
    uint32_t max_group_count[3];
    uint32_t sub_group_size_count;
    uint32_t sub_group_sizes[8];
    uint32_t max_local_memory_bytes;
    uint64_t global_memory_bytes;
    uint64_t max_allocation_bytes;
    uint64_t timer_resolution_ns; // rounded, at least 1
    bool has_fp16;
    bool has_fp64;
    bool has_int64_atomics;
    bool has_shared_usm;
    bool has_images;
    uint32_t spirv_version; // highest accepted, 0x00010200 is 1.2
    uint32_t sub_device_count;
    // Functions that the driver offers beyond Level Zero 1.4, found at run time.
    bool has_in_order_lists;
    bool has_counter_based_events;
    bool has_module_program; // linking of several modules by zeModuleCreate
    bool has_linkage_inspection;
    bool has_native_binaries; // modules made from native code are accepted
    void *native_handle;      // ze_device_handle_t
    // Of its memory, at the moment, for new allocations; 0: none, the driver does not tell, or the
    // process ends.
    uint64_t free_memory_bytes;
    uint32_t compute_engine_count; // that queues may ask for
    bool has_host_functions;       // for queue_call_host
} zepi_device_info_t;

// ---- Memory ----

typedef enum zepi_usm_kind {
    ZEPI_USM_UNKNOWN = 0, // in results: not memory of this context
    ZEPI_USM_HOST = 1,
    ZEPI_USM_DEVICE = 2,
    ZEPI_USM_SHARED = 3,
} zepi_usm_kind_t;

typedef struct zepi_usm_info {
    size_t size;
    zepi_usm_kind_t kind;
    void *base;           // of the allocation; NULL if unknown
    size_t size_bytes;    // of the allocation
    zepi_device_t device; // borrowed; NULL for host memory
    uint64_t id;          // of the allocation, unique in the driver
} zepi_usm_info_t;

typedef enum zepi_advice {
    ZEPI_ADVICE_SET_READ_MOSTLY = 0,
    ZEPI_ADVICE_CLEAR_READ_MOSTLY = 1,
    ZEPI_ADVICE_SET_PREFERRED_LOCATION = 2,
    ZEPI_ADVICE_CLEAR_PREFERRED_LOCATION = 3,
    ZEPI_ADVICE_SET_NON_ATOMIC_MOSTLY = 4,
    ZEPI_ADVICE_CLEAR_NON_ATOMIC_MOSTLY = 5,
    ZEPI_ADVICE_BIAS_CACHED = 6,
    ZEPI_ADVICE_BIAS_UNCACHED = 7,
} zepi_advice_t;

// A pool of memory of one context. Members may be appended: `size` is sizeof.
typedef struct zepi_pool_desc {
    size_t size;
    size_t maximum_bytes; // of the driver's memory, in use or not; 0: no limit
    size_t kept_bytes;    // up to here, memory that is not in use stays in the pool
    bool is_zeroed;       // memory is, when it comes from the driver
} zepi_pool_desc_t;

typedef struct zepi_pool_info {
    size_t size;
    zepi_context_t context; // borrowed
    size_t maximum_bytes;   // SIZE_MAX: no limit
    size_t kept_bytes;
    size_t used_bytes; // in allocations that are not freed
    size_t used_high_bytes;
    size_t reserved_bytes; // of the driver's memory, in use or not
    size_t reserved_high_bytes;
} zepi_pool_info_t;

// The access that commands have to pages of virtual memory.
typedef enum zepi_memory_access {
    ZEPI_ACCESS_NONE = 0,
    ZEPI_ACCESS_READ_WRITE = 1,
    ZEPI_ACCESS_READ_ONLY = 2,
} zepi_memory_access_t;

// ---- Images and samplers ----

typedef enum zepi_image_shape {
    ZEPI_IMAGE_1D = 0,
    ZEPI_IMAGE_1D_ARRAY = 1,
    ZEPI_IMAGE_2D = 2,
    ZEPI_IMAGE_2D_ARRAY = 3,
    ZEPI_IMAGE_3D = 4,
} zepi_image_shape_t;

typedef enum zepi_channel_type {
    ZEPI_CHANNEL_UINT = 0,
    ZEPI_CHANNEL_SINT = 1,
    ZEPI_CHANNEL_UNORM = 2, // 0 to 1
    ZEPI_CHANNEL_SNORM = 3, // -1 to 1
    ZEPI_CHANNEL_FLOAT = 4,
} zepi_channel_type_t;

// A channel of a pixel in memory, or a constant.
typedef enum zepi_channel {
    ZEPI_CHANNEL_DEFAULT = 0, // at its own place; for those that there are not 0, for w 1
    ZEPI_CHANNEL_FIRST = 1,
    ZEPI_CHANNEL_SECOND = 2,
    ZEPI_CHANNEL_THIRD = 3,
    ZEPI_CHANNEL_FOURTH = 4,
    ZEPI_CHANNEL_ZERO = 5,
    ZEPI_CHANNEL_ONE = 6,
} zepi_channel_t;

typedef struct zepi_image_desc {
    size_t size;
    zepi_image_shape_t shape;
    uint32_t width;         // in pixels, as the next two; not 0
    uint32_t height;        // 0 or 1 if the shape has one dimension
    uint32_t depth;         // 0 or 1 unless the shape has three
    uint32_t layer_count;   // of an array; else 0 or 1
    uint32_t channel_count; // 1, 2 or 4
    uint32_t channel_bytes; // of each: 1, 2 or 4
    zepi_channel_type_t channel_type;
    zepi_channel_t order[4]; // the channels that kernels have as x, y, z and w
    bool is_read_only;       // kernels do not write to it
} zepi_image_desc_t;

typedef struct zepi_image_info {
    size_t size;
    zepi_context_t context; // borrowed
    zepi_device_t device;   // borrowed
    zepi_image_shape_t shape;
    uint32_t width; // in pixels, as the next two; at least 1
    uint32_t height;
    uint32_t depth;
    uint32_t layer_count; // at least 1
    uint32_t pixel_bytes;
    void *native_handle; // ze_image_handle_t, borrowed
} zepi_image_info_t;

// In pixels. Layers of an array are the dimension behind its last one: y or z. Dimensions that an
// image lacks have the extent 1.
typedef struct zepi_image_region {
    uint32_t origin[3];
    uint32_t extent[3];
} zepi_image_region_t;

// For coordinates outside of an image.
typedef enum zepi_address_mode {
    ZEPI_ADDRESS_NONE = 0, // there are none
    ZEPI_ADDRESS_REPEAT = 1,
    ZEPI_ADDRESS_CLAMP_TO_EDGE = 2,
    ZEPI_ADDRESS_CLAMP_TO_BORDER = 3,
    ZEPI_ADDRESS_MIRROR = 4,
} zepi_address_mode_t;

typedef struct zepi_sampler_desc {
    size_t size;
    zepi_address_mode_t address_mode;
    bool is_linear;     // between pixels; else the nearest pixel
    bool is_normalized; // coordinates from 0 to 1
} zepi_sampler_desc_t;

// ---- Queues and events ----

typedef uint32_t zepi_queue_flags_t;
#define ZEPI_QUEUE_IN_ORDER 0x1u  // each command after the one before; else any order
#define ZEPI_QUEUE_PROFILING 0x2u // output events have times
#define ZEPI_QUEUE_PRIORITY_LOW 0x4u
#define ZEPI_QUEUE_PRIORITY_HIGH 0x8u

#define ZEPI_COMPUTE_ENGINE_ANY UINT32_MAX

typedef struct zepi_queue_info {
    size_t size;
    zepi_context_t context; // borrowed
    zepi_device_t device;   // borrowed
    zepi_queue_flags_t flags;
    bool is_empty;           // every command is known to be complete
    bool has_in_order_list;  // the driver keeps the order; else barriers do
    uint32_t compute_engine; // that was asked for; ZEPI_COMPUTE_ENGINE_ANY: none was
} zepi_queue_info_t;

typedef enum zepi_event_status {
    ZEPI_EVENT_SUBMITTED = 1,
    ZEPI_EVENT_COMPLETE = 2,
} zepi_event_status_t;

// Nanoseconds on the device's clock (of zeDeviceGetGlobalTimestamps), wrap-around removed.
typedef struct zepi_event_times {
    size_t size;
    uint64_t submit_ns;
    uint64_t start_ns;
    uint64_t end_ns;
} zepi_event_times_t;

// Events that a command waits for. NULL and 0: none. They may be of other contexts of the platform;
// where the driver does not wait for such an event on the device, the call waits for it.
typedef struct zepi_wait_list {
    const zepi_event_t *events; // borrowed for the call
    uint32_t count;
} zepi_wait_list_t;

// Called by a queue.
typedef void zepi_host_function_fn(void *data);

typedef struct zepi_rect {
    size_t origin_bytes[3];   // x in bytes, y in rows, z in slices
    size_t row_pitch_bytes;   // 0: as wide as the region
    size_t slice_pitch_bytes; // 0: row pitch times the region's height
} zepi_rect_t;

// ---- Modules ----

typedef enum zepi_module_state {
    ZEPI_MODULE_INPUT = 1,      // SPIR-V or native images, specialization values may be set
    ZEPI_MODULE_OBJECT = 2,     // compiled, unresolved symbols allowed
    ZEPI_MODULE_EXECUTABLE = 3, // linked, kernels ready to launch
} zepi_module_state_t;

typedef enum zepi_device_image_format {
    ZEPI_DEVICE_IMAGE_SPIRV = 1,
    // Bytes of module_get_native_binary, or of an ahead-of-time compiler.
    ZEPI_DEVICE_IMAGE_NATIVE = 2,
} zepi_device_image_format_t;

typedef enum zepi_scalar_type {
    ZEPI_SCALAR_BOOL = 1, // one byte, stored as 0 or 1
    ZEPI_SCALAR_INT8 = 2,
    ZEPI_SCALAR_UINT8 = 3,
    ZEPI_SCALAR_INT16 = 4,
    ZEPI_SCALAR_UINT16 = 5,
    ZEPI_SCALAR_INT32 = 6,
    ZEPI_SCALAR_UINT32 = 7,
    ZEPI_SCALAR_INT64 = 8,
    ZEPI_SCALAR_UINT64 = 9,
    ZEPI_SCALAR_FLOAT16 = 10,
    ZEPI_SCALAR_FLOAT32 = 11,
    ZEPI_SCALAR_FLOAT64 = 12,
} zepi_scalar_type_t;

// A value for one specialization constant.
typedef struct zepi_spec_value {
    uint32_t id;       // SpecId
    size_t size_bytes; // the constant's own size: 1, 2, 4 or 8
    const void *value;
} zepi_spec_value_t;

// A specialization constant as a module declares it.
typedef struct zepi_spec_constant {
    uint32_t id;
    zepi_scalar_type_t type;
    size_t size_bytes;
    uint8_t default_value[8]; // first size_bytes
    uint8_t value[8];         // in force: the one set, else the default
    bool is_set;
    bool is_required;
    bool is_native; // false: emulated, or baked in
    // Images of the module have different values: `value` is the default. Ask for each image.
    bool is_ambiguous;
} zepi_spec_constant_t;

// One element of a composite constant: the SpecId that carries it and where it lies.
typedef struct zepi_spec_element {
    uint32_t id;
    size_t offset_bytes;
    size_t size_bytes;
} zepi_spec_element_t;

// A composite constant (array, structure), set and read by name in one call. Elements lie inside
// the size and do not overlap. Elements whose id no image declares (the compiler dropped it) are
// skipped. Bytes between elements are kept as set.
typedef struct zepi_spec_layout {
    const char *name;
    size_t size_bytes;
    const void *default_bytes; // size_bytes of them; NULL: the literals of the SPIR-V image count
    const zepi_spec_element_t *elements;
    uint32_t element_count;
} zepi_spec_layout_t;

// A constant of a native image that is emulated: its values travel in a device buffer.
typedef struct zepi_emulated_constant {
    uint32_t id;
    zepi_scalar_type_t type;
    const void *default_value; // of the type's size; NULL: zeros
} zepi_emulated_constant_t;

typedef struct zepi_device_image_desc {
    size_t size;
    zepi_device_image_format_t format;
    zepi_module_state_t state; // SPIR-V: input. Native: any.
    const void *bytes;
    size_t size_bytes;
    // The devices that a native image is for; 0: those that accept it.
    const zepi_device_t *devices;
    uint32_t device_count;
    const zepi_spec_layout_t *layouts;
    uint32_t layout_count;
    const uint32_t *required_ids; // constants without which compile, build and launch fail
    uint32_t required_id_count;
    // Native images: the values that the code was made with. Of a constant that is not among them
    // (nor emulated) the code has the default: beside SPIR-V, or other native code of its kernels,
    // that declares the constant, it serves only while no other value is set.
    const zepi_spec_value_t *baked_values;
    uint32_t baked_value_count;
    // Native images: constants that reach these kernels through a buffer, whose address is one more
    // argument after the kernel's own. Values lie in it in this order, each at its natural
    // alignment, as in a C structure.
    const zepi_emulated_constant_t *emulated_constants;
    uint32_t emulated_constant_count;
    const char *const *emulated_kernels;
    uint32_t emulated_kernel_count;
} zepi_device_image_desc_t;

typedef enum zepi_native_policy {
    ZEPI_NATIVE_REBUILD = 0, // values that no native image has: rebuild from the SPIR-V image
    ZEPI_NATIVE_EMULATE = 1, // pass them in a buffer; rebuild if that cannot be
} zepi_native_policy_t;

typedef enum zepi_link_method {
    ZEPI_LINK_AUTO = 0,
    ZEPI_LINK_PROGRAM = 1, // one zeModuleCreate with ze_module_program_exp_desc_t
    ZEPI_LINK_DYNAMIC = 2, // zeModuleDynamicLink
} zepi_link_method_t;

typedef uint32_t zepi_build_flags_t;
#define ZEPI_BUILD_DEBUG 0x1u        // adds -g
#define ZEPI_BUILD_LOG_FAILURES 0x2u // `log` gets logs of failures alone; others: get_build_log

// Gets the whole log of one device's build, warnings too, after a cache hit as well. Called on the
// thread that called compile, link or build, before that call returns, under no lock.
typedef void zepi_build_log_fn(void *data, zepi_device_t device, const char *log,
                               size_t size_bytes);

// How to compile, link or build. NULL in place of a pointer to it: all defaults.
typedef struct zepi_build_desc {
    size_t size;
    // Options for the device compiler, as zeModuleCreate takes them. White space outside quotes is
    // normalized, the order stays. NULL: none.
    const char *options;
    zepi_build_flags_t flags;
    zepi_native_policy_t native_policy;
    zepi_link_method_t link_method;
    zepi_build_log_fn *log; // NULL: none
    void *log_data;
    // Compile and build: the devices of the context to build for; NULL and 0: all of them. The
    // module that comes out serves these. Links serve the devices that all objects have.
    const zepi_device_t *devices;
    uint32_t device_count;
} zepi_build_desc_t;

typedef struct zepi_module_info {
    size_t size;
    zepi_context_t context; // borrowed
    zepi_module_state_t state;
    uint32_t device_count;
    uint32_t image_count;
    uint32_t kernel_count;          // names listed; 0 for inputs of unknown content
    uint32_t spec_constant_count;   // distinct ids
    bool has_spec_constants;        // an image declares one; false for an empty module
    bool has_native_spec_constants; // every image has native support; true for an empty module
} zepi_module_info_t;

// An image of an input is the one that was handed in. One of an object or executable is one build:
// its state is the module's, its bytes are native code for the first device that it serves (linked
// with others: of all of them), and the same source built with other values, options or for other
// devices is another image.
typedef struct zepi_device_image_info {
    size_t size;
    zepi_device_image_format_t format;
    zepi_module_state_t state;
    size_t size_bytes;
    const void *bytes;     // borrowed from the image; NULL if it has none, or the driver tells none
    uint64_t digest[2];    // XXH3-128 of the bytes, low half first
    uint32_t kernel_count; // 0 where it is not known: of native code that was handed in
    uint32_t spec_constant_count;
    bool has_spec_constants;
    bool has_native_spec_constants;
} zepi_device_image_info_t;

typedef enum zepi_ownership {
    ZEPI_OWNERSHIP_KEEP = 0,     // the caller destroys the native handle, after the module's end
    ZEPI_OWNERSHIP_TRANSFER = 1, // zepi destroys it
} zepi_ownership_t;

// Identifies a translation unit of the host: any address that is unique to it.
typedef const void *zepi_unit_t;

// ---- Kernels and launches ----

typedef enum zepi_argument_kind {
    ZEPI_ARGUMENT_VALUE = 0,   // `size_bytes` bytes at `value`
    ZEPI_ARGUMENT_POINTER = 1, // `value` is the USM pointer itself; NULL is legal
    ZEPI_ARGUMENT_BUFFER = 2,  // `value` is a zepi_buffer_t
    ZEPI_ARGUMENT_LOCAL = 3,   // `size_bytes` of local memory; value is NULL
    ZEPI_ARGUMENT_IMAGE = 4,   // `value` is a zepi_image_t
    ZEPI_ARGUMENT_SAMPLER = 5, // `value` is a zepi_sampler_t
} zepi_argument_kind_t;

typedef struct zepi_argument {
    zepi_argument_kind_t kind;
    uint32_t reserved; // 0; anything else is ZEPI_ERROR_INVALID_VALUE
    size_t size_bytes; // of VALUE and LOCAL; else 0, or the size of a pointer
    const void *value;
} zepi_argument_t;

// Chooses one of the images usable on the queue's device; see launch.
typedef zepi_device_image_t
zepi_device_image_selector_fn(void *data, const zepi_device_image_t *images, uint32_t image_count);

typedef uint32_t zepi_launch_flags_t;
#define ZEPI_LAUNCH_COOPERATIVE 0x1u // all groups run at once, kernels may synchronize globally

typedef struct zepi_launch_desc {
    size_t size;
    // A launch has a kernel object, or a name to find in `module` or in the translation unit.
    zepi_kernel_t kernel;    // or NULL
    const char *kernel_name; // if kernel is NULL
    const zepi_argument_t *arguments;
    uint32_t argument_count;
    uint32_t work_dim; // 1 to 3; sizes of further dimensions are not read
    // In work-items; a multiple of the group size, with up to 2^32 - 1 groups; zeros launch
    // nothing.
    size_t global_size[3];
    size_t group_size[3]; // in work-items; all zero: suggested by the driver
    size_t global_offset[3];
    zepi_launch_flags_t flags;
    // Dispatch.
    uint32_t spec_value_count;
    // For this launch alone. A constant that no image of the module or unit declares may be among
    // them (compilers drop unused ones), and has no effect; one twice is ZEPI_ERROR_INVALID_VALUE.
    const zepi_spec_value_t *spec_values;
    zepi_module_t module;                    // or NULL
    zepi_unit_t unit;                        // or NULL
    zepi_device_image_selector_fn *selector; // or NULL
    void *selector_data;
} zepi_launch_desc_t;

typedef struct zepi_kernel_info {
    size_t size;
    const char *name;     // borrowed from the kernel
    zepi_module_t module; // borrowed
    uint32_t argument_count;
    uint32_t required_group_size[3]; // zeros: none
    uint32_t required_sub_group_size;
    uint32_t max_group_size;
    uint32_t max_sub_group_size;
    uint32_t max_sub_group_count;
    uint32_t local_memory_bytes; // used by the kernel itself
    uint32_t private_memory_bytes;
    uint32_t spill_memory_bytes;
} zepi_kernel_info_t;

// ---- Graphs ----

typedef uint32_t zepi_graph_flags_t;
#define ZEPI_GRAPH_UPDATABLE 0x1u // graph_update can change its launches

// Earlier commands of a graph, by their numbers: a command waits for them. Commands overlap unless
// one waits for the other, directly or not.
typedef struct zepi_graph_wait_list {
    const uint32_t *numbers;
    uint32_t count;
} zepi_graph_wait_list_t;

// An update makes `launch` of command number `number`, which is a launch. A launch of a graph has a
// kernel object, and neither a module nor values nor a selector.
typedef struct zepi_graph_update {
    uint32_t number;
    const zepi_launch_desc_t *launch;
} zepi_graph_update_t;

typedef struct zepi_graph_info {
    size_t size;
    zepi_context_t context; // borrowed
    zepi_device_t device;   // borrowed
    zepi_graph_flags_t flags;
    uint32_t command_count;
    bool is_capturing; // a queue's commands go to it
    bool is_finalized;
} zepi_graph_info_t;

// ---- Cache ----

typedef struct zepi_cache_limits {
    size_t size;
    uint64_t memory_bytes;   // per context; UINT64_MAX: no limit
    uint64_t memory_entries; // per context
    uint64_t binary_bytes;   // of the native code that all contexts share
    uint64_t disk_bytes;     // 0: nothing is stored
} zepi_cache_limits_t;

typedef struct zepi_cache_counters {
    size_t size;
    uint64_t hits;   // lookups that found a result, or waited for one
    uint64_t misses; // hits + misses is the number of lookups
    uint64_t waits;  // hits on a build in progress
    uint64_t builds;
    uint64_t failures;
    uint64_t evictions;
    uint64_t store_hits; // misses that the next level (disk, shared store) had
    uint64_t store_misses;
    uint64_t build_ns; // spent building
    uint64_t bytes;    // kept now
    uint64_t entries;
} zepi_cache_counters_t;

typedef enum zepi_cache_level {
    ZEPI_CACHE_MODULES = 0,  // module handles of a context
    ZEPI_CACHE_KERNELS = 1,  // kernel handles of a context
    ZEPI_CACHE_BINARIES = 2, // native code, of the process; disk is its second level
} zepi_cache_level_t;

typedef struct zepi_cache_location {
    size_t size;
    bool is_on;               // results are kept in memory
    bool is_disk_on;          // and on disk
    const char *folder;       // "" if there is none; borrowed until unload
    const char *folder_state; // "usable", or why not; static
    const char *shared;       // the store that machines share; "": none; borrowed until unload
    char shared_state[512];   // "usable", or why not: its server is asked
} zepi_cache_location_t;

// An option as the environment set it, for people to see.
typedef struct zepi_option {
    const char *name;        // of the environment variable
    const char *value;       // in force
    const char *description; // one line
    bool is_set;             // by the environment; else the default
} zepi_option_t;

// ---- The table ----

typedef struct zepi_plugin {
    // Fixed head. size and interface_version are set by the caller; the plugin writes back the size
    // that it filled and the version that it has.
    size_t size;
    uint32_t interface_version;
    uint32_t version;           // of the plugin, ZEPI_MAKE_VERSION(major, minor)
    const char *name;           // "zepi"; static
    const char *version_string; // static
    const char *targets; // image formats taken, separated by spaces: "spirv64 native"; static

    // ---- Results and life of objects ----

    // The calling thread's last error as a sentence; "" if nothing failed yet. Borrowed until the
    // thread's next failing call. *out_result (may be NULL) is the code that went with it.
    const char *(*last_error)(zepi_result_t *out_result);
    // The log of the calling thread's last compile, link or build, failed or not; "" if it was
    // empty. Borrowed until the thread's next compile, link, build or launch.
    const char *(*last_build_log)(void);
    // "ZEPI_ERROR_INVALID_VALUE". Static, never NULL.
    const char *(*result_name)(zepi_result_t result);
    // Lists the options in force. Strings are static.
    zepi_result_t (*options_get)(uint32_t capacity, zepi_option_t *out_options,
                                 uint32_t *out_count);
    // Adds or gives back a reference to any object of this interface. Releasing NULL is an error.
    // The last release destroys the object; that of a queue waits for its commands.
    zepi_result_t (*retain)(void *object);
    zepi_result_t (*release)(void *object);

    // ---- Platforms and devices ----

    // Lists the Level Zero drivers; the first call brings Level Zero up. No loader or no driver is
    // no error: none are listed, and last_error says why. New references.
    zepi_result_t (*platform_get)(uint32_t capacity, zepi_platform_t *out_platforms,
                                  uint32_t *out_count);
    zepi_result_t (*platform_get_info)(zepi_platform_t platform, zepi_platform_info_t *out_info);
    // Root devices. New references.
    zepi_result_t (*device_get)(zepi_platform_t platform, uint32_t capacity,
                                zepi_device_t *out_devices, uint32_t *out_count);
    // Sub-devices one level down. New references.
    zepi_result_t (*device_get_sub_devices)(zepi_device_t device, uint32_t capacity,
                                            zepi_device_t *out_devices, uint32_t *out_count);
    zepi_result_t (*device_get_info)(zepi_device_t device, zepi_device_info_t *out_info);
    // Host and device clock of the same moment, in nanoseconds (CLOCK_MONOTONIC and the clock of
    // zepi_event_times_t).
    zepi_result_t (*device_get_time)(zepi_device_t device, uint64_t *out_host_ns,
                                     uint64_t *out_device_ns);

    // ---- Contexts ----

    // A context of one or more devices of one platform, each named once.
    zepi_result_t (*context_create)(uint32_t device_count, const zepi_device_t *devices,
                                    zepi_context_t *out_context);
    // Around a ze_context_handle_t.
    zepi_result_t (*context_create_from_native)(void *native_handle, uint32_t device_count,
                                                const zepi_device_t *devices,
                                                zepi_ownership_t ownership,
                                                zepi_context_t *out_context);
    // New references.
    zepi_result_t (*context_get_devices)(zepi_context_t context, uint32_t capacity,
                                         zepi_device_t *out_devices, uint32_t *out_count);
    // ze_context_handle_t, borrowed.
    zepi_result_t (*context_get_native)(zepi_context_t context, void **out_native_handle);

    // ---- USM and buffers ----

    // Allocates `size_bytes` (not 0) of memory. `device`: whose memory; NULL for host memory, and
    // allowed for shared memory. `alignment_bytes`: a power of two, or 0 for zepi's choice. Small
    // host and device memory comes from pools of the context (ZEPI_USM_POOL), and goes back there.
    zepi_result_t (*usm_allocate)(zepi_context_t context, zepi_device_t device,
                                  zepi_usm_kind_t kind, size_t size_bytes, size_t alignment_bytes,
                                  void **out_memory);
    // `memory` is a pointer of usm_allocate. Commands that were submitted before may still use
    // it: it is neither handed out again nor unmapped before they are complete, and this call does
    // not wait for them. No later command may use it, and the host may not. Anything else is
    // invalid-value: an address inside an allocation, one that was freed, another context's. What
    // is not freed goes with the context.
    zepi_result_t (*usm_free)(zepi_context_t context, void *memory);
    // Tells, for any address inside an allocation, the base and size that were asked for, of memory
    // that usm_allocate gave. An unknown address is ZEPI_USM_UNKNOWN, no error.
    zepi_result_t (*usm_get_info)(zepi_context_t context, const void *address,
                                  zepi_usm_info_t *out_info);
    // A buffer of `size_bytes` that all devices of the context can use, filled from `host_data`
    // unless that is NULL.
    zepi_result_t (*buffer_create)(zepi_context_t context, size_t size_bytes, const void *host_data,
                                   zepi_buffer_t *out_buffer);
    // The buffer's address on a device; commands on this address see and change the buffer. Good
    // until the buffer is used on another device: buffers move between devices with memory of their
    // own. If it has to move for this, all commands of the context are waited for.
    zepi_result_t (*buffer_get_address)(zepi_buffer_t buffer, zepi_device_t device,
                                        void **out_address, size_t *out_size_bytes);

    // ---- Queues ----

    // A part of one of the context's devices will do, here and wherever a device of the context is
    // asked for; it runs the code that was built for the whole, unless it is in the context itself.
    zepi_result_t (*queue_create)(zepi_context_t context, zepi_device_t device,
                                  zepi_queue_flags_t flags, zepi_queue_t *out_queue);
    zepi_result_t (*queue_get_info)(zepi_queue_t queue, zepi_queue_info_t *out_info);
    // Waits until every command enqueued before is complete.
    zepi_result_t (*queue_finish)(zepi_queue_t queue);
    // The commands below return once enqueued. They begin when the wait list is complete and, in an
    // in-order queue, the command before. out_event may be NULL; else it gets a new reference to an
    // event of this command. Host memory of copies may be plain memory of the process; it stays
    // valid until the command is complete. What begins in an allocation of USM and reaches past its
    // end, or begins where one was freed, is ZEPI_ERROR_INVALID_SIZE, for advice too.
    zepi_result_t (*queue_copy)(zepi_queue_t queue, void *destination, const void *source,
                                size_t size_bytes, zepi_wait_list_t wait, zepi_event_t *out_event);
    // A box of bytes: region is {bytes in a row, rows, slices}. ZEPI_ERROR_INVALID_SIZE: rows or
    // slices overlap, or an origin, a region, a row pitch or, unless the box is the first slice
    // alone, a slice pitch is beyond 32 bits.
    zepi_result_t (*queue_copy_rect)(zepi_queue_t queue, void *destination,
                                     const zepi_rect_t *destination_rect, const void *source,
                                     const zepi_rect_t *source_rect, const size_t region[3],
                                     zepi_wait_list_t wait, zepi_event_t *out_event);
    // Repeats a pattern of 1 to 128 bytes, a power of two; size_bytes is a multiple of it.
    zepi_result_t (*queue_fill)(zepi_queue_t queue, void *destination, const void *pattern,
                                size_t pattern_size_bytes, size_t size_bytes, zepi_wait_list_t wait,
                                zepi_event_t *out_event);
    // Hints about shared memory.
    zepi_result_t (*queue_prefetch)(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                    zepi_wait_list_t wait, zepi_event_t *out_event);
    zepi_result_t (*queue_advise)(zepi_queue_t queue, const void *memory, size_t size_bytes,
                                  zepi_advice_t advice, zepi_event_t *out_event);
    // Completes after the wait list, or after everything enqueued before if that is empty, and
    // holds up everything enqueued later.
    zepi_result_t (*queue_barrier)(zepi_queue_t queue, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);
    // Completes after the wait list, or after everything enqueued before if that is empty, and
    // holds up nothing.
    zepi_result_t (*queue_marker)(zepi_queue_t queue, zepi_wait_list_t wait,
                                  zepi_event_t *out_event);
    // Launches a kernel. Every error is reported here, never by the event. The desc and all that it
    // points to may be changed as soon as the call returns.
    //
    // With desc->kernel: that kernel; desc->module, if given, must be its module. Otherwise by
    // kernel_name, from desc->module if that is given (an executable; kernel-not-found if it lacks
    // the kernel), else from the translation unit desc->unit, in this order: an executable whose
    // specialization values equal the launch's for every id that it declares; its objects, linked,
    // under the same condition; its input, built with these values through the cache.
    //
    // Given a selector, the images usable on the queue's device are put to it, and the one it
    // returns is used; NULL or another image is ZEPI_ERROR_INVALID_VALUE.
    zepi_result_t (*queue_launch)(zepi_queue_t queue, const zepi_launch_desc_t *desc,
                                  zepi_wait_list_t wait, zepi_event_t *out_event);
    // ze_command_list_handle_t of an immediate list, borrowed. An out-of-order queue has several;
    // this is the first.
    zepi_result_t (*queue_get_native)(zepi_queue_t queue, void **out_native_handle);

    // ---- Events ----

    // An event that the host completes by event_signal.
    zepi_result_t (*event_create)(zepi_context_t context, zepi_event_t *out_event);
    // Only for events of event_create.
    zepi_result_t (*event_signal)(zepi_event_t event);
    // Waits for all of them; each of any context. ZEPI_ERROR_NOT_READY after timeout_ns
    // nanoseconds; UINT64_MAX waits for ever. A count of 0 or a NULL list is
    // ZEPI_ERROR_INVALID_VALUE: a host that has no event has nothing to wait for.
    zepi_result_t (*event_wait)(uint32_t count, const zepi_event_t *events, uint64_t timeout_ns);
    zepi_result_t (*event_get_status)(zepi_event_t event, zepi_event_status_t *out_status);
    // For events of queues with profiling: ZEPI_ERROR_UNSUPPORTED for others, ZEPI_ERROR_NOT_READY
    // before completion.
    zepi_result_t (*event_get_times)(zepi_event_t event, zepi_event_times_t *out_times);
    // ze_event_handle_t, borrowed.
    zepi_result_t (*event_get_native)(zepi_event_t event, void **out_native_handle);

    // ---- Modules (SYCL Modules proposal, "Module class") ----

    // A module of these images, all declared with one state; none makes an empty module in `state`.
    // SPIR-V is checked here, nothing is compiled. An executable with unresolved imports is
    // ZEPI_ERROR_LINK_FAILURE, one without any kernel ZEPI_ERROR_INVALID_VALUE.
    zepi_result_t (*module_create)(zepi_context_t context, zepi_module_state_t state,
                                   uint32_t image_count, const zepi_device_image_desc_t *images,
                                   zepi_module_t *out_module);
    // New modules from old ones; these stay as they are. The specialization values of an input are
    // taken at one moment. `desc` may be NULL.
    zepi_result_t (*module_compile)(zepi_module_t input, const zepi_build_desc_t *desc,
                                    zepi_module_t *out_object);
    zepi_result_t (*module_link)(uint32_t object_count, const zepi_module_t *objects,
                                 const zepi_build_desc_t *desc, zepi_module_t *out_executable);
    // SPIR-V without kernels may be built or linked to an executable without kernels: a library.
    zepi_result_t (*module_build)(zepi_module_t input, const zepi_build_desc_t *desc,
                                  zepi_module_t *out_executable);
    // One module with the images of all of them, which have one context and state. Identical images
    // once, two builds of one image with different values both; values of inputs unite, a conflict
    // is ZEPI_ERROR_INVALID_OBJECT naming the id.
    zepi_result_t (*module_join)(uint32_t module_count, const zepi_module_t *modules,
                                 zepi_module_t *out_module);
    zepi_result_t (*module_get_info)(zepi_module_t module, zepi_module_info_t *out_info);
    // Devices and images: new references. An input or empty module has all devices of the context,
    // another those that it serves. Of the images of an input a built module has those that it was
    // built from: for a device native images made with the values, else SPIR-V.
    zepi_result_t (*module_get_devices)(zepi_module_t module, uint32_t capacity,
                                        zepi_device_t *out_devices, uint32_t *out_count);
    zepi_result_t (*module_get_device_images)(zepi_module_t module, uint32_t capacity,
                                              zepi_device_image_t *out_images, uint32_t *out_count);
    zepi_result_t (*device_image_get_info)(zepi_device_image_t image,
                                           zepi_device_image_info_t *out_info);
    // Names: borrowed from the module, in the order of the images, but for linked code.
    zepi_result_t (*module_get_kernel_names)(zepi_module_t module, uint32_t capacity,
                                             const char **out_names, uint32_t *out_count);
    // Whether an image of the module has the kernel. Any state.
    zepi_result_t (*module_has_kernel)(zepi_module_t module, const char *name, bool *out_has);
    // New reference. Executables only, else ZEPI_ERROR_WRONG_STATE.
    zepi_result_t (*module_get_kernel)(zepi_module_t module, const char *name,
                                       zepi_kernel_t *out_kernel);
    // The messages of the compiler and linker for a device. Borrowed from the module; "" if
    // nothing.
    zepi_result_t (*module_get_build_log)(zepi_module_t module, zepi_device_t device,
                                          const char **out_log);
    // The device's native code: the driver's bytes unchanged if the module has one image, else a
    // container of zepi's, which module_create takes as a native image. *inout_size_bytes: room at
    // out_bytes, then the size; with out_bytes NULL only the size is returned.
    zepi_result_t (*module_get_native_binary)(zepi_module_t module, zepi_device_t device,
                                              size_t *inout_size_bytes, void *out_bytes);
    // Equal context, state and images; the values of inputs do not count, those that objects and
    // executables were built with do. Equal modules have equal hashes.
    zepi_result_t (*module_is_equal)(zepi_module_t a, zepi_module_t b, bool *out_is_equal);
    zepi_result_t (*module_get_hash)(zepi_module_t module, uint64_t *out_hash);
    // Around a ze_module_handle_t of this context and device: an executable needs a kernel and no
    // unresolved imports, an object needs imports; an input cannot be one.
    zepi_result_t (*module_create_from_native)(zepi_context_t context, zepi_device_t device,
                                               void *native_handle, zepi_module_state_t state,
                                               zepi_ownership_t ownership,
                                               zepi_module_t *out_module);
    // A ze_module_handle_t of this module for a device. It is one of its own from now on, shared
    // with no other holder; it lives as long as the module.
    zepi_result_t (*module_get_native)(zepi_module_t module, zepi_device_t device,
                                       void **out_native_handle);

    // ---- Specialization constants (CP015; SYCL Modules, "Specialization constants") ----

    // Sets a constant of an input module; the last value counts. Bool is any byte, stored as 0 or
    // 1. ZEPI_ERROR_SPEC_CONSTANT_UNKNOWN names the ids there are, _SIZE the size expected,
    // _NOT_SETTABLE is the error for objects and executables.
    zepi_result_t (*spec_constant_set)(zepi_module_t input, uint32_t id, size_t size_bytes,
                                       const void *value);
    // Several at once: all or none.
    zepi_result_t (*spec_constant_set_many)(zepi_module_t input, uint32_t count,
                                            const zepi_spec_value_t *values);
    // A composite by the name of its layout, in one step that no build sees half of: the elements
    // of every image that has the layout.
    zepi_result_t (*spec_constant_set_by_name)(zepi_module_t input, const char *name,
                                               size_t size_bytes, const void *value);
    // The value set, else the default; of a built module, the value that it was built with. `image`
    // says whose constant if objects with the same id were linked, or builds with different values
    // joined (else ZEPI_ERROR_SPEC_CONSTANT_AMBIGUOUS): one of the module's images, or one that
    // these were built or linked from. NULL otherwise.
    zepi_result_t (*spec_constant_get)(zepi_module_t module, zepi_device_image_t image, uint32_t id,
                                       size_t size_bytes, void *out_value);
    zepi_result_t (*spec_constant_get_by_name)(zepi_module_t module, zepi_device_image_t image,
                                               const char *name, size_t size_bytes,
                                               void *out_value);
    // All constants of an image, or (NULL) of the module, ascending by id.
    zepi_result_t (*spec_constant_list)(zepi_module_t module, zepi_device_image_t image,
                                        uint32_t capacity, zepi_spec_constant_t *out_constants,
                                        uint32_t *out_count);
    // Names of composites. Borrowed from the module.
    zepi_result_t (*spec_constant_list_names)(zepi_module_t module, uint32_t capacity,
                                              const char **out_names, uint32_t *out_count);
    // The value that a launch would see: its own, else that of the module which it would use, else
    // the default.
    zepi_result_t (*spec_constant_get_for_launch)(zepi_queue_t queue,
                                                  const zepi_launch_desc_t *desc, uint32_t id,
                                                  size_t size_bytes, void *out_value);

    // ---- This module (SYCL Modules, "this_module") ----

    // Makes a translation unit's images known under a token that is not in use.
    zepi_result_t (*unit_register)(zepi_unit_t unit, uint32_t image_count,
                                   const zepi_device_image_desc_t *images);
    // Modules made from the images live on.
    zepi_result_t (*unit_unregister)(zepi_unit_t unit);
    // The unit's images of a state as a module of the context: always the same one. Builds nothing.
    // Images that no device of the context takes, and executables without any kernel, are left out.
    // An empty module if there are none. New reference.
    zepi_result_t (*unit_get_module)(zepi_unit_t unit, zepi_context_t context,
                                     zepi_module_state_t state, zepi_module_t *out_module);
    // Whether unit_get_module's module is not empty.
    zepi_result_t (*unit_has_module)(zepi_unit_t unit, zepi_context_t context,
                                     zepi_module_state_t state, bool *out_has);
    // Whether the unit has images in some state.
    zepi_result_t (*unit_has_any_module)(zepi_unit_t unit, zepi_context_t context, bool *out_has);
    // Every module of the context in a state that are held. New references.
    zepi_result_t (*context_get_modules)(zepi_context_t context, zepi_module_state_t state,
                                         uint32_t capacity, zepi_module_t *out_modules,
                                         uint32_t *out_count);

    // ---- Kernels ----

    zepi_result_t (*kernel_get_info)(zepi_kernel_t kernel, zepi_device_t device,
                                     zepi_kernel_info_t *out_info);
    // The group size that a launch with these global sizes and no group size would use; ones if
    // there is nothing to launch. `work_dim` sizes are read and written.
    zepi_result_t (*kernel_suggest_group_size)(zepi_kernel_t kernel, zepi_device_t device,
                                               uint32_t work_dim, const size_t *global_size,
                                               size_t *out_group_size);
    // A ze_kernel_handle_t of its own, which lives as long as the kernel.
    zepi_result_t (*kernel_get_native)(zepi_kernel_t kernel, zepi_device_t device,
                                       void **out_native_handle);

    // ---- Cache control ----

    zepi_result_t (*cache_get_limits)(zepi_context_t context, zepi_cache_limits_t *out_limits);
    // Evicts the results that no longer fit before it returns. binary_bytes and disk_bytes are the
    // process'.
    zepi_result_t (*cache_set_limits)(zepi_context_t context, const zepi_cache_limits_t *limits);
    // `context` is not read for ZEPI_CACHE_BINARIES.
    zepi_result_t (*cache_get_counters)(zepi_context_t context, zepi_cache_level_t level,
                                        zepi_cache_counters_t *out_counters);
    zepi_result_t (*cache_get_location)(zepi_cache_location_t *out_location);
    // Evicts unused results, oldest use first, down to a number of bytes in the context's caches;
    // with context NULL, in the binary cache.
    zepi_result_t (*cache_trim)(zepi_context_t context, uint64_t bytes);
    // Forgets everything, failures too, in the context's caches; with context NULL, in that of
    // native code (files stay: see zepi cache clear). Results in use live on.
    zepi_result_t (*cache_clear)(zepi_context_t context);

    // ---- Graphs: commands that are described once and executed often ----

    // A graph without commands for a device of the context. Its commands are added (graph_add_...)
    // or captured from queues, not both; then it is finalized, and executed any number of times. It
    // keeps the kernels, buffers, images and samplers that its commands use, and USM as little as a
    // queue does. The last release waits for its executions. A graph may be used by several threads
    // at once. ZEPI_ERROR_INVALID_VALUE: unknown flags.
    zepi_result_t (*graph_create)(zepi_context_t context, zepi_device_t device,
                                  zepi_graph_flags_t flags, zepi_graph_t *out_graph);
    zepi_result_t (*graph_get_info)(zepi_graph_t graph, zepi_graph_info_t *out_info);
    // Commands of the queue go to the graph, which has none yet, and are not executed. Commands of
    // other queues of the graph's context and device that wait for one of their events go there,
    // too, and so do all later ones of such a queue, until the capture ends. Commands are numbered
    // from 0 on, in the order in which they were enqueued. They wait for the one before if their
    // queue is in order, for the last barrier else, and for their wait list; executions wait for
    // events in it that are not of the capture. An execution of another graph is captured as that
    // graph's commands at this moment, between two without effect, and a launch by name with the
    // kernel that it finds at this moment. The capture keeps graph and queues.
    // ZEPI_ERROR_WRONG_STATE: queue or graph is in a capture. ZEPI_ERROR_INVALID_VALUE: the graph
    // has commands, is finalized, or its capture failed. ZEPI_ERROR_INVALID_OBJECT: it is of
    // another context or device than the queue.
    //
    // Commands that are not captured leave the capture as it was. ZEPI_ERROR_CAPTURE_UNSUPPORTED:
    // waits by the host (queue_finish, event_wait), queue_get_native, event_get_native,
    // queue_allocate, queue_free, queue_call_host, commands of a queue of another context or
    // device, and waits for an event of another context that is not complete.
    // ZEPI_ERROR_CAPTURE_MERGE: a wait for an event of another capture.
    // ZEPI_ERROR_CAPTURE_INVALIDATED: another thread ended the capture meanwhile; or an execution
    // was captured in part, and so are all commands after it. Events of captured commands never
    // complete, and belong to the graph: commands that wait for them, and event_wait, are
    // ZEPI_ERROR_CAPTURED_EVENT once the capture is over.
    zepi_result_t (*queue_begin_capture)(zepi_queue_t queue, zepi_graph_t graph);
    // On the queue where it began, for all queues of the capture; ZEPI_ERROR_WRONG_STATE on another
    // one, ZEPI_ERROR_NOT_CAPTURING where there is none. A command of this queue has to wait,
    // directly or not, for each one of the others (ZEPI_ERROR_CAPTURE_UNJOINED); after this failure
    // and ZEPI_ERROR_CAPTURE_INVALIDATED the capture is over, and the graph cannot be finalized.
    // The release of the queue ends the capture as well.
    zepi_result_t (*queue_end_capture)(zepi_queue_t queue);
    // Adds a command that waits for earlier ones. It is checked as by queue_launch, queue_copy and
    // queue_fill, and as much is copied, but has at least one byte. Memory is of USM; the pattern
    // is read by the host, and of any size. *out_number (may be NULL) is the command's number.
    // ZEPI_ERROR_WRONG_STATE: the graph is finalized, or has been captured to.
    // ZEPI_ERROR_INVALID_VALUE: it has no command of a number in the wait list; or the launch has
    // no kernel object, or a module, values or a selector.
    zepi_result_t (*graph_add_launch)(zepi_graph_t graph, const zepi_launch_desc_t *desc,
                                      zepi_graph_wait_list_t wait, uint32_t *out_number);
    zepi_result_t (*graph_add_copy)(zepi_graph_t graph, void *destination, const void *source,
                                    size_t size_bytes, zepi_graph_wait_list_t wait,
                                    uint32_t *out_number);
    zepi_result_t (*graph_add_fill)(zepi_graph_t graph, void *destination, const void *pattern,
                                    size_t pattern_size_bytes, size_t size_bytes,
                                    zepi_graph_wait_list_t wait, uint32_t *out_number);
    // Records the commands. Nothing is added afterwards. ZEPI_ERROR_WRONG_STATE: that was done
    // before, or the graph is being captured, or its capture failed. After another error it can be
    // tried again.
    zepi_result_t (*graph_finalize)(zepi_graph_t graph);
    // Updates a finalized graph with ZEPI_GRAPH_UPDATABLE, else ZEPI_ERROR_WRONG_STATE: all updates
    // or none, for executions that are enqueued later; the last one of a command counts. No
    // execution is waited for. The launches are checked and copied as by graph_add_launch, and may
    // be of other kernels than before. ZEPI_ERROR_INVALID_VALUE: there is no update, or none of a
    // launch by this number.
    zepi_result_t (*graph_update)(zepi_graph_t graph, uint32_t count,
                                  const zepi_graph_update_t *updates);
    // Enqueues an execution to a queue of the graph's context and device, else
    // ZEPI_ERROR_INVALID_OBJECT: one call of the driver, if it has one for that. The execution also
    // waits for the one before, in whatever queue. If eight are under way, the call waits for the
    // first of them, and is no hindrance to other threads: an update that ends meanwhile counts.
    // ZEPI_ERROR_WRONG_STATE: the graph is not finalized.
    zepi_result_t (*queue_execute)(zepi_queue_t queue, zepi_graph_t graph, zepi_wait_list_t wait,
                                   zepi_event_t *out_event);
    // Writes the graph, in whatever state, to a file for Graphviz: commands with their sizes,
    // arguments and dependencies. ZEPI_ERROR_UNKNOWN: the file cannot be written.
    zepi_result_t (*graph_dump)(zepi_graph_t graph, const char *path);

    // ---- Queues on one of several compute engines ----

    // As queue_create, and all kernels of the queue run on one compute engine, below the device's
    // compute_engine_count. Other queues are spread over the engines.
    zepi_result_t (*queue_create_on_engine)(zepi_context_t context, zepi_device_t device,
                                            zepi_queue_flags_t flags, uint32_t compute_engine,
                                            zepi_queue_t *out_queue);

    // ---- Memory in the order of a queue ----

    // `desc` NULL: no limits. Memory of a pool shares no page with other memory.
    // Allocations in use stay valid after the release of the pool, until they are freed.
    zepi_result_t (*pool_create)(zepi_context_t context, const zepi_pool_desc_t *desc,
                                 zepi_pool_t *out_pool);
    zepi_result_t (*pool_get_info)(zepi_pool_t pool, zepi_pool_info_t *out_info);
    // As in zepi_pool_desc_t. Memory above a new limit goes back when it is freed or trimmed.
    zepi_result_t (*pool_set_limits)(zepi_pool_t pool, size_t maximum_bytes, size_t kept_bytes);
    // Gives the driver memory that is not in use, until the pool has at most `keep_bytes` or has
    // nothing to give.
    zepi_result_t (*pool_trim)(zepi_pool_t pool, size_t keep_bytes);
    // Memory as of usm_allocate, of the queue's device, for commands that begin after this one: the
    // address is there at once, the memory when the command is complete. `pool`: of the queue's
    // context; NULL: a pool that the context has for this. The command waits for its wait list and
    // in an in-order queue for the command before. So it may take memory that queue_free freed
    // earlier in the order of the same in-order queue, or whose event of queue_free is in the wait
    // list (or a later one of the same in-order queue), while commands still use that memory.
    // Memory is freed by queue_free or usm_free. ZEPI_ERROR_OUT_OF_DEVICE_MEMORY: of the driver, or
    // below the limit of the pool. A queue in capture mode refuses
    // (ZEPI_ERROR_CAPTURE_UNSUPPORTED), here and below.
    zepi_result_t (*queue_allocate)(zepi_queue_t queue, zepi_pool_t pool, zepi_usm_kind_t kind,
                                    size_t size_bytes, size_t alignment_bytes,
                                    zepi_wait_list_t wait, void **out_memory,
                                    zepi_event_t *out_event);
    // Frees memory of any pool or of usm_allocate once the wait list is complete and, in an
    // in-order queue, every command before, or in another one, if the wait list is empty,
    // everything enqueued before. No later command may use it, and the host may not. Errors as of
    // usm_free.
    zepi_result_t (*queue_free)(zepi_queue_t queue, void *memory, zepi_wait_list_t wait,
                                zepi_event_t *out_event);

    // ---- Device memory that two processes share (IPC) ----

    // The handle of device memory: bytes that another process opens, and that are given to it in
    // any way. They are the context's until they are put back, and *out_size_bytes long.
    // ZEPI_ERROR_UNSUPPORTED, as of the opening: the driver or the system does not share memory.
    zepi_result_t (*ipc_get_handle)(zepi_context_t context, const void *memory,
                                    const void **out_handle, size_t *out_size_bytes);
    // Gives the handle back. Memory that was opened by it stays open.
    zepi_result_t (*ipc_put_handle)(zepi_context_t context, const void *handle);
    // Opens the handle of a process, on the device that has the memory. ZEPI_ERROR_INVALID_VALUE:
    // it is no handle, was put back, is another device's, or its process is gone.
    zepi_result_t (*ipc_open_handle)(zepi_context_t context, zepi_device_t device,
                                     const void *handle, size_t size_bytes, void **out_memory);
    // Once for each opening. Commands that use the memory may be under way.
    zepi_result_t (*ipc_close_memory)(zepi_context_t context, void *memory);

    // ---- Images and samplers ----

    // Pixels of a device of the context, whose contents are undefined at first. Kernels of this
    // device and parts of it have it as an argument (ZEPI_ARGUMENT_IMAGE). Commands that use it may
    // be under way when it is released; graphs keep it. ZEPI_ERROR_UNSUPPORTED: the device has no
    // images, or none of these channels. ZEPI_ERROR_INVALID_SIZE: beyond the limits of the device.
    zepi_result_t (*image_create)(zepi_context_t context, zepi_device_t device,
                                  const zepi_image_desc_t *desc, zepi_image_t *out_image);
    // Around a ze_image_handle_t of the context, which `desc` describes.
    zepi_result_t (*image_create_from_native)(zepi_context_t context, zepi_device_t device,
                                              const zepi_image_desc_t *desc, void *native_handle,
                                              zepi_ownership_t ownership, zepi_image_t *out_image);
    zepi_result_t (*image_get_info)(zepi_image_t image, zepi_image_info_t *out_info);
    // For ZEPI_ARGUMENT_SAMPLER, on a device of the context and parts of it. Released and kept as
    // images are. ZEPI_ERROR_UNSUPPORTED: the device has no images.
    zepi_result_t (*sampler_create)(zepi_context_t context, zepi_device_t device,
                                    const zepi_sampler_desc_t *desc, zepi_sampler_t *out_sampler);
    // Copies between a region of an image, NULL for all of it, and memory as of queue_copy, in a
    // queue of the image's device. Pitches in bytes; 0: rows, or slices, without gaps.
    // ZEPI_ERROR_INVALID_SIZE: the region reaches past the image, the memory is too small for it,
    // or a pitch is smaller than a row or a slice. ZEPI_ERROR_UNSUPPORTED: there are gaps, and the
    // Level Zero loader lacks copies with them.
    zepi_result_t (*queue_copy_to_image)(zepi_queue_t queue, zepi_image_t image,
                                         const zepi_image_region_t *region, const void *memory,
                                         uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                         zepi_wait_list_t wait, zepi_event_t *out_event);
    zepi_result_t (*queue_copy_from_image)(zepi_queue_t queue, void *memory,
                                           uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                           zepi_image_t image, const zepi_image_region_t *region,
                                           zepi_wait_list_t wait, zepi_event_t *out_event);
    // Between images of the same channels (ZEPI_ERROR_INVALID_VALUE: pixels of different sizes).
    // `to_origin` NULL: zeros. `from_region` NULL: all of
    // `from`. Regions of one image do not overlap.
    zepi_result_t (*queue_copy_image)(zepi_queue_t queue, zepi_image_t to,
                                      const uint32_t to_origin[3], zepi_image_t from,
                                      const zepi_image_region_t *from_region, zepi_wait_list_t wait,
                                      zepi_event_t *out_event);

    // ---- Virtual memory: addresses apart from the memory behind them ----

    // Addresses and sizes below are multiples of the page size for `size_bytes` of memory.
    // `device` NULL: one that is right for all devices of the context. ZEPI_ERROR_UNSUPPORTED, as
    // of all that follow: the driver has no virtual memory.
    zepi_result_t (*virtual_memory_get_page_size)(zepi_context_t context, zepi_device_t device,
                                                  size_t size_bytes, size_t *out_page_bytes);
    // Addresses without memory. `wish`: where, if that is free; or NULL.
    zepi_result_t (*virtual_memory_reserve)(zepi_context_t context, const void *wish,
                                            size_t size_bytes, void **out_start);
    // Gives back a whole reservation and ends the mappings in it. No command may use it, as of
    // virtual_memory_unmap.
    zepi_result_t (*virtual_memory_free)(zepi_context_t context, const void *start,
                                         size_t size_bytes);
    // Memory of a device of the context, which has no address until it is mapped. A mapping keeps
    // it. ZEPI_ERROR_INVALID_SIZE: no multiple of the device's page size.
    zepi_result_t (*physical_memory_create)(zepi_context_t context, zepi_device_t device,
                                            size_t size_bytes, zepi_physical_memory_t *out_memory);
    // Puts physical memory from `offset_bytes` on behind reserved addresses. Not every driver maps
    // it at several places at a time, or keeps the access of parts of a reservation apart.
    zepi_result_t (*virtual_memory_map)(zepi_context_t context, const void *start,
                                        size_t size_bytes, zepi_physical_memory_t memory,
                                        size_t offset_bytes, zepi_memory_access_t access);
    zepi_result_t (*virtual_memory_unmap)(zepi_context_t context, const void *start,
                                          size_t size_bytes);
    zepi_result_t (*virtual_memory_set_access)(zepi_context_t context, const void *start,
                                               size_t size_bytes, zepi_memory_access_t access);
    // The access of all of the range; parts that differ are an error.
    zepi_result_t (*virtual_memory_get_access)(zepi_context_t context, const void *start,
                                               size_t size_bytes, zepi_memory_access_t *out_access);

    // ---- Functions of the host in the order of a queue ----

    // Calls `function` with `data` once the commands before are complete, in an in-order queue, or
    // the wait list, in others, on a thread of the driver's. It must not call zepi or Level Zero.
    // The command is complete when it has returned; the times of its event are those of its end.
    // ZEPI_ERROR_UNSUPPORTED: the device info's has_host_functions is false. A queue in capture
    // mode refuses (ZEPI_ERROR_CAPTURE_UNSUPPORTED). After an error the function is not called any
    // more.
    zepi_result_t (*queue_call_host)(zepi_queue_t queue, zepi_host_function_fn *function,
                                     void *data, zepi_wait_list_t wait, zepi_event_t *out_event);
} zepi_plugin_t;

// Bytes of the head that every caller has.
#define ZEPI_PLUGIN_HEAD_SIZE offsetof(zepi_plugin_t, last_error)

// Whether a filled table has a function, which an older library may lack:
// ZEPI_HAS_FUNCTION(&zepi, queue_call_host).
#define ZEPI_HAS_FUNCTION(plugin, function)                                                        \
    ((plugin)->size >= offsetof(zepi_plugin_t, function) + sizeof((plugin)->function))

// Fills the table, at most plugin->size bytes of it, and writes back how many were filled.
// ZEPI_ERROR_INVALID_VALUE for NULL, ZEPI_ERROR_INVALID_SIZE for a size below
// ZEPI_PLUGIN_HEAD_SIZE, ZEPI_ERROR_UNSUPPORTED_VERSION for another major version, or another minor
// version while the major version is 0; nothing is written then. Touches no driver. May be called
// any number of times.
typedef zepi_result_t zepi_plugin_init_fn(zepi_plugin_t *plugin);
zepi_result_t zepiPluginInit(zepi_plugin_t *plugin);

// The calling thread's last error as last_error of the table has it, for a host that got no table.
typedef const char *zepi_plugin_last_error_fn(void);
const char *zepiPluginLastError(void);

#ifdef __cplusplus
}
#endif

#endif
