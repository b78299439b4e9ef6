// SPDX-License-Identifier: MIT
#include "cache/build_store.h"
#include "cache/seam.h"

void zepi_build_record_finish(struct zepi_build_record *record)
{
    zepi_seam_free(record->storage);
    *record = (struct zepi_build_record){0};
}
