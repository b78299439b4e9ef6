# SPDX-License-Identifier: MIT
# Warnings and sanitizers for every target of the project. Without a PLT a call of another library is one
# instruction less.
add_compile_options(
  -fno-plt -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
  -Wwrite-strings -fno-strict-aliasing)
add_compile_definitions(_GNU_SOURCE)

if(ZEPI_WERROR)
  add_compile_options(-Werror)
endif()

# UR's headers have attributes as C23 writes them, which gcc takes in C11, too.
add_compile_options($<$<COMPILE_LANG_AND_ID:C,Clang>:-fdouble-square-bracket-attributes>)

if(ZEPI_SANITIZER)
  add_compile_options(-fsanitize=${ZEPI_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ZEPI_SANITIZER})
  if(ZEPI_SANITIZER MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  # gcc guesses both wrong beside the code of sanitizers at -O1; release builds have them.
  add_compile_options($<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-maybe-uninitialized>
                      $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-format-truncation>)
endif()

if(ZEPI_FUZZ)
  # Coverage for libFuzzer in everything; the driver itself is linked into its targets alone.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
