// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_LINK_LINK_SYMBOLS_H
#define ZEPI_PROGRAM_LINK_LINK_SYMBOLS_H

#include "program/build/text.h"
#include "program/link/link_set.h"

// The linkage table of a link set: from the SPIR-V; of native code, from the driver. Owned by the
// caller. Any thread, as for the other functions here.
zepi_result_t zepi_link_set_list_symbols(const struct zepi_link_set *set,
                                         struct zepi_symbols *out_symbols);

// Fails if it is certain without asking the driver that a symbol stays unresolved: a member has
// imports that its driver could not resolve when it was compiled, and the set defines none of
// them. In other cases the driver decides, which may supply some imports itself. `symbols`
// were checked.
zepi_result_t zepi_link_set_check_imports(const struct zepi_link_set *set,
                                          const struct zepi_symbols *symbols);

// Notes that the driver cannot link, with the undefined symbols: those that the driver's log names,
// or all if it names none of them. Returns ZEPI_ERROR_LINK_FAILURE.
zepi_result_t zepi_fail_unresolved(const struct zepi_symbols *symbols, const struct zepi_text *log);

#endif
