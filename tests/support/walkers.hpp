// walkers.hpp - parties that take a number of steps each, in whatever order they are let.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test {

/// Who took each step of a run.
using footprints = std::vector<int>;

struct one_more {};
struct walk {
  using answer_type = int;
  walk(int n, reply<int> done) : steps(n), to(std::move(done)) {}
  int steps;
  reply<int> to;
};

class walker final : public actor<walker, walk, one_more> {
 public:
  walker(runtime& rt, int number, footprints* into)
      : actor(rt, "walker", static_cast<std::uint32_t>(number)), number_(number), into_(into) {}

  void on(walk m) {
    order_ = std::make_unique<walk>(std::move(m));
    tell(one_more());
  }
  void on(one_more) {
    into_->push_back(number_);
    if (--order_->steps > 0) {
      tell(one_more());
    } else {
      order_->to.set(number_);
    }
  }

 private:
  int number_;
  footprints* into_;
  std::unique_ptr<walk> order_;
};

/// Lets `walkers` parties take `steps` steps each; returns in which order they were taken.
inline task<footprints> walk_all(world& w, int walkers, int steps) {
  footprints seen;
  std::vector<std::unique_ptr<walker>> all;
  std::vector<std::unique_ptr<answer<int>>> ends;
  for (int i = 0; i < walkers; ++i) {
    all.push_back(std::make_unique<walker>(w.runtime(), i, &seen));
    ends.push_back(std::make_unique<answer<int>>());
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->tell(walk(steps, ends[i]->to()));
  for (auto& each : ends) co_await *each;
  co_return seen;
}

}  // namespace troupe::test
