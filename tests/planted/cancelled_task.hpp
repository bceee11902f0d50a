// cancelled_task.hpp - a task that is cancelled from outside, somewhere on its way.

#pragma once

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "tests/planted/planted.hpp"

namespace troupe::planted {

struct cancelled_task {
  asio::cancellation_signal cancel;
  bool emitted = false;
  std::exception_ptr failure;

  void emit() {
    emitted = true;
    cancel.emit(asio::cancellation_type::terminal);
  }
};

/// Runs `body` as a task of its own; how it ends is in `as`.
inline task<> run_cancellable(stage& w, cancelled_task* as, task<> body) {
  if (as->emitted) {
    as->failure = std::make_exception_ptr(error(errc::cancelled, "cancelled before it began"));
    co_return;
  }
  try {
    co_await launch(w.runtime(), std::move(body),
                    asio::bind_cancellation_slot(as->cancel.slot(), use_task));
  } catch (...) {
    as->failure = std::current_exception();
  }
}

/// Cancels after some questions; in the default order only when all is over.
inline task<> cancel_somewhere(stage& w, cancelled_task* which) {
  cell pace(w.runtime());
  const std::uint32_t questions = w.choose(4);
  if (questions == 0) co_await sleep_for(std::chrono::milliseconds(1));
  for (std::uint32_t i = 0; i < questions; ++i) static_cast<void>(co_await pace.ask<get>());
  which->emit();
}

}  // namespace troupe::planted
