// taskflow.hpp - the one door to Taskflow.

#pragma once

#include <taskflow/taskflow.hpp>
