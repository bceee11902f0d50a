// interrupt.hpp - Ctrl-C, noted instead of obeyed for as long as somebody explores.

#pragma once

namespace troupe::detail {

class interrupt_watch {
 public:
  /// Heeds Ctrl-C from now on, if `wanted`: the first one is noted, a second one ends the process.
  explicit interrupt_watch(bool wanted);
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;
  /// What was done about Ctrl-C before is done again once nobody watches.
  ~interrupt_watch();

  bool interrupted() const noexcept;

 private:
  bool wanted_;
  unsigned before_;
};

}  // namespace troupe::detail
