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

schedule::party_name party_names::name_of(std::uint32_t birth) const {
  if (birth == nobody) return {};
  if (names_.size() <= birth) give_names();
  return names_[birth];
}

void party_names::give_names() const {
  if (latest_.size() < 2 * births_.size()) {
    latest_.clear();
    names_.clear();
    std::size_t places = 32;
    while (places < 4 * births_.size()) places *= 2;
    latest_.resize(places, nobody);
  }
  const std::size_t mask = latest_.size() - 1;
  while (names_.size() < births_.size()) {
    const origin& fresh = births_[names_.size()];
    schedule::party_name name{schedule::kind_of(fresh.kind), fresh.index, 0};
    std::size_t at = (name.index * 32 + name.kind) * std::size_t{0x9e3779b1u} >> 7 & mask;
    const auto is_other = [&](const schedule::party_name& before) {
      return before.kind != name.kind || before.index != name.index;
    };
    while (latest_[at] != nobody && is_other(names_[latest_[at]])) at = (at + 1) & mask;
    if (latest_[at] != nobody) name.life = names_[latest_[at]].life + 1;
    latest_[at] = static_cast<std::uint32_t>(names_.size());
    names_.push_back(name);
  }
}

}  // namespace troupe::detail
