// per_replica.hpp - one value for each replica.
//
//     per_replica<int> r = co_await strategy.run(step, 3);
//     int first = r[0];
//     for (int v : r) ...
//     std::cout << r;                     // [10, 11]
//
// Index = replica id. It is what run() returns, what merge functions receive, and what
// gives each replica its own value when it is an argument of run() or the result of a
// merge function.
//
// Guarantees
//   contiguous  the values lie one after the other, bools included;
//   steady      memory is recycled: a value per round asks the heap for nothing.

#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "troupe/core/contract.hpp"
#include "troupe/core/recycling.hpp"

namespace troupe {

template <class T>
class per_replica {
  using allocator = std::conditional_t<alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                                       recycling_allocator<T>, std::allocator<T>>;

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  per_replica() noexcept = default;
  per_replica(std::initializer_list<T> values) : per_replica(values.begin(), values.end()) {}
  template <std::forward_iterator I, std::sentinel_for<I> S>
  per_replica(I first, S last) {
    reserve(static_cast<std::size_t>(std::ranges::distance(first, last)));
    for (; first != last; ++first) append(*first);
  }
  per_replica(const per_replica& other) : per_replica(other.begin(), other.end()) {}
  per_replica(per_replica&& other) noexcept
      : values_(std::exchange(other.values_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  per_replica& operator=(per_replica other) noexcept {
    swap(other);
    return *this;
  }
  ~per_replica() {
    std::destroy_n(values_, size_);
    if (values_) allocator().deallocate(values_, capacity_);
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The value of replica `id`. \pre 0 <= id < size().
  template <std::integral I>
  T& operator[](I id) noexcept {
    return values_[static_cast<std::size_t>(id)];
  }
  template <std::integral I>
  const T& operator[](I id) const noexcept {
    return values_[static_cast<std::size_t>(id)];
  }

  T* data() noexcept { return values_; }
  const T* data() const noexcept { return values_; }
  iterator begin() noexcept { return values_; }
  iterator end() noexcept { return values_ + size_; }
  const_iterator begin() const noexcept { return values_; }
  const_iterator end() const noexcept { return values_ + size_; }

  void swap(per_replica& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  friend bool operator==(const per_replica& a, const per_replica& b)
    requires std::equality_comparable<T>
  {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  /// Takes over `n` values in memory that this type would have allocated for as many.
  static per_replica from_memory(T* values, std::size_t n) noexcept {
    per_replica made;
    made.values_ = values;
    made.size_ = made.capacity_ = n;
    return made;
  }

  /// The other way round: its memory, if there is room for just `n` values in it; null otherwise.
  T* to_memory(std::size_t n) noexcept
    requires std::is_trivially_destructible_v<T>
  {
    if (capacity_ != n) return nullptr;
    size_ = capacity_ = 0;
    return std::exchange(values_, nullptr);
  }

  /// Whether that would be `memory`.
  bool is_memory(const void* memory, std::size_t n) const noexcept {
    return (capacity_ == n) & (values_ == memory);
  }

  /// Room for `n` values, to be filled in replica order by append().
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    TROUPE_ASSERT(size_ == 0);
    if (values_) allocator().deallocate(std::exchange(values_, nullptr), capacity_);
    values_ = allocator().allocate(n);
    capacity_ = n;
  }

  template <class... A>
  T& append(A&&... arguments) {
    TROUPE_ASSERT(size_ < capacity_);
    T* const made = std::construct_at(values_ + size_, std::forward<A>(arguments)...);
    ++size_;
    return *made;
  }

  /// Fills in replica order what had room made for it; keeps the end in a register.
  class filler {
   public:
    explicit filler(per_replica& into) noexcept : into_(into), end_(into.end()) {}
    filler(const filler&) = delete;
    filler& operator=(const filler&) = delete;
    ~filler() { into_.size_ = static_cast<std::size_t>(end_ - into_.values_); }

    template <class... A>
    void append(A&&... arguments) {
      std::construct_at(end_, std::forward<A>(arguments)...);
      ++end_;
    }

   private:
    per_replica& into_;
    T* end_;
  };

 private:
  T* values_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// "[10, 11]".
template <class C, class Traits, class T>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out,
                                          const per_replica<T>& values)
  requires requires { out << values[0]; }
{
  out << '[';
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ", ") << values[i];
  return out << ']';
}

template <class T>
inline constexpr bool is_per_replica = false;
template <class T>
inline constexpr bool is_per_replica<per_replica<T>> = true;

}  // namespace troupe
