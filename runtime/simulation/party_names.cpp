// party_names.cpp - see party_names.hpp.

#include "runtime/simulation/party_names.hpp"

namespace troupe {

std::uint32_t schedule::kind_of(std::string_view kind) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const char c : kind) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 1 + (hash >> 7) % 31;  // These bits tell the library's own kinds apart.
}

}  // namespace troupe

namespace troupe::detail {

void party_names::enroll(const party& who) {
  if (births_.size() <= who.id) births_.resize(who.id + 1, nobody);
  births_[who.id] = static_cast<std::uint32_t>(all_.size());
  all_.push_back({schedule::kind_of(who.kind), who.index, 0});
}

schedule::party_name party_names::name_of(std::uint32_t birth) const {
  if (birth == nobody) return {};
  if (counted_ <= birth) count_lives();
  return all_[birth];
}

void party_names::count_lives() const {
  if (latest_.size() < 2 * all_.size()) {
    latest_.clear();
    counted_ = 0;
    std::size_t places = 32;
    while (places < 4 * all_.size()) places *= 2;
    latest_.resize(places, nobody);
  }
  const std::size_t mask = latest_.size() - 1;
  for (; counted_ < all_.size(); ++counted_) {
    auto& fresh = all_[counted_];
    std::size_t at = (fresh.index * 32 + fresh.kind) * std::size_t{0x9e3779b1u} >> 7 & mask;
    const auto is_other = [&](const schedule::party_name& before) {
      return before.kind != fresh.kind || before.index != fresh.index;
    };
    while (latest_[at] != nobody && is_other(all_[latest_[at]])) at = (at + 1) & mask;
    fresh.life = latest_[at] == nobody ? 0 : all_[latest_[at]].life + 1;
    latest_[at] = counted_;
  }
}

}  // namespace troupe::detail
