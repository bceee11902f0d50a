// frontier.hpp - what a search for orders has left to try, for any number of threads.
//
// The moments of all runs are a tree, of which there is what has something left, and what is
// before that. A thread goes on at the deepest moment before its latest run that has something
// left, so that one alone searches depth first; a thread that finds nothing there takes the first
// such moment of another one. What is left is before somebody's run, or was loaded.
//
// The steps of a moment are begun one after the other, a later one as soon as it is known what the
// earlier ones touch: it need not try again what they lead to, though they are still under way.
// Never the other way round, or two might leave the same order to each other. So several threads
// meet the orders that one would have met.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <mutex>
#include <vector>

#include "runtime/simulation/partial_order/moment.hpp"

namespace troupe::detail {

class frontier {
 public:
  /// One thread's part. Its spare moments are its own, the rest is everybody's.
  struct searcher {
    moment* at = nullptr;   ///< Where its run has left those before it.
    std::uint32_t way = 0;  ///< The one that it has taken there.
    bool busy = false;
    std::deque<moment> made;
    std::vector<moment*> spare;
  };

  /// \param shared By several threads.
  explicit frontier(bool shared) noexcept : shared_(shared) {}

  /// Holds nothing if there is one thread.
  std::unique_lock<std::mutex> lock() {
    return shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  // Everything else under the lock.

  searcher& enter() { return searchers_.emplace_back(); }

  /// The next run is one from the deepest moment behind the latest; false if nothing is left there.
  bool next_behind(searcher& who);
  /// The next run begins anywhere; waits while others may find something.
  /// \return false if nothing is left, or after stop(). \pre next_behind(who) has returned false
  bool next_elsewhere(searcher& who, std::unique_lock<std::mutex>& lock);

  /// A run has ended at `last`: there may be more to do for others.
  void ended(searcher& who, moment& last);

  /// Nobody begins a run any more.
  void stop();

  /// Whether anything is left. \pre All have stopped.
  bool has_more() const noexcept;

  /// About how much of all was run, 0 to 1.
  double done() const;

  /// What is left, as text. \pre All have stopped.
  void save(std::ostream& out) const;
  /// Goes on from there. \return false if it is no such text. \pre Nothing was done.
  bool load(std::istream& in);

 private:
  moment* climb(moment* from, searcher& who);
  moment* find(searcher& who);
  void begin(searcher& who);
  /// All moments, each after the one before it.
  std::vector<const moment*> all() const;

  const bool shared_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<searcher> searchers_;
  std::deque<moment> loaded_;
  std::vector<moment*> ends_;  // Of what was loaded: nobody is there yet.
  bool begun_ = false;
  bool stopped_ = false;
  unsigned waiting_ = 0;
};

}  // namespace troupe::detail
