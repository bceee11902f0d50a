// small_vector.hpp - a row of plain values that mostly are few.
//
// A world of a simulation is made and dropped in two microseconds. What it keeps of its parties
// and of their events lies in the world itself, unless there turn out to be many.
//
// Guarantees
//   near    the first `room` values take no memory but the vector's own;
//   growing what is more lies in recycled memory, twice as much each time, and stays there;
//   strong  a push_back() or reserve() that throws has changed nothing.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "troupe/core/recycling.hpp"

namespace troupe::detail {

template <class T, std::size_t room>
class small_vector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "troupe: a small_vector moves its values as bytes");
  static_assert(room > 0);

 public:
  small_vector() noexcept {}
  small_vector(const small_vector&) = delete;
  small_vector& operator=(const small_vector&) = delete;
  ~small_vector() { give_back(); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  T* begin() noexcept { return values_; }
  T* end() noexcept { return values_ + size_; }
  const T* begin() const noexcept { return values_; }
  const T* end() const noexcept { return values_ + size_; }
  T& operator[](std::size_t i) noexcept { return values_[i]; }
  const T& operator[](std::size_t i) const noexcept { return values_[i]; }
  T& back() noexcept { return values_[size_ - 1]; }

  void reserve(std::size_t wanted) {
    if (wanted > capacity_) grow(wanted);
  }
  void push_back(const T& value) {
    if (size_ == capacity_) [[unlikely]]
      return push_back_growing(value);
    std::construct_at(values_ + size_, value);
    ++size_;
  }
  void pop_back() noexcept { --size_; }
  /// The values behind it move up.
  void erase(std::size_t i) noexcept {
    std::copy(values_ + i + 1, values_ + size_, values_ + i);
    --size_;
  }
  void clear() noexcept { size_ = 0; }

 private:
  void push_back_growing(T value) {  // A copy: it may be one of its own.
    grow(2 * capacity_);
    push_back(value);
  }
  void grow(std::size_t capacity) {
    recycling_allocator<T> memory;
    T* const more = memory.allocate(capacity);
    std::uninitialized_copy(begin(), end(), more);
    give_back();
    values_ = more;
    capacity_ = capacity;
  }
  void give_back() noexcept {
    if (capacity_ > room) recycling_allocator<T>().deallocate(values_, capacity_);
  }

  union {
    T near_[room];
  };
  T* values_ = near_;
  std::size_t size_ = 0;
  std::size_t capacity_ = room;
};

}  // namespace troupe::detail
