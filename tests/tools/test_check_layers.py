"""Plants each breach of the layers and expects it at its line, and not in its clean twin."""
from planted import PlantedTree

import check_layers


class Layers(PlantedTree):
    def check(self, files, *wanted):
        self.plant(files)
        self.expect(list(check_layers.breaches(self.root)), *wanted)

    def test_includes_point_down(self):
        up = "// a\n#include \"troupe/strategy/b.hpp\"\n"
        self.check({"include/troupe/actors/a.hpp": up, "include/troupe/strategy/b.hpp": ""},
                   ("include/troupe/actors/a.hpp:2", "actors may not include strategy"))
        self.check({"actors/a.cpp": up, "include/troupe/strategy/b.hpp": ""},
                   ("actors/a.cpp:2", "actors may not include strategy"))
        self.check({"include/troupe/strategy/b.hpp": "#include \"troupe/actors/a.hpp\"\n",
                    "include/troupe/actors/a.hpp": "#include \"troupe/runtime/r.hpp\"\n",
                    "include/troupe/runtime/r.hpp": "#include \"troupe/core/c.hpp\"\n",
                    "include/troupe/core/c.hpp": "#include <vector>\n"})

    def test_a_header_that_is_not_there_yet_has_its_layer(self):
        self.check({"runtime/a.cpp": '#include "troupe/actors/new.hpp"\n'},
                   ("runtime/a.cpp:1", "runtime may not include actors"))

    def test_private_includes_point_down_too(self):
        self.check({"runtime/a.cpp": '#include "actors/x.hpp"\n', "actors/x.hpp": ""},
                   ("runtime/a.cpp:1", "runtime may not include actors"))
        self.check({"runtime/a.cpp": '#include "../actors/x.hpp"\n#include "x.hpp"\n',
                    "runtime/x.hpp": ""},
                   ("runtime/a.cpp:1", "neither ours nor the standard library's"))
        self.check({"strategy/a.cpp": '#include "actors/x.hpp"\n', "actors/x.hpp": ""})

    def test_public_headers_include_no_private_ones(self):
        self.check({"include/troupe/runtime/a.hpp": '#include "runtime/x.hpp"\n',
                    "runtime/x.hpp": ""},
                   ("include/troupe/runtime/a.hpp:1", "may not include the private"))

    def test_the_gathering_header_is_for_users(self):
        gathering = {"include/troupe/troupe.hpp": '#include "troupe/strategy/b.hpp"\n',
                     "include/troupe/strategy/b.hpp": ""}
        self.check(gathering | {"strategy/b.cpp": '#include "troupe/troupe.hpp"\n'},
                   ("strategy/b.cpp:1", "gathers every layer"))
        self.check(gathering | {"samples/b.cpp": "#include <troupe/troupe.hpp>\n"})

    def test_core_includes_the_standard_library_only(self):
        self.check({"include/troupe/core/a.hpp": "#include <vector>\n#include <fmt/core.h>\n"},
                   ("include/troupe/core/a.hpp:2", "standard library and core only"))
        self.check({"include/troupe/core/a.hpp": "#include <stdint.h>\n"},
                   ("include/troupe/core/a.hpp:1", "standard library and core only"))

    def test_outsiders_include_what_is_public(self):
        self.check({"tests/unit/a.test.cpp": '#include "runtime/x.hpp"\n', "runtime/x.hpp": ""},
                   ("tests/unit/a.test.cpp:1", "is private"))
        self.check({"tests/unit/a.test.cpp": '#include "troupe/core/x.hpp"\n#include <asio.hpp>\n'
                                             '#include "tests/support/s.hpp"\n',
                    "tests/support/s.hpp": "", "include/troupe/core/x.hpp": ""})


class Doors(PlantedTree):
    def check(self, files, *wanted):
        self.plant(files)
        self.expect(list(check_layers.breaches(self.root)), *wanted)

    def test_asio(self):
        self.check({"actors/a.cpp": "\n#include <asio/post.hpp>\n"},
                   ("actors/a.cpp:2", 'include "troupe/runtime/asio.hpp" or'))
        self.check({"include/troupe/runtime/timer.hpp": "#include <asio.hpp>\n"},
                   ("include/troupe/runtime/timer.hpp:1", 'include "troupe/runtime/asio.hpp" in'))
        self.check({"include/troupe/runtime/asio.hpp": "#include <asio/post.hpp>\n",
                    "runtime/asio_private.hpp": "#include <asio/io_context.hpp>\n",
                    "samples/s.cpp": "#include <asio/post.hpp>\n",
                    "bench/b.cpp": "#include <taskflow/taskflow.hpp>\n"})

    def test_taskflow(self):
        self.check({"strategy/a.cpp": "#include <taskflow/taskflow.hpp>\n"},
                   ("strategy/a.cpp:1", 'include "runtime/taskflow.hpp"'))
        self.check({"include/troupe/strategy/a.hpp": "#include <taskflow/taskflow.hpp>\n"},
                   ("include/troupe/strategy/a.hpp:1",
                    'include "troupe/runtime/adaptors/taskflow.hpp" instead'))
        for door in ("runtime/taskflow.hpp", "include/troupe/runtime/adaptors/taskflow.hpp"):
            self.check({door: "#include <taskflow/taskflow.hpp>\n"})

    def test_concurrentqueue_by_each_of_its_names(self):
        for name in ("concurrentqueue.h", "moodycamel/concurrentqueue.h",
                     "concurrentqueue/moodycamel/concurrentqueue.h", "blockingconcurrentqueue.h"):
            self.check({"actors/a.cpp": f"#include <{name}>\n"},
                       ("actors/a.cpp:1", 'include "runtime/concurrent_queue.hpp"'))
            self.check({"runtime/concurrent_queue.hpp": f"#include <{name}>\n"})

    def test_a_library_without_a_door(self):
        self.check({"strategy/a.cpp": "#include <boost/hana.hpp>\n"},
                   ("strategy/a.cpp:1", "give its library a door"))
        self.check({"runtime/a.cpp": "#include <sys/eventfd.h>\n#include <unistd.h>\n"})

    def test_comments_and_strings_are_no_includes(self):
        self.check({"actors/a.cpp": '// #include <asio.hpp>\n/*\n#include <asio.hpp>\n*/\n'
                                    'auto s = R"(\n#include <asio.hpp>\n)";\n'})


class Cycles(PlantedTree):
    def check(self, files, *wanted):
        self.plant(files)
        self.expect(list(check_layers.breaches(self.root)), *wanted)

    def test_circle(self):
        self.check({"include/troupe/core/a.hpp": '#include "troupe/core/b.hpp"\n',
                    "include/troupe/core/b.hpp": '\n#include "troupe/core/a.hpp"\n'},
                   ("include/troupe/core/b.hpp:2", "in a circle"))
        self.check({"include/troupe/core/a.hpp": '#include "troupe/core/a.hpp"\n'},
                   ("include/troupe/core/a.hpp:1", "in a circle"))

    def test_diamond_is_no_circle(self):
        self.check({"runtime/a.hpp": '#include "runtime/b.hpp"\n#include "runtime/c.hpp"\n',
                    "runtime/b.hpp": '#include "runtime/d.hpp"\n',
                    "runtime/c.hpp": '#include "runtime/d.hpp"\n', "runtime/d.hpp": ""})
