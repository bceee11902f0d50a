// schedule.cpp - the text form of a schedule.
//
// Numbers are written least significant digit first, five bits a character; the sixth
// bit says that another character follows. Most numbers are below 32: one character.

#include "troupe/runtime/schedule.hpp"

#include "troupe/core/error.hpp"

namespace troupe {

namespace {

constexpr std::string_view alphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.";
constexpr std::string_view format = "tr1:";

void put(std::string& out, std::uint32_t number) {
  while (number >= 32) {
    out += alphabet[32 + number % 32];
    number /= 32;
  }
  out += alphabet[number];
}

std::string fixed(std::uint32_t number, int characters) {
  std::string out;
  for (; characters > 0; --characters, number >>= 6) out += alphabet[number & 63];
  return out;
}

std::uint32_t checksum(std::string_view body) {
  std::uint32_t hash = 2166136261u;  // FNV-1a: any one changed character changes it.
  for (const char c : body) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 16);
}

class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw error(errc::invalid_schedule, "'" + std::string(text_) + "' is not a schedule: " + why,
                "copy the whole string that the failing run printed, from 'tr1:' to its end");
  }

  bool done() const { return at_ == body_end_; }
  std::string_view rest() const { return text_.substr(at_, body_end_ - at_); }

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

  std::uint32_t number() {
    std::uint32_t value = 0;
    for (std::uint32_t shift = 0; shift < 32; shift += 5) {
      const auto d = digit();
      value |= (d & 31) << shift;
      if (d < 32) return value;
    }
    refuse("a number in it is too large");
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

}  // namespace

std::string to_string(const schedule& s) {
  std::string body = "d";
  for (const auto& d : s.deviations) {
    put(body, d.after);
    put(body, d.own_step * 2 + (d.link > 0 ? 1 : 0));
    put(body, d.then);
    if (d.link > 0) put(body, d.link);
  }
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
  in.end_at(dash);
  in.expect("d");
  while (!in.done()) {
    schedule::deviation d;
    d.after = in.number();
    const auto step = in.number();
    d.own_step = step / 2;
    d.then = in.number();
    if (step % 2 != 0) d.link = in.number();
    s.deviations.push_back(d);
  }
  if (text.substr(dash + 1) != fixed(checksum(body), 2)) in.refuse("its checksum does not match");
  return s;
}

}  // namespace troupe
