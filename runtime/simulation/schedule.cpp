// schedule.cpp - the text form of a schedule.
//
// The body is a string of bits, six a character, the lowest first; a last one and zeros fill
// the last character. Small numbers take few bits, and who was named before is named again by
// a place in the list of all names so far.

#include "troupe/runtime/schedule.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "troupe/core/error.hpp"

namespace troupe {

namespace {

constexpr std::string_view alphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.";
constexpr std::string_view format = "tr1:";

// How many bits the smallest numbers of a kind have.
constexpr unsigned step_bits = 3;
constexpr unsigned index_bits = 1;
constexpr unsigned life_bits = 0;
constexpr unsigned kind_bits = 5;

std::string fixed(std::uint32_t number, int characters) {
  std::string out;
  for (; characters > 0; --characters, number >>= 6) out += alphabet[number & 63];
  return out;
}

/// A cyclic code of 12 bits: any one changed character changes it.
std::uint32_t checksum(std::string_view body) {
  std::uint32_t rest = 0xfff;
  for (const char c : body) {
    rest ^= std::uint32_t{static_cast<unsigned char>(c)} << 4;
    for (int i = 0; i < 8; ++i) rest = (rest << 1) ^ ((rest & 0x800) != 0 ? 0x180fu : 0u);
  }
  return rest;
}

class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw error(errc::invalid_schedule, "'" + std::string(text_) + "' is not a schedule: " + why,
                "copy the whole string that the failing run printed, from 'tr1:' to its end");
  }

  bool done() const { return at_ == body_end_; }

  void expect(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) refuse("it lacks '" + std::string(token) + "'");
    at_ += token.size();
  }

  std::uint32_t digit() {
    const auto value = done() ? alphabet.npos : alphabet.find(text_[at_]);
    if (value == alphabet.npos) refuse("it breaks off at character " + std::to_string(at_ + 1));
    ++at_;
    return static_cast<std::uint32_t>(value);
  }

  std::uint32_t fixed_number(int characters) {
    std::uint32_t value = 0;
    for (int i = 0; i < characters; ++i) value |= digit() << (6 * i);
    return value;
  }

  void end_at(std::size_t end) { body_end_ = end; }
  std::size_t at() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t body_end_ = text_.size();
};

/// Numbers as bits: one below 2^least is a zero and `least` bits; for each further bit that it
/// needs there is a one before the zero (exponential Golomb codes).
class bit_writer {
 public:
  void put(std::uint32_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) bits_.push_back((value >> i & 1) != 0);
  }
  void number(std::uint32_t value, unsigned least) {
    const std::uint64_t raised = value + (std::uint64_t{1} << least);
    const auto width = static_cast<unsigned>(std::bit_width(raised)) - 1;
    for (unsigned i = least; i < width; ++i) bits_.push_back(true);
    bits_.push_back(false);
    put(static_cast<std::uint32_t>(raised - (std::uint64_t{1} << width)), width);
  }
  std::string text() && {
    if (bits_.empty()) return "";
    bits_.push_back(true);
    std::string out;
    for (std::size_t i = 0; i < bits_.size(); i += 6) {
      std::size_t six = 0;
      for (std::size_t j = i; j < std::min(i + 6, bits_.size()); ++j) {
        six |= std::size_t{bits_[j]} << (j - i);
      }
      out += alphabet[six];
    }
    return out;
  }

 private:
  std::vector<bool> bits_;
};

class bit_reader {
 public:
  /// Reads all characters that are left.
  explicit bit_reader(reader& in) : in_(in) {
    std::uint32_t six = 1;
    while (!in.done()) {
      six = in.digit();
      for (int i = 0; i < 6; ++i) bits_.push_back((six >> i & 1) != 0);
    }
    if (bits_.empty()) return;
    while (!bits_.empty() && !bits_.back()) bits_.pop_back();
    if (six == 0 || bits_.size() == 1) in.refuse("it breaks off at its end");
    bits_.pop_back();
  }

  bool done() const { return at_ == bits_.size(); }

  std::uint32_t take(unsigned bits) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < bits; ++i) value |= std::uint32_t{bit()} << i;
    return value;
  }
  std::uint32_t number(unsigned least) {
    unsigned width = least;
    while (bit()) ++width;
    if (width > 32) too_large();
    std::uint64_t raised = std::uint64_t{1} << width;
    for (unsigned i = 0; i < width; ++i) raised += std::uint64_t{bit()} << i;
    const std::uint64_t value = raised - (std::uint64_t{1} << least);
    if (value > ~std::uint32_t{0}) too_large();
    return static_cast<std::uint32_t>(value);
  }
  [[noreturn]] void too_large() const { in_.refuse("a number in it is too large"); }

 private:
  bool bit() {
    if (done()) in_.refuse("it breaks off in the middle of a number");
    return bits_[at_++];
  }

  reader& in_;
  std::vector<bool> bits_;
  std::size_t at_ = 0;
};

