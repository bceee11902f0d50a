// edited_program_run.cpp - a plan, carried out in a world.

#include <algorithm>
#include <asio/post.hpp>
#include <memory>
#include <troupe/troupe.hpp>
#include <utility>

#include "bench/simulation/edited_program.hpp"

namespace troupe::bench {

namespace {

/// The culprits' steps, in the order of happening.
using journal = std::vector<deed>;

bool comes_first(const journal& seen, const wrong_order& order) {
  const auto place = [&](const deed& wanted) {
    return std::ranges::find_if(
        seen, [&](const deed& each) { return each.who == wanted.who && each.step == wanted.step; });
  };
  return place(order.first) < place(order.second);
}

bool shows(const std::vector<wrong_order>& bug, const journal& seen) {
  return std::ranges::all_of(bug, [&](const auto& order) { return comes_first(seen, order); });
}

struct begin {
  using answer_type = int;
  explicit begin(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct go_on {};
struct note {};

class bystander final : public actor<bystander, begin, go_on, note> {
 public:
  bystander(runtime& on, bystander_plan plan, std::uint32_t number)
      : actor(on, "bystander", number), executor_(on.get_executor()), plan_(plan) {}

  void write_to(bystander* next) noexcept { next_ = next; }
  void on(begin m) {
    task_ = std::make_unique<begin>(std::move(m));
    tell(go_on());
  }
  task<> on(go_on) {
    const bool is_first = taken_++ == 0;
    for (int i = 0; is_first && i < plan_.letters; ++i) next_->tell(note());
    for (int i = 0; is_first && i < plan_.yields; ++i) {
      co_await asio::post(executor_, use_task);
    }
    if (taken_ < plan_.steps) {
      tell(go_on());
    } else {
      task_->to.set(1);
    }
  }
  void on(note) {}

 private:
  asio::any_io_executor executor_;
  bystander_plan plan_;
  bystander* next_ = nullptr;
  std::unique_ptr<begin> task_;
  int taken_ = 0;
};

class culprit final : public actor<culprit, begin, go_on> {
 public:
  culprit(runtime& on, int who, int steps, journal* seen)
      : actor(on, "culprit", static_cast<std::uint32_t>(who)),
        who_(who),
        steps_(steps),
        seen_(seen) {}

  void on(begin m) {
    task_ = std::make_unique<begin>(std::move(m));
    tell(go_on());
  }
  void on(go_on) {
    seen_->push_back({who_, ++taken_});
    if (taken_ < steps_) {
      tell(go_on());
    } else {
      task_->to.set(1);
    }
  }

 private:
  int who_;
  int steps_;
  journal* seen_;
  std::unique_ptr<begin> task_;
  int taken_ = 0;
};

task<> merge_often(replica_context ctx, int merges) {
  for (int i = 0; i < merges; ++i) co_await ctx.merge_call([] {});
}

task<> innocent_run(world& w, run_plan plan) {
  mirrored_strategy strategy(w.runtime(), plan.replicas);
  co_await strategy.run(merge_often, plan.merges);
}

task<> arrive_often(replica_context ctx, const program_plan* plan, journal* seen) {
  const auto* const who = std::ranges::find(plan->culprits, ctx.replica_id());
  for (int step = 1; step <= plan->culprit_steps; ++step) {
    if (who != std::end(plan->culprits)) {
      deed done;
      done.who = static_cast<int>(who - plan->culprits);
      done.step = step;
      seen->push_back(done);
    }
    co_await ctx.merge_call([] {});
  }
}

/// Everybody who is an actor, in the order of being made.
class cast {
 public:
  cast(runtime& on, const program_plan& plan, journal* seen) {
    for (std::size_t i = 0; i <= plan.bystanders.size(); ++i) {
      if (i == plan.place && !plan.of_replicas) {
        for (int who = 0; who < 2; ++who) {
          culprits_.push_back(std::make_unique<culprit>(on, who, plan.culprit_steps, seen));
        }
      }
      if (i == plan.bystanders.size()) break;
      bystanders_.push_back(
          std::make_unique<bystander>(on, plan.bystanders[i], static_cast<std::uint32_t>(i)));
    }
    for (std::size_t i = 0; i < bystanders_.size(); ++i) {
      bystanders_[i]->write_to(bystanders_[(i + 1) % bystanders_.size()].get());
    }
  }

  void start() {
    for (const auto& each : culprits_) start(*each);
    for (const auto& each : bystanders_) start(*each);
  }
  task<> end() {
    for (const auto& each : ends_) co_await *each;
    for (const auto& each : culprits_) co_await each->stop();
    for (const auto& each : bystanders_) co_await each->stop();
  }

 private:
  void start(auto& whom) {
    ends_.push_back(std::make_unique<answer<int>>());
    whom.tell(begin(ends_.back()->to()));
  }

  std::vector<std::unique_ptr<bystander>> bystanders_;
  std::vector<std::unique_ptr<culprit>> culprits_;
  std::vector<std::unique_ptr<answer<int>>> ends_;
};

task<> perform(world& w, std::shared_ptr<const program_plan> plan) {
  journal seen;
  for (const run_plan& each : plan->runs) {
    if (each.earlier) co_await innocent_run(w, each);
  }
  mirrored_strategy strategy(w.runtime(), 3);
  if (plan->warmed_up) co_await strategy.run(merge_often, 0);
  cast everybody(w.runtime(), *plan, &seen);
  everybody.start();
  if (plan->of_replicas) co_await strategy.run(arrive_often, plan.get(), &seen);
  co_await everybody.end();
  for (const run_plan& each : plan->runs) {
    if (!each.earlier) co_await innocent_run(w, each);
  }
  w.check(!shows(plan->bug, seen), "the culprits keep their order");
}

}  // namespace

simulation::program program_of(const program_plan& plan) {
  return [shared = std::make_shared<const program_plan>(plan)](world& w) {
    return perform(w, shared);
  };
}

}  // namespace troupe::bench
