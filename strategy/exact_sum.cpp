// exact_sum.cpp - carries, and the one rounding of an exact sum.

#include "troupe/strategy/reductions/exact_sum.hpp"

#include <cmath>
#include <vector>

#include "troupe/core/contract.hpp"

namespace troupe::detail {

namespace {

constexpr std::uint64_t digit_mask = 0xffff'ffff;

/// A magnitude in digits of 32 bits, the least first, times 2^lowest.
class magnitude {
 public:
  explicit magnitude(std::span<const std::int64_t> digits, int lowest) : lowest_(lowest) {
    negative_ = digits.back() < 0;
    std::uint64_t borrow = negative_ ? 1 : 0;
    for (const std::int64_t each : digits.first(digits.size() - 1)) {
      push(negative_ ? ~static_cast<std::uint64_t>(each) : static_cast<std::uint64_t>(each),
           borrow);
    }
    // The last one has 64 bits.
    const auto last = static_cast<std::uint64_t>(digits.back());
    const std::uint64_t top = negative_ ? ~last : last;
    push(top, borrow);
    push(top >> 32, borrow);
  }

  bool negative() const noexcept { return negative_; }

  /// Four more digits of the quotient, of which two are there in any case: enough to round any
  /// type. What is left is remembered as not nothing.
  void divide_by(std::uint64_t count) {
    constexpr std::size_t more = 4;
    digits_.insert(digits_.begin(), more, 0);
    lowest_ -= static_cast<int>(32 * more);
    __extension__ using wide = unsigned __int128;
    wide rest = 0;
    for (std::size_t i = digits_.size(); i-- > 0;) {
      rest = rest << 32 | digits_[i];
      digits_[i] = static_cast<std::uint32_t>(rest / count);
      rest %= count;
    }
    rest_ = rest != 0;
  }

  /// The number of bits up to the highest one that is set.
  int bits() const noexcept {
    for (std::size_t i = digits_.size(); i-- > 0;) {
      if (digits_[i] != 0)
        return static_cast<int>(32 * i) + static_cast<int>(std::bit_width(digits_[i]));
    }
    return 0;
  }

  double rounded(const number_format& to) const noexcept {
    const int length = bits();
    if (length == 0) return 0.0;
    // The lowest bit that the result has room for.
    int last = length - to.digits;
    if (last + lowest_ < to.lowest) last = to.lowest - lowest_;
    std::uint64_t kept = 0;
    for (int i = length; i-- > (last > 0 ? last : 0);) kept = kept << 1 | (bit(i) ? 1u : 0u);
    if (last < 0) return scaled(kept, lowest_, to);
    const bool half = last > 0 && bit(last - 1);
    const bool more = rest_ || any_below(last - 1);
    if (half && (more || (kept & 1) != 0)) ++kept;
    return scaled(kept, last + lowest_, to);
  }

 private:
  void push(std::uint64_t digit, std::uint64_t& borrow) {
    const std::uint64_t sum = (digit & digit_mask) + borrow;
    digits_.push_back(static_cast<std::uint32_t>(sum));
    borrow = sum >> 32;
  }
  bool bit(int i) const noexcept {
    return (digits_[static_cast<std::size_t>(i / 32)] >> (i % 32) & 1) != 0;
  }
  bool any_below(int end) const noexcept {
    for (int i = 0; i < end && i < static_cast<int>(32 * digits_.size()); ++i) {
      if (bit(i)) return true;
    }
    return false;
  }
  static double scaled(std::uint64_t whole, int exponent, const number_format& to) noexcept {
    if (whole == 0) return 0.0;
    if (static_cast<int>(std::bit_width(whole)) + exponent > to.highest) {
      return std::numeric_limits<double>::infinity();
    }
    return std::ldexp(static_cast<double>(whole), exponent);
  }

  std::vector<std::uint32_t> digits_;
  int lowest_;
  bool negative_ = false;
  bool rest_ = false;
};

}  // namespace

void carry(std::span<std::int64_t> digits) noexcept {
  std::int64_t over = 0;
  for (std::int64_t& each : digits.first(digits.size() - 1)) {
    const std::int64_t whole = each + over;
    over = whole >> 32;  // Towards minus infinity: what stays is not negative.
    each = whole & static_cast<std::int64_t>(digit_mask);
  }
  digits.back() += over;
}

double round_digits(std::span<const std::int64_t> digits, int lowest, std::uint64_t count,
                    const number_format& to) noexcept {
  TROUPE_ASSERT(count != 0);
  magnitude number(digits, lowest);
  if (count != 1) number.divide_by(count);
  const double result = number.rounded(to);
  return number.negative() ? -result : result;
}

}  // namespace troupe::detail
