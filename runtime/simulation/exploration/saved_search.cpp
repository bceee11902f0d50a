// saved_search.cpp - see saved_search.hpp.

#include "runtime/simulation/exploration/saved_search.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view format = "troupe-search-5";

/// Tells this build of the program from others: what is known of the one need not hold for them.
std::uint64_t this_program() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  const auto size = fs::file_size(self, problem);
  const auto written = fs::last_write_time(self, problem).time_since_epoch().count();
  return problem ? 0 : mixed(size, static_cast<std::uint64_t>(written));
}

void save_claims(std::ostream& out, const std::vector<std::string>& claims) {
  out << claims.size() << ' ';
  for (const auto& claim : claims) out << std::quoted(claim) << ' ';
  out << '\n';
}

void load_claims(std::istream& in, std::vector<std::string>& claims) {
  std::size_t left = 0;
  in >> left;
  for (std::string claim; left > 0 && in >> std::quoted(claim); --left) claims.push_back(claim);
}

}  // namespace

bool save_search(const std::string& file, const search_state& state) {
  std::error_code problem;
  if (const auto folder = fs::path(file).parent_path(); !folder.empty()) {
    fs::create_directories(folder, problem);
  }
  const std::string fresh = file + ".new";
  {
    std::ofstream out(fresh);
    out.precision(std::numeric_limits<double>::max_digits10);
    const exploration& r = state.result;
    out << format << ' ' << mixed(this_program(), state.of_world) << ' ' << r.schedules << ' '
        << r.redundant << ' ' << r.sequences << ' ' << state.sequences_known << ' ' << r.trace
        << ' ' << r.taken.count() << ' ' << r.steps << '\n';
    save_claims(out, state.made);
    save_claims(out, state.met);
    out << state.orders.size() << ' ';
    std::vector<std::uint64_t> orders;
    for (const auto& each : state.orders) orders.push_back(each.first);
    std::sort(orders.begin(), orders.end());
    for (const auto order : orders) out << order << ' ';
    out << '\n';
    state.left.save(out);
    out.flush();
    if (!out) return false;
  }
  fs::rename(fresh, file, problem);
  return !problem;
}

bool load_search(const std::string& file, const search_state& state) {
  if (fs::is_directory(file)) {
    throw error(errc::invalid_schedule,
                "'" + file + "' is a folder, and a search is kept in a file",
                "name a file in it: simulation_options::frontier");
  }
  std::ifstream in(file);
  if (!in) return false;
  exploration& r = state.result;
  std::string word;
  std::int64_t taken = 0;
  std::size_t orders = 0;
  std::uint64_t program = 0;
  in >> word >> program;
  if (word == format && program != mixed(this_program(), state.of_world)) return false;
  in >> r.schedules >> r.redundant >> r.sequences >> state.sequences_known >> r.trace >> taken >>
      r.steps;
  load_claims(in, state.made);
  load_claims(in, state.met);
  in >> orders;
  for (std::uint64_t order = 0; orders > 0 && in >> order; --orders) {
    state.orders[order] = met_by_search;
  }
  if (!in || word != format || !state.left.load(in)) {
    throw error(errc::invalid_schedule, "'" + file + "' is not a search that can go on",
                "delete it: the search begins anew");
  }
  r.taken = std::chrono::nanoseconds(taken);
  return true;
}

void forget_search(const std::string& file) {
  std::error_code none;
  fs::remove(file, none);
}

}  // namespace troupe::detail
