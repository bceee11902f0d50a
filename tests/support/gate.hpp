// gate.hpp - an asynchronous operation that ends when the test says so, or never.
//
// Any completion token; the cancellation slot ends it with operation_aborted.

#pragma once

#include <asio/error.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "troupe/runtime/asio.hpp"

namespace troupe::test {

class gate {
 public:
  /// One wait at a time.
  template <class Token>
  auto async_pass(Token&& token) {
    return asio::async_initiate<Token, void(std::error_code)>(
        [this](auto handler) {
          auto slot = asio::get_associated_cancellation_slot(handler);
          executor_ = asio::get_associated_executor(handler);
          handler_.emplace(std::move(handler));
          if (!slot.is_connected()) return;
          slot.assign([this](asio::cancellation_type) { finish(asio::error::operation_aborted); });
        },
        token);
  }

  bool waited_for() const noexcept { return handler_.has_value(); }
  void open() { finish({}); }

  /// As an executor that ends: the handler is destroyed and never called.
  void demolish() { handler_.reset(); }

 private:
  void finish(std::error_code how) {
    if (!handler_) return;
    auto handler = std::move(*handler_);
    handler_.reset();
    asio::post(executor_, asio::append(std::move(handler), how));
  }

  asio::any_io_executor executor_;
  std::optional<asio::any_completion_handler<void(std::error_code)>> handler_;
};

}  // namespace troupe::test
