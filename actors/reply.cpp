// reply.cpp - the two ways an answer fails to come.

#include "troupe/actors/reply.hpp"

#include <cerrno>

namespace troupe::detail {

void throw_reply_cancelled() {
  throw std::system_error(std::error_code(ECANCELED, std::system_category()),
                          "the task was stopped while it waited for a reply");
}

std::exception_ptr broken_reply() {
  return std::make_exception_ptr(
      error(errc::broken_reply, "a message was dropped without its answer",
            "answer every message that carries a reply; an actor that failed, was stopped or is "
            "gone drops its mail"));
}

}  // namespace troupe::detail
