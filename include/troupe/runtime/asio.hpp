// asio.hpp - the one door to Asio in troupe's public headers, kept narrow.
//
// Users include the Asio headers they use themselves; this file brings only what the
// library's own interfaces mention.

#pragma once

#include <asio/any_completion_handler.hpp>
#include <asio/any_io_executor.hpp>
#include <asio/append.hpp>
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/associated_immediate_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/prefer.hpp>
#include <asio/system_executor.hpp>
#include <asio/version.hpp>

static_assert(ASIO_VERSION >= 103000, "troupe needs Asio 1.30 or later");
