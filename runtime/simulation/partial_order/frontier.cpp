// frontier.cpp - see frontier.hpp.

#include "runtime/simulation/partial_order/frontier.hpp"

#include <algorithm>
#include <istream>
#include <ostream>
#include <unordered_map>

namespace troupe::detail {

namespace {

constexpr std::size_t most = std::size_t{1} << 24;  // A damaged file asks for more.
constexpr std::size_t nowhere = ~std::size_t{0};

bool can_begin(const moment& at) noexcept { return at.has_left() && at.is_ready(); }

bool leads_somewhere(const moment& at, std::uint32_t way) noexcept {
  return way < (at.is_value() ? at.begun : at.tried.size());
}

}  // namespace

bool frontier::next_behind(searcher& who) {
  who.busy = false;
  if (!who.at) return false;
  --who.at->users;
  who.at = climb(who.at, who);
  if (stopped_) return false;
  // What is not ready somebody else is behind.
  while (who.at && !can_begin(*who.at)) who.at = who.at->before;
  if (who.at) begin(who);
  return who.at != nullptr;
}

bool frontier::next_elsewhere(searcher& who, std::unique_lock<std::mutex>& lock) {
  const auto works = [](const searcher& s) { return s.busy; };
  while (!stopped_) {
    if (!begun_) {
      begun_ = who.busy = true;
      return true;
    }
    who.at = find(who);
    if (who.at) {
      begin(who);
      return true;
    }
    if (std::none_of(searchers_.begin(), searchers_.end(), works)) break;
    ++waiting_;
    changed_.wait(lock);
    --waiting_;
  }
  if (waiting_ > 0) changed_.notify_all();
  return false;
}

void frontier::begin(searcher& who) {
  who.way = who.at->begin();
  ++who.at->users;
  who.busy = true;
}

/// From a moment up to the first one that has something left. What has not, and nobody behind it
/// either, is over.
moment* frontier::climb(moment* from, searcher& who) {
  while (from && !from->has_left()) {
    moment* const before = from->before;
    if (from->users == 0) {
      if (before) --before->users;
      who.spare.push_back(from);
    }
    from = before;
  }
  return from;
}

/// The ends of what was loaded first, because nobody answers for what is left before them.
moment* frontier::find(searcher& who) {
  while (!ends_.empty()) {
    moment* const end = ends_.back();
    ends_.pop_back();
    for (moment* m = climb(end, who); m; m = m->before) {
      if (can_begin(*m)) return m;
    }
  }
  for (const searcher& other : searchers_) {
    moment* first = nullptr;
    for (moment* m = other.at; m; m = m->before) {
      if (can_begin(*m)) first = m;
    }
    if (first) return first;
  }
  return nullptr;
}

void frontier::ended(searcher& who, moment& last) {
  who.at = &last;
  if (waiting_ > 0) changed_.notify_all();
}

void frontier::stop() {
  stopped_ = true;
  changed_.notify_all();
}

bool frontier::has_more() const noexcept {
  return !begun_ || !ends_.empty() ||
         std::any_of(searchers_.begin(), searchers_.end(), [](const auto& s) { return s.at; });
}

std::vector<const moment*> frontier::all() const {
  std::vector<const moment*> found(ends_.begin(), ends_.end());
  for (const auto& each : searchers_) found.push_back(each.at);
  const std::size_t ends = found.size();
  for (std::size_t i = 0; i < ends; ++i) {
    for (const moment* m = found[i]; m; m = m->before) found.push_back(m);
  }
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(ends));
  std::sort(found.begin(), found.end(), [](const moment* a, const moment* b) {
    return a->depth != b->depth ? a->depth < b->depth : std::less<>()(a, b);
  });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

double frontier::done() const {
  std::unordered_map<const moment*, double> shares;  // Of all, behind each way of a moment.
  double done = 0;
  for (const moment* m : all()) {
    const auto [begun, ways] = m->is_value()
                                   ? std::pair<std::size_t, std::size_t>(m->begun, m->values)
                                   : std::pair(m->tried.size(), m->wanted.size() + 1);
    const double share = (m->before ? shares[m->before] : 1) / static_cast<double>(ways);
    shares[m] = share;
    done += share * (static_cast<double>(begun) - m->users);
  }
  return done;
}

void frontier::save(std::ostream& out) const {
  const auto moments = all();
  std::unordered_map<const moment*, std::size_t> number;
  out << moments.size() << '\n';
  for (const moment* m : moments) {
    out << (m->before ? number[m->before] : nowhere) << ' ';
    m->save(out);
    out << '\n';
    number.emplace(m, number.size());
  }
}

bool frontier::load(std::istream& in) {
  begun_ = true;
  std::size_t size = 0;
  if (!(in >> size) || size > most) return false;
  for (std::size_t i = 0; i < size; ++i) {
    moment& m = loaded_.emplace_back();
    std::size_t before = 0;
    if (!(in >> before) || !m.load(in)) return false;
    if (before == nowhere) continue;
    if (before >= i || !leads_somewhere(loaded_[before], m.way)) return false;
    m.before = &loaded_[before];
    m.depth = m.before->depth + 1;
    ++m.before->users;
  }
  for (moment& m : loaded_) {
    if (m.users == 0) ends_.push_back(&m);
  }
  return true;
}

}  // namespace troupe::detail
