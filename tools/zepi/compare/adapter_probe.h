// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_ADAPTER_PROBE_H
#define ZEPI_TOOL_ADAPTER_PROBE_H

// Loads an adapter with the loader of Unified Runtime in a process of its own, as the environment
// says. Returns NULL if it finds a device, else the reason.
const char *adapter_probe(const char *loader, const char *adapter);

#endif
