// faults.hpp - what may go wrong in a simulated world, and how often.
//
//     w.faults(fault_budget().crashes(1).stalls(1));
//     ...
//     w.heal();                                // From here on nothing goes wrong any more,
//     co_await strategy.run(step);             // and the program has to get somewhere.
//
// Whether one happens is a choice before each step that it could strike: exploration tries all
// placements, alone and together, up to the budget; shrinking leaves out what is not needed.
//
//   crash         a replica ends where it is: its frame is destroyed, nothing catches it, and its
//                 run fails with errc::injected_fault;
//   stall         a replica's next step comes later, and with it an entry, an arrival or an end;
//   delay         a message to an actor comes later, and what its sender sent after it;
//   cancellation  the run that a replica belongs to is cancelled, while the replica goes on.
//
// Later is lasting() of virtual time: long enough, unless told otherwise, for every time-out.

#pragma once

#include <chrono>

namespace troupe {

class fault_budget {
 public:
  fault_budget& crashes(unsigned at_most) noexcept { return set(crashes_, at_most); }
  fault_budget& stalls(unsigned at_most) noexcept { return set(stalls_, at_most); }
  fault_budget& delays(unsigned at_most) noexcept { return set(delays_, at_most); }
  fault_budget& cancellations(unsigned at_most) noexcept { return set(cancellations_, at_most); }
  fault_budget& lasting(std::chrono::nanoseconds how_long) noexcept {
    lasting_ = how_long;
    return *this;
  }

  unsigned crashes() const noexcept { return crashes_; }
  unsigned stalls() const noexcept { return stalls_; }
  unsigned delays() const noexcept { return delays_; }
  unsigned cancellations() const noexcept { return cancellations_; }
  std::chrono::nanoseconds lasting() const noexcept { return lasting_; }

 private:
  fault_budget& set(unsigned& which, unsigned at_most) noexcept {
    which = at_most;
    return *this;
  }

  unsigned crashes_ = 0;
  unsigned stalls_ = 0;
  unsigned delays_ = 0;
  unsigned cancellations_ = 0;
  std::chrono::nanoseconds lasting_ = std::chrono::hours(24);
};

}  // namespace troupe
