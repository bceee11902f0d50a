// policies.hpp - the ways to choose: every schedule, drawn ones, and given ones.
//
// No single way of drawing finds everything: a uniform walk misses bugs that need one party to
// be slow for long, priorities miss those that need strict alternation. A portfolio draws one
// after the other, so that it costs at most as many times the best one as there are ways.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/simulation/sim_engine.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe::detail {

/// splitmix64: a seed means the same everywhere.
class seeded {
 public:
  explicit seeded(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept;
  std::size_t below(std::size_t n) noexcept {
    // Mostly there are two, and a division takes long.
    const std::uint64_t drawn = next();
    return static_cast<std::size_t>((n & (n - 1)) == 0 ? drawn & (n - 1) : drawn % n);
  }

 private:
  std::uint64_t state_;
};

/// What a search throws that meets another choice than it met at the same place before.
[[noreturn]] void throw_another_course();

/// Every schedule, in lexicographic order: an odometer over the choices of one run.
class every_choice final : public choice_policy {
 public:
  std::size_t choose(const choice_point& point) override;

  /// Advances to the next schedule; false when there is none.
  bool next();

  /// About how much of all schedules lies before this one, 0 to 1: each choice is taken to have
  /// as many schedules behind each of its possibilities (Knuth's estimate).
  double done() const;

 private:
  struct digit {
    std::size_t value, count, usual;
  };
  std::vector<digit> digits_;
  std::size_t depth_ = 0;
};

/// Uniform choices.
class random_walk final : public choice_policy {
 public:
  explicit random_walk(std::uint64_t seed) noexcept : dice_(seed) {}
  std::size_t choose(const choice_point& point) override { return dice_.below(point.count); }

 private:
  seeded dice_;
};

/// Every party has a priority, and whoever has the highest goes on; at `depth` - 1 steps, drawn
/// among the first `length`, whoever would have gone on becomes the last of all. Finds a bug of
/// that depth with a probability that is known (PCT).
class random_priorities final : public choice_policy {
 public:
  random_priorities(std::uint64_t seed, unsigned depth, std::uint64_t length);
  std::size_t choose(const choice_point& point) override;

 private:
  std::uint64_t& priority_of(std::uint32_t party);
  std::size_t highest(const choice_point& point);

  seeded dice_;
  recycled_vector<std::uint64_t> changes_;     // Steps, in order.
  recycled_vector<std::uint64_t> priorities_;  // Index = party; 0: not drawn yet.
  std::size_t changed_ = 0;
};

/// One party, drawn among the first ones, moves only when nobody else can.
class starvation final : public choice_policy {
 public:
  explicit starvation(std::uint64_t seed) noexcept : dice_(seed), victim_(dice_.below(12)) {}
  std::size_t choose(const choice_point& point) override;

 private:
  seeded dice_;
  std::size_t victim_;
};

/// One after the other, each a drawn number of steps.
class round_robin final : public choice_policy {
 public:
  explicit round_robin(std::uint64_t seed) noexcept : dice_(seed), burst_(1 + dice_.below(3)) {}
  std::size_t choose(const choice_point& point) override;

 private:
  seeded dice_;
  std::size_t burst_;
  std::size_t left_ = 0;
  std::uint32_t latest_ = 0;
};

/// Number `i` of those that are drawn like this, for programs of about `length` steps.
std::unique_ptr<choice_policy> drawn_policy(drawing how, std::uint64_t seed, std::uint64_t i,
                                            std::uint64_t length);

/// The default order, except where a schedule says otherwise.
class given_choice final : public choice_policy {
 public:
  enum class fit : std::uint8_t {
    strict,   ///< What does not fit ends the run.
    nearest,  ///< What does not fit is left out.
  };

  given_choice(schedule s, fit how);
  std::size_t choose(const choice_point& point) override;

  /// \throws errc::schedule_diverged unless every deviation was met.
  void require_used_up() const;
  /// How many deviations were not met.
  std::size_t left_out() const noexcept { return schedule_.deviations.size() - met_; }

 private:
  [[noreturn]] void diverged(std::size_t entry, const std::string& why) const;

  schedule schedule_;
  fit how_;
  std::vector<std::size_t> by_place_;  // Entries of the schedule, in order of their places.
  std::vector<bool> used_;
  std::size_t met_ = 0;
};

}  // namespace troupe::detail
