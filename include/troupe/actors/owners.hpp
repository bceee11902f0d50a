// owners.hpp - who keeps the components of variables: one actor on each line.
//
// The component of replica i belongs to the line of replica i. Whoever runs there reads and
// writes it as it is; everybody else asks that line's owner for it. A sweep is one piece of
// work for all owners: an update, a gather, what a merge has decided to write.
//
// Guarantees
//   ordered  all lines take all sweeps in one order, that of begin(): a component never
//            sees two writes in another order than its sisters do, also when runs overlap;
//   one      a sweep sends one message to each other line, whatever it does there, and none
//            where there is one line;
//   whole    a sweep ends when every line has taken it.
//
// How: begun sweeps form a list, and each line has its place in it. A line that is told a
// number takes the sweeps up to it, in the order of the list. Replicas that were told by a
// merge need no message: they catch up when they go on.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "troupe/runtime/runtime_state.hpp"

namespace troupe {

/// What the owners do in one go.
class sweep {
 public:
  sweep(const sweep&) = delete;
  sweep& operator=(const sweep&) = delete;
  virtual ~sweep() = default;

  /// On the line of `replica`, once for each.
  virtual void visit(std::size_t replica) noexcept = 0;

  /// Every replica was visited. On the line of the last; *this may be gone afterwards.
  virtual void done() noexcept {}

 protected:
  sweep() = default;
};

class owners : public std::enable_shared_from_this<owners> {
 public:
  /// One on each of the first `lines` lines, to which the replicas are dealt out. `on` null: the
  /// owners of the default strategy, who are wherever they are needed.
  owners(const std::shared_ptr<runtime_state>& on, std::size_t replicas, std::size_t lines);
  owners(const owners&) = delete;
  owners& operator=(const owners&) = delete;
  ~owners();

  std::size_t replicas() const noexcept { return replicas_; }

  /// Whether everything runs on one line, where all components are at home.
  bool on_one_line() const noexcept { return places_.empty(); }

  /// A replica at home on `line`; replicas(), if there is none.
  std::size_t neighbour(const scheduler& line) const noexcept {
    if (on_one_line()) return 0;
    return line.index() < places_.size() ? line.index() : replicas_;
  }

  /// Sends `work` round: visits what is at home on `line`, where this is called, and tells the
  /// other owners. `work` lives until it is done().
  void send(sweep& work, const scheduler& line);

  /// The same without messages, for a merge: returns the number up to which every replica has
  /// to catch up before it goes on.
  std::uint64_t begin(std::unique_ptr<sweep> work);

  /// The number of the latest sweep; any line may take all up to it, at any time.
  std::uint64_t begun();

  /// Takes the sweeps up to `number`, on the line of `replica`.
  void catch_up(std::size_t replica, std::uint64_t number) noexcept {
    if (number != 0) catch_up_line(replica % places_.size(), number);
  }

 private:
  class owner;

  /// A begun sweep. Held by the lines that have not gone past it.
  struct entry;

  struct alignas(64) line_place {
    entry* at = nullptr;
    std::unique_ptr<owner> actor;
  };

  std::uint64_t append(sweep& work, std::unique_ptr<sweep> owned);
  void catch_up_line(std::size_t line, std::uint64_t number) noexcept;
  static void leave(entry& passed) noexcept;

  std::size_t replicas_;
  std::vector<line_place> places_;  // Index = line; empty where there is one line.
  std::mutex mutex_;                // Guards the end of the list.
  entry* last_ = nullptr;
};

}  // namespace troupe
