// strategies.hpp - one program under the strategies that the model's tests combine.
//
// The model's D, O, S2, C2 are the default strategy, one device, two mirrored replicas and two
// with central storage. Three replicas of both kinds are here, too.

#pragma once

#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test {

class every_strategy {
 public:
  explicit every_strategy(runtime& rt)
      : one_(rt),
        mirrored_two_(rt, 2),
        central_two_(rt, 2),
        mirrored_three_(rt, 3),
        central_three_(rt, 3) {}

  /// The default one, one device, two mirrored, two central, three mirrored, three central.
  std::vector<const strategy*> all() const {
    return {&get_default_strategy(), &one_,          &mirrored_two_, &central_two_,
            &mirrored_three_,        &central_three_};
  }
  /// The model's four.
  std::vector<const strategy*> four() const {
    return {&get_default_strategy(), &one_, &mirrored_two_, &central_two_};
  }

 private:
  one_device_strategy one_;
  mirrored_strategy mirrored_two_;
  central_storage_strategy central_two_;
  mirrored_strategy mirrored_three_;
  central_storage_strategy central_three_;
};

/// What `program` gives under each of them, in their order.
template <class Answer>
task<std::vector<Answer>> answers_under(std::vector<const strategy*> strategies,
                                        task<Answer> (*program)(const strategy&)) {
  std::vector<Answer> answers;
  for (const strategy* const each : strategies) {
    Answer answer = co_await program(*each);
    answers.push_back(std::move(answer));
  }
  co_return answers;
}

}  // namespace troupe::test
