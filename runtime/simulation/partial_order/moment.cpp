// moment.cpp - see moment.hpp.

#include "runtime/simulation/partial_order/moment.hpp"

#include <algorithm>
#include <cstddef>
#include <istream>
#include <ostream>

#include "runtime/simulation/partial_order/partial_order.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t most = std::size_t{1} << 24;  // Of anything: a damaged file asks for more.

template <class List, class Write>
void save_list(std::ostream& out, const List& list, Write&& write) {
  out << list.size() << ' ';
  for (const auto& each : list) write(each);
}

template <class List, class Read>
bool load_list(std::istream& in, List& list, Read&& read) {
  std::size_t size = 0;
  if (!(in >> size) || size > most) return false;
  list.clear();
  for (std::size_t i = 0; i < size; ++i) {
    if (!read(list.emplace_back())) return false;
  }
  return true;
}

/// What is wanted and was not begun; the end if there is none.
auto first_left(const moment& at) noexcept {
  return std::find_if(at.wanted.begin(), at.wanted.end(),
                      [&](step_key link) { return !has_link(at.tried, link); });
}

}  // namespace

bool candidate::depends_on(const candidate& other) const noexcept {
  if (owner == other.owner) return true;
  for (const auto& mine : touches) {
    if (mine.thing == other.owner || mine.thing == other.line) return true;
    for (const auto& theirs : other.touches) {
      if (mine.thing == theirs.thing && !commute(mine.how, theirs.how)) return true;
    }
  }
  return std::any_of(other.touches.begin(), other.touches.end(), [&](const logged_touch& theirs) {
    return theirs.thing == owner || theirs.thing == line;
  });
}

void candidate::add(const step_log& log, std::size_t step) {
  const auto& s = log.steps()[step];
  // A letter that commutes may have been kept, or late, when something else was chosen.
  if (owner == 0 || !log.is_lane(s.owner)) owner = log.key_of(s.owner);
  line = step_log::line_key(s.line);
  for (const auto& t : log.touches(step)) {
    const auto same = [&](const auto& known) {
      return known.thing == t.thing && known.how == t.how;
    };
    if (std::none_of(touches.begin(), touches.end(), same)) touches.push_back(t);
  }
}

bool moment::has_left() const noexcept {
  return is_value() ? begun < values : first_left(*this) != wanted.end();
}

bool moment::is_ready() const noexcept {
  const auto whole = [](const candidate& c) { return c.whole; };
  return is_value() || std::all_of(tried.begin(), tried.end(), whole);
}

void moment::learn_whole(std::uint32_t by) noexcept {
  moment* at = this;
  for (; at->is_value(); at = at->before) {
    if (++at->known < at->values || !at->before) return;
    by = at->way;
  }
  at->tried[by].whole = true;
}

std::uint32_t moment::begin() {
  if (is_value()) return begun++;
  const step_key link = *first_left(*this);
  tried.emplace_back().link = link;
  return static_cast<std::uint32_t>(tried.size() - 1);
}

bool moment::leads_to(step_key link) const noexcept {
  return has_link(tried, link) || has_link(asleep, link) ||
         std::find(wanted.begin(), wanted.end(), link) != wanted.end();
}

void moment::become_new(std::uint32_t of_values, std::uint32_t in_step) {
  users = 0;
  step = in_step;
  values = of_values;
  begun = is_value() ? 1 : 0;
  known = 0;
  tried.resize(1);
  tried.front().owner = 0;
  tried.front().touches.clear();
  tried.front().whole = false;
  asleep.clear();
  wanted.clear();
}

// -- as text -------------------------------------------------------------------------------------

void candidate::save(std::ostream& out) const {
  out << link << ' ' << owner << ' ' << line << ' ' << whole << ' ';
  save_list(out, touches, [&](const logged_touch& t) {
    out << t.thing << ' ' << static_cast<unsigned>(t.how) << ' ' << static_cast<unsigned>(t.is)
        << ' ' << t.number << ' ';
  });
}

bool candidate::load(std::istream& in) {
  in >> link >> owner >> line >> whole;
  return load_list(in, touches, [&](logged_touch& t) {
    unsigned how = 0;
    unsigned is = 0;
    in >> t.thing >> how >> is >> t.number;
    t.how = static_cast<touch>(how);
    t.is = static_cast<logged_touch::what>(is);
    return in && how <= static_cast<unsigned>(touch::conclude) && is <= 2;
  });
}

void moment::save(std::ostream& out) const {
  const auto write = [&](const candidate& c) { c.save(out); };
  out << way << ' ' << step << ' ' << values << ' ' << begun << ' ' << known << ' ';
  save_list(out, tried, write);
  save_list(out, asleep, write);
  save_list(out, wanted, [&](step_key key) { out << key << ' '; });
}

bool moment::load(std::istream& in) {
  const auto read = [&](candidate& c) { return c.load(in); };
  in >> way >> step >> values >> begun >> known;
  return load_list(in, tried, read) && load_list(in, asleep, read) &&
         load_list(in, wanted, [&](step_key& key) { return bool(in >> key); }) && begun <= values;
}

}  // namespace troupe::detail
