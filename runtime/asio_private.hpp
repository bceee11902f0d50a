// asio_private.hpp - the door to the Asio headers that only sources need.

#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/thread_pool.hpp>

#include "troupe/runtime/asio.hpp"
