// actor.hpp - state with a mailbox in front of it.
//
//     struct add { int n; };
//     struct get { using answer_type = int; reply<int> to; };
//
//     class counter final : public actor<counter, add, get> {
//      public:
//       explicit counter(runtime& rt) : actor(rt, "counter") {}
//       void on(add m) { total_ += m.n; }               // a plain function,
//       task<> on(get m) { m.to.set(total_); co_return; }   // or a coroutine
//      private:
//       int total_ = 0;
//     };
//
//     counter c{rt};
//     c.tell(add{5});
//     int n = co_await c.ask<get>();
//     co_await c.stop();
//
// Guarantees
//   serial  at most one on() runs or is suspended at a time: handlers need no locks and
//           may assert their invariants throughout;
//   fifo    messages from one sender arrive in the order they were sent; messages from
//           different senders arrive in any order, and simulation tries them all;
//   closed  a message the actor does not list does not compile;
//   steady  a message is recycled memory: the heap is asked for nothing.
//
// A message with `using commutes = void;` says that those of the actor may come in any order among
// each other. Simulation then tries one order, and checks that another one leaves the same
// `state()`, which std::hash understands:
//
//     struct add { using commutes = void; int n; };
//     int state() const { return total_; }            // of the actor
//
// An exception out of a handler ends the actor: the mail it has not taken and all later
// mail is dropped, so that whoever asked gets errc::broken_reply, and stop() throws it.
//
// An actor lives on one line of its runtime and is destroyed after stop(), or when
// nothing runs on the runtime. Mail that it never took is dropped.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "troupe/actors/mailbox.hpp"
#include "troupe/actors/reply.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/runtime.hpp"

namespace troupe {

namespace detail {

template <class Message>
concept commuting = requires { typename Message::commutes; };

template <class T>
std::uint64_t hash_of(const T& value) {
  return std::hash<T>()(value);
}
template <class Actor>
concept has_state =
    requires(const Actor& a) { std::hash<std::remove_cvref_t<decltype(a.state())>>()(a.state()); };

}  // namespace detail

template <class Derived, class... Messages>
class actor {
  template <class Message>
  static constexpr bool understood = (std::same_as<Message, Messages> || ...);

 public:
  actor(const actor&) = delete;
  actor& operator=(const actor&) = delete;

  /// Puts `message` into the mailbox and returns. From any thread; never runs a handler.
  template <class Message>
  void tell(Message message) {
    static_assert(understood<Message>,
                  "troupe: this actor does not understand this message: list its type among the "
                  "arguments of actor<Derived, Messages...> and write an on() for it");
    mailbox_->post(*letter<Message>::make(*mailbox_, std::move(message)));
  }

  /// Sends Message(args..., reply) and awaits the answer.
  template <class Message, class... Args>
  task<typename Message::answer_type> ask(Args... args) {
    detail::answer_in_passing<typename Message::answer_type> result;
    Message message(std::move(args)..., result.to());
    tell(std::move(message));
    co_return co_await result;
  }

  /// Takes the mail already sent, then no more. Afterwards the actor may be destroyed.
  /// \throws what a handler threw.
  task<> stop() { return mailbox_->stop(); }

  const party& who() const noexcept { return mailbox_->who(); }

 protected:
  /// `name` outlives the actor; with `index` it names the actor in pictures: "counter/0".
  actor(runtime& on, std::string_view name, std::uint32_t index = 0)
      : actor(on.state(), name, index, detail::any_line) {}
  /// The same on a line of its own choice.
  actor(const std::shared_ptr<runtime_state>& on, std::string_view name, std::uint32_t index,
        std::size_t line)
      : mailbox_(mailbox::make(on, name, index, line, static_cast<Derived*>(this))) {}
  ~actor() { mailbox_->leave(); }  // Never deleted through the base.

 private:
  template <class Message>
  class letter final : public envelope {
   public:
    letter(mailbox& to, Message&& message)
        : envelope(to, how_it_arrives(), &letter::open), message_(std::move(message)) {}

    static letter* make(mailbox& to, Message&& message) {
      return new (detail::recycling_allocate(sizeof(letter))) letter(to, std::move(message));
    }

   private:
    static constexpr auto how_it_arrives() noexcept {
      using answer = decltype(std::declval<Derived&>().on(std::declval<Message>()));
      if constexpr (detail::commuting<Message>) {
        return &envelope::arrive_in_any_order;
      } else if constexpr (std::is_void_v<answer>) {
        return &letter::arrive_plainly;
      } else {
        return &envelope::arrive;
      }
    }

    /// Most letters find a plain handler and an actor that is free: one call, and no coroutine.
    static void arrive_plainly(event& self, turn how) noexcept {
      auto& mine = static_cast<letter&>(self);
      mailbox& to = mine.to_;
      if (how != turn::take || !to.is_free()) [[unlikely]] {
        envelope::arrive(self, how);
        return;
      }
      to.read(mine.own_, [&] {
        Message message = take_out(mine);
        if (auto* const whom = static_cast<Derived*>(to.addressee())) whom->on(std::move(message));
      });
    }

    static Message take_out(letter& mine) {
      Message message(std::move(mine.message_));
      mine.~letter();
      detail::recycling_free(&mine, sizeof(letter));
      return message;
    }

    static task<> open(envelope& self, mailbox& to) {
      Message message = take_out(static_cast<letter&>(self));
      auto* const whom = static_cast<Derived*>(to.addressee());
      if (!whom) return task<>();
      if constexpr (std::is_void_v<decltype(whom->on(std::move(message)))>) {
        whom->on(std::move(message));
        if constexpr (detail::commuting<Message>) keep_state(to);
        return task<>();
      } else {
        static_assert(!detail::commuting<Message>,
                      "troupe: the handler of a message that commutes is a plain function: while a "
                      "coroutine is suspended, others wait");
        return whom->on(std::move(message));
      }
    }

    static void keep_state(mailbox& to) {
      static_assert(detail::has_state<Derived>,
                    "troupe: an actor whose messages commute has a `state() const`, of a type that "
                    "std::hash understands, so that simulation can check that they do");
      if (!footprint::wanted()) return;
      const auto* const left = static_cast<const Derived*>(to.addressee());
      if (left) to.keep_state(detail::hash_of(left->state()));
    }

    Message message_;
  };

  mailbox* mailbox_;
  // Senders read that, and handlers write to the members of `Derived`, which follow: a line of
  // cache between them, however the actor is aligned, or each letter would wait for two of them.
  [[maybe_unused]] std::byte apart_[64 - sizeof(mailbox*)];
};

}  // namespace troupe