/// What was told before, the latest first. Both sides keep the same list.
template <class T>
class told_before {
 public:
  explicit told_before(std::vector<T> known) : all_(std::move(known)) {}

  /// Writes the place of `wanted`; false if it is new, and the caller tells all of it.
  bool write(bit_writer& out, const T& wanted) {
    const auto at = std::find(all_.begin(), all_.end(), wanted);
    out.put(at == all_.end() ? 1 : 0, 1);
    if (at == all_.end()) return add(wanted), false;
    const auto place = static_cast<std::uint32_t>(at - all_.begin());
    if (place < short_ones()) {
      out.put(place, width());
    } else {
      out.put((place + short_ones()) >> 1, width());
      out.put((place + short_ones()) & 1, 1);
    }
    std::rotate(all_.begin(), at, at + 1);
    return true;
  }

  /// Nothing if it is new: the caller adds it.
  std::optional<T> read(bit_reader& in) {
    if (in.take(1) != 0) return std::nullopt;
    std::uint32_t place = in.take(width());
    if (place >= short_ones()) place = place * 2 + in.take(1) - short_ones();
    const auto at = all_.begin() + static_cast<std::ptrdiff_t>(place);
    std::rotate(all_.begin(), at, at + 1);
    return all_.front();
  }
  T add(T fresh) { return *all_.insert(all_.begin(), fresh); }

 private:
  // Of the places the first ones take a bit less than the others (truncated binary).
  unsigned width() const { return static_cast<unsigned>(std::bit_width(all_.size())) - 1; }
  std::uint32_t short_ones() const {
    return static_cast<std::uint32_t>((std::size_t{2} << width()) - all_.size());
  }

  std::vector<T> all_;
};

/// Names and kinds that a body has told so far; it begins with those that most programs have.
struct vocabulary {
  told_before<schedule::party_name> names{{{}, {schedule::kind_of("task"), 0, 0}}};
  told_before<std::uint32_t> kinds{
      {schedule::kind_of("replica"), schedule::kind_of("task"), schedule::kind_of("barrier"), 0}};

  void write(bit_writer& out, const schedule::party_name& name) {
    if (names.write(out, name)) return;
    if (!kinds.write(out, name.kind)) out.put(name.kind, kind_bits);
    out.number(name.index, index_bits);
    out.number(name.life, life_bits);
  }
  schedule::party_name read(bit_reader& in) {
    if (const auto known = names.read(in)) return *known;
    schedule::party_name name;
    const auto kind = kinds.read(in);
    name.kind = kind ? *kind : kinds.add(in.take(kind_bits));
    name.index = in.number(index_bits);
    name.life = in.number(life_bits);
    return names.add(name);
  }
};

std::string body_of(const schedule& s) {
  bit_writer out;
  vocabulary told;
  for (const auto& d : s.deviations) {
    told.write(out, d.after);
    out.number(d.own_step, step_bits);
    told.write(out, d.then);
    out.number(d.link, 0);
  }
  return std::move(out).text();
}

}  // namespace

std::string to_string(const schedule& s) {
  const std::string body = body_of(s);
  return std::string(format) + fixed(s.program, 4) + ":" + body + "-" + fixed(checksum(body), 2);
}

schedule parse_schedule(std::string_view text) {
  reader in(text);
  schedule s;
  in.expect(format);
  s.program = in.fixed_number(4);
  in.expect(":");
  const auto dash = text.rfind('-');
  if (dash == text.npos || dash < in.at()) in.refuse("it has no checksum after a '-'");
  const auto body = text.substr(in.at(), dash - in.at());
  if (text.substr(dash + 1) != fixed(checksum(body), 2)) in.refuse("its checksum does not match");
  in.end_at(dash);
  bit_reader bits(in);
  vocabulary told;
  while (!bits.done()) {
    schedule::deviation d;
    d.after = told.read(bits);
    d.own_step = bits.number(step_bits);
    d.then = told.read(bits);
    d.link = bits.number(0);
    s.deviations.push_back(d);
  }
  return s;
}

}  // namespace troupe
