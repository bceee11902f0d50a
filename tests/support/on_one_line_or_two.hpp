// on_one_line_or_two.hpp - a test's replicas on the caller's line, and once more on two lines.

#pragma once

#include <asio/io_context.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <troupe/troupe.hpp>
#include <utility>

namespace troupe::test {

/// For TEST_CASE_METHOD: everything happens for each of the two.
template <int replicas>
struct on_one_line_or_two {
  asio::io_context io;
  runtime rt = chosen(io);
  mirrored_strategy strategy{rt, replicas};

  template <class... A>
  auto run(A... arguments) {
    return block_on(rt, strategy.run(std::move(arguments)...));
  }

 private:
  static runtime chosen(asio::io_context& io) {
    const bool two = GENERATE(false, true);
    if (two) return runtime{pool_size{2}};
    return runtime{io.get_executor()};
  }
};

}  // namespace troupe::test
