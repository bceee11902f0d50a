// frontier.cpp - the search for orders as text: where it is, and what it has seen.
//
// Keys are the same in every run and every build of a program, so that another process can go on.

#include <cstddef>
#include <istream>
#include <ostream>
#include <vector>

#include "runtime/simulation/partial_order/every_order.hpp"

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

}  // namespace

void every_order::candidate::save(std::ostream& out) const {
  out << link << ' ' << owner << ' ' << line << ' ';
  save_list(out, touches, [&](const logged_touch& t) {
    out << t.thing << ' ' << static_cast<unsigned>(t.how) << ' ' << static_cast<unsigned>(t.is)
        << ' ' << t.number << ' ';
  });
}

bool every_order::candidate::load(std::istream& in) {
  in >> link >> owner >> line;
  return load_list(in, touches, [&](logged_touch& t) {
    unsigned how = 0;
    unsigned is = 0;
    in >> t.thing >> how >> is >> t.number;
    t.how = static_cast<touch>(how);
    t.is = static_cast<logged_touch::what>(is);
    return in && how <= static_cast<unsigned>(touch::conclude) && is <= 2;
  });
}

void every_order::save(std::ostream& out) const {
  const auto write = [&](const candidate& c) { c.save(out); };
  out << size_ << ' ' << changed_ << '\n';
  for (std::size_t i = 0; i < size_; ++i) {
    const moment& m = moments_[i];
    out << m.is_value << ' ' << m.step << ' ' << m.value << ' ' << m.values << ' ';
    write(m.taken);
    save_list(out, m.done, write);
    save_list(out, m.asleep, write);
    save_list(out, m.wanted, [&](step_key key) { out << key << ' '; });
    out << '\n';
  }
}

bool every_order::load(std::istream& in) {
  const auto read = [&](candidate& c) { return c.load(in); };
  if (!(in >> size_ >> changed_) || size_ > most || changed_ > size_) return false;
  moments_.clear();
  for (std::size_t i = 0; i < size_; ++i) {
    moment& m = moments_.emplace_back();
    in >> m.is_value >> m.step >> m.value >> m.values;
    const bool whole = read(m.taken) && load_list(in, m.done, read) &&
                       load_list(in, m.asleep, read) &&
                       load_list(in, m.wanted, [&](step_key& key) { return bool(in >> key); });
    if (!whole) return false;
  }
  return true;
}

}  // namespace troupe::detail
