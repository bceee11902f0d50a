// troupe.hpp - everything, for programs; headers of the library include what they use.

#pragma once

#include "troupe/actors/actor.hpp"
#include "troupe/core/error.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/await_asio.hpp"
#include "troupe/runtime/block_on.hpp"
#include "troupe/runtime/launch.hpp"
#include "troupe/runtime/runtime.hpp"
#include "troupe/runtime/simulation.hpp"
#include "troupe/runtime/timer.hpp"
#include "troupe/runtime/use_task.hpp"
#include "troupe/runtime/when_all.hpp"
#include "troupe/strategy/central_storage_strategy.hpp"
#include "troupe/strategy/default_strategy.hpp"
#include "troupe/strategy/equivalence.hpp"
#include "troupe/strategy/extended.hpp"
#include "troupe/strategy/mirrored_strategy.hpp"
#include "troupe/strategy/one_device_strategy.hpp"
#include "troupe/strategy/strategy.hpp"
#include "troupe/strategy/values/input_context.hpp"
#include "troupe/strategy/variables/create_variable.hpp"
