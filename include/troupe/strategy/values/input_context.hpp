// input_context.hpp - for which part of the input a function reads.

#pragma once

#include <string>

namespace troupe {

/// What a function that makes one pipeline of several is told.
class input_context {
 public:
  /// \throws errc::invalid_batch unless 0 <= id < pipelines and there is a replica.
  explicit input_context(int num_input_pipelines = 1, int input_pipeline_id = 0,
                         int num_replicas_in_sync = 1);

  int num_input_pipelines() const noexcept { return pipelines_; }
  int input_pipeline_id() const noexcept { return id_; }
  int num_replicas_in_sync() const noexcept { return replicas_; }

  /// A replica's part of a batch for all. \throws errc::invalid_batch unless it has no rest.
  int get_per_replica_batch_size(int global_batch_size) const;

  friend bool operator==(const input_context&, const input_context&) = default;

 private:
  int pipelines_;
  int id_;
  int replicas_;
};

/// "input pipeline 1 of 2, for 6 replicas".
std::string to_string(const input_context&);

}  // namespace troupe
