// input_context.cpp - batches that can be shared out evenly.

#include "troupe/strategy/values/input_context.hpp"

#include "troupe/core/error.hpp"

namespace troupe {

input_context::input_context(int num_input_pipelines, int input_pipeline_id,
                             int num_replicas_in_sync)
    : pipelines_(num_input_pipelines), id_(input_pipeline_id), replicas_(num_replicas_in_sync) {
  if (id_ < 0 || id_ >= pipelines_ || replicas_ < 1) {
    throw error(errc::invalid_batch, "there is no " + to_string(*this),
                "pipelines count from 0, and feed one replica at least");
  }
}

int input_context::get_per_replica_batch_size(int global_batch_size) const {
  if (global_batch_size < 0 || global_batch_size % replicas_ != 0) {
    throw error(errc::invalid_batch,
                "a batch of " + std::to_string(global_batch_size) + " cannot be shared out to " +
                    std::to_string(replicas_) + " replicas",
                "make the batch a multiple of num_replicas_in_sync()");
  }
  return global_batch_size / replicas_;
}

std::string to_string(const input_context& context) {
  return "input pipeline " + std::to_string(context.input_pipeline_id()) + " of " +
         std::to_string(context.num_input_pipelines()) + ", for " +
         std::to_string(context.num_replicas_in_sync()) + " replicas";
}

}  // namespace troupe
