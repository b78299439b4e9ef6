// SPDX-License-Identifier: MIT
//
// Intel's driver opens a library with RTLD_DEEPBIND, for which AddressSanitizer and ThreadSanitizer
// end the process (such a library would not see the sanitizer's malloc). Without that flag all is
// well.
#include <dlfcn.h>

__attribute__((visibility("default"))) void *dlopen(const char *path, int flags)
{
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(path, flags & ~RTLD_DEEPBIND);
}
