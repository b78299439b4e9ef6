// SPDX-License-Identifier: MIT
#include "cache/build_store.h"

bool zepi_build_store_load(const struct zepi_build_store *store, const struct zepi_key *key,
                           struct zepi_build_output *out_output, int *out_claim)
{
    struct zepi_build_record record = {.claim = -1};
    const bool is_found = store->ops && store->ops->load(store->self, key, &record);
    const bool is_loaded = is_found &&
                           store->make_payload(out_output, record.payload, record.payload_size) &&
                           zepi_build_output_set_log(out_output, record.log, record.log_size);
    if (!is_loaded)
        zepi_build_output_finish(out_output);
    *out_claim = is_found ? -1 : record.claim;
    zepi_build_record_finish(&record);
    return is_loaded;
}

void zepi_build_store_save(const struct zepi_build_store *store, const struct zepi_key *key,
                           const struct zepi_build_result *result, int claim)
{
    const struct zepi_build_record record = {.payload = zepi_build_result_stored(result),
                                             .payload_size = zepi_build_result_stored_size(result),
                                             .log = zepi_build_result_log(result),
                                             .log_size = zepi_build_result_log_size(result),
                                             .claim = claim};
    if (store->ops)
        store->ops->store(store->self, key, &record);
}
