// caf_stream.cpp - a stream of messages from one actor to another in CAF 0.17, on two workers.

#include <caf/all.hpp>

#include "bench/contenders.hpp"
#include "bench/stream.hpp"

namespace troupe::bench {

namespace {

using next_batch_atom = caf::atom_constant<caf::atom("next")>;

struct sender_state {
  std::uint64_t sent = 0;
};

caf::behavior sender(caf::stateful_actor<sender_state>* self) {
  return {[self](next_batch_atom, const caf::actor& to) {
    for (std::uint64_t i = 0; i < stream_batch; ++i) {
      self->send(to, self->state.sent++);
    }
  }};
}

struct outcome {
  stream_length length;
  stopwatch watch{};
  std::uint64_t received = 0;
  bool in_order = true;
};

caf::behavior receiver(caf::event_based_actor* self, outcome* result, caf::actor from) {
  for (std::uint64_t i = 0; i < stream_ahead; ++i) {
    self->send(from, next_batch_atom::value, caf::actor_cast<caf::actor>(self));
  }
  return {[self, result, from](std::uint64_t number) {
    result->in_order = result->in_order && number == result->received;
    if (++result->received % stream_batch != 0) return;
    if (result->received == result->length.warm_up) result->watch.start();
    if (result->received + stream_ahead * stream_batch <= result->length.all()) {
      self->send(from, next_batch_atom::value, caf::actor_cast<caf::actor>(self));
    }
    if (result->received == result->length.all()) {
      result->watch.stop();
      self->send_exit(from, caf::exit_reason::user_shutdown);
      self->quit();
    }
  }};
}

double run_stream(std::uint64_t messages) {
  // A system of its own per sample: idle CAF workers poll, which would disturb everybody else.
  caf::actor_system_config config;
  config.set("scheduler.max-threads", std::size_t{2});
  caf::actor_system system(config);
  outcome result{.length = stream_length(messages)};
  {
    const caf::actor from = system.spawn(sender);
    const caf::actor to = system.spawn(receiver, &result, from);
    caf::scoped_actor self(system);
    self->wait_for(to);
  }
  expect_equal("messages", result.received, result.length.all());
  expect_equal("messages in order", result.in_order, true);
  return result.length.share(result.watch.nanoseconds(), messages);
}

}  // namespace

void add_caf_stream(table& contest) { contest.contenders.push_back({"caf_2_workers", run_stream}); }

}  // namespace troupe::bench
