// moment.cpp - see moment.hpp.

#include "runtime/simulation/partial_order/moment.hpp"

#include <algorithm>
#include <cstddef>
#include <istream>
#include <ostream>
#include <span>

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

using touches_of_step = std::span<const logged_touch>;

/// Whether a step that touches `mine` depends on another one, of another owner.
bool conflict(const candidate& one, touches_of_step mine, const candidate& other) noexcept {
  for (const auto& m : mine) {
    if (m.thing == other.owner || m.thing == other.line) return true;
    for (const auto& theirs : other.touches) {
      if (m.thing == theirs.thing && !commute(m.how, theirs.how)) return true;
    }
  }
  return std::any_of(other.touches.begin(), other.touches.end(), [&](const logged_touch& theirs) {
    return theirs.thing == one.owner || theirs.thing == one.line;
  });
}

void add_all(std::vector<logged_touch>& to, touches_of_step touches) {
  for (const auto& t : touches) {
    const auto same = [&](const auto& known) {
      return known.thing == t.thing && known.how == t.how;
    };
    if (std::none_of(to.begin(), to.end(), same)) to.push_back(t);
  }
}

/// What is wanted and was not begun; the end if there is none.
auto first_left(const moment& at) noexcept {
  return std::find_if(at.wanted.begin(), at.wanted.end(),
                      [&](step_key link) { return !has_link(at.tried, link); });
}

}  // namespace

bool candidate::depends_on(const candidate& other) const noexcept {
  return owner == other.owner || conflict(*this, touches, other);
}

void candidate::add(const step_log& log, std::size_t step) {
  const auto& s = log.steps()[step];
  // A letter that commutes may have been kept, or late, when something else was chosen.
  if (owner == 0 || !log.is_lane(s.owner)) owner = log.key_of(s.owner);
  line = step_log::line_key(s.line);
  add_all(touches, log.touches(step));
}

void candidate::add_variant(std::uint32_t of_values, std::uint32_t value, const step_log& log,
                            std::size_t step) {
  values = of_values;
  const auto same = [&](const variant& v) { return v.value == value; };
  auto known = std::find_if(variants.begin(), variants.end(), same);
  if (known == variants.end()) known = variants.insert(known, {value, {}});
  add_all(known->touches, log.touches(step));
}

bool candidate::sleeps_on_behind(const candidate& taken) {
  if (!depends_on(taken)) return true;
  if (owner == taken.owner) return false;
  in_part = true;
  std::erase_if(variants, [&](const variant& v) { return conflict(*this, v.touches, taken); });
  return !variants.empty();
}

std::uint32_t moment::next_value() const noexcept {
  std::uint32_t value = begun;
  while (std::find(spared.begin(), spared.end(), value) != spared.end()) ++value;
  return value;
}

bool moment::has_left() const noexcept {
  return is_value() ? next_value() < values : first_left(*this) != wanted.end();
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
  if (is_value()) {
    const std::uint32_t value = next_value();
    begun = value + 1;
    return value;
  }
  const step_key link = *first_left(*this);
  tried.emplace_back().link = link;
  return static_cast<std::uint32_t>(tried.size() - 1);
}

bool moment::leads_to(step_key link) const noexcept {
  return has_link(tried, link) || is_asleep(link) ||
         std::find(wanted.begin(), wanted.end(), link) != wanted.end();
}

bool moment::is_asleep(step_key link) const noexcept {
  return std::any_of(asleep.begin(), asleep.end(),
                     [&](const candidate& c) { return c.link == link && !c.in_part; });
}

void moment::spare(const candidate& asleep_in_part) {
  begun = 0;
  for (const auto& v : asleep_in_part.variants) spared.push_back(v.value);
  known = static_cast<std::uint32_t>(spared.size());
}

void moment::become_new(std::uint32_t of_values, std::uint32_t in_step) {
  users = 0;
  step = in_step;
  values = of_values;
  begun = is_value() ? 1 : 0;
  known = 0;
  tried.resize(1);
  candidate& first = tried.front();
  first.owner = 0;
  first.values = 0;
  first.whole = first.in_part = first.of_fault = false;
  first.touches.clear();
  first.variants.clear();
  asleep.clear();
  spared.clear();
  wanted.clear();
}

// -- as text -------------------------------------------------------------------------------------

namespace {

void save_touches(std::ostream& out, const std::vector<logged_touch>& touches) {
  save_list(out, touches, [&](const logged_touch& t) {
    out << t.thing << ' ' << static_cast<unsigned>(t.how) << ' ' << static_cast<unsigned>(t.is)
        << ' ' << t.number << ' ';
  });
}

bool load_touches(std::istream& in, std::vector<logged_touch>& touches) {
  return load_list(in, touches, [&](logged_touch& t) {
    unsigned how = 0;
    unsigned is = 0;
    in >> t.thing >> how >> is >> t.number;
    t.how = static_cast<touch>(how);
    t.is = static_cast<logged_touch::what>(is);
    return in && how <= static_cast<unsigned>(touch::conclude) && is <= 2;
  });
}

}  // namespace

void candidate::save(std::ostream& out) const {
  out << link << ' ' << owner << ' ' << line << ' ' << whole << ' ' << in_part << ' ' << values
      << ' ' << of_fault << ' ';
  save_touches(out, touches);
  save_list(out, variants, [&](const variant& v) {
    out << v.value << ' ';
    save_touches(out, v.touches);
  });
}

bool candidate::load(std::istream& in) {
  in >> link >> owner >> line >> whole >> in_part >> values >> of_fault;
  return load_touches(in, touches) && load_list(in, variants, [&](variant& v) {
           return in >> v.value && v.value < values && load_touches(in, v.touches);
         });
}

void moment::save(std::ostream& out) const {
  const auto write = [&](const candidate& c) { c.save(out); };
  out << way << ' ' << step << ' ' << values << ' ' << of_fault << ' ' << begun << ' ' << known
      << ' ';
  save_list(out, tried, write);
  save_list(out, asleep, write);
  save_list(out, wanted, [&](step_key key) { out << key << ' '; });
  save_list(out, spared, [&](std::uint32_t value) { out << value << ' '; });
}

bool moment::load(std::istream& in) {
  const auto read = [&](candidate& c) { return c.load(in); };
  in >> way >> step >> values >> of_fault >> begun >> known;
  return load_list(in, tried, read) && load_list(in, asleep, read) &&
         load_list(in, wanted, [&](step_key& key) { return bool(in >> key); }) &&
         load_list(in, spared,
                   [&](std::uint32_t& value) { return in >> value && value < values; }) &&
         begun <= values;
}

}  // namespace troupe::detail
