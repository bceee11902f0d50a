// wording.cpp - see wording.hpp.

#include "runtime/core/wording.hpp"

#include <map>

namespace troupe::detail {

std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string count_of(std::uint64_t n, std::string_view noun) {
  return with_commas(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

std::string list_of(const std::vector<std::uint32_t>& replicas) {
  const std::size_t size = replicas.size();
  std::vector<std::string> parts;
  std::size_t told = 0;
  while (told < size && parts.size() < handful) {
    std::size_t last = told;
    if (size > handful) {
      while (last + 1 < size && replicas[last + 1] == replicas[last] + 1) ++last;
    }
    const std::string first = std::to_string(replicas[told]);
    parts.push_back(last == told ? first : first + "-" + std::to_string(replicas[last]));
    told = last + 1;
  }
  if (told < size) parts.push_back(with_commas(size - told) + " more");
  std::string text = size == 1 ? "replica " : "replicas ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
}

std::vector<std::string> told_apart(const std::vector<place>& places) {
  struct spot {
    place first;
    bool several = false;
  };
  std::map<std::string, spot> lines;
  for (const place& at : places) {
    spot& here = lines.try_emplace(to_string(at), spot{at}).first->second;
    here.several = here.several || !same_place(here.first, at);
  }
  std::vector<std::string> texts;
  for (const place& at : places) {
    std::string& text = texts.emplace_back(to_string(at));
    if (lines.at(text).several) text += ":" + std::to_string(at.column());
  }
  return texts;
}

}  // namespace troupe::detail
