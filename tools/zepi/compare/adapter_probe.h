// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_ADAPTER_PROBE_H
#define ZEPI_TOOL_ADAPTER_PROBE_H

// Intel's adapters for Level Zero leave newer or older devices to each other. Sets the variable
// that says which one is wanted, by the name of its file.
void adapter_probe_select(const char *adapter);

// Loads an adapter with the loader of Unified Runtime in a process of its own, as the environment
// says. Returns NULL if it finds a device, else the reason.
const char *adapter_probe(const char *loader, const char *adapter);

#endif
