"""Plants each breach of tidiness and expects it at its line, and not in its clean twin."""
import shutil
import subprocess
import unittest

from planted import PlantedTree

import tidy

HEAD = "// x.cpp - does what it says.\n"
LISTS = {"actors/CMakeLists.txt": "target_sources(troupe PRIVATE x.cpp x.hpp)\n",
         "runtime/CMakeLists.txt": "target_sources(troupe PRIVATE x.cpp)\n",
         "include/CMakeLists.txt": "  troupe/core/x.hpp\n  troupe/runtime/x.hpp\n",
         "samples/CMakeLists.txt": "foreach(name x y)\n",
         "tests/CMakeLists.txt": "x\n"}


class Tidy(PlantedTree):
    def check(self, files, *wanted, lists=True):
        self.plant((LISTS if lists else {}) | files)
        self.expect(tidy.breaches(self.root), *wanted)

    def code(self, line, part=None, path="actors/x.cpp"):
        """Plants one line of code below a good head."""
        with self.subTest(line):
            head = f"// {path.split('/')[-1]} - does what it says.\n"
            head += "#pragma once\n" if path.endswith(".hpp") else "\n"
            self.check({path: head + line + "\n"}, *([(f"{path}:3", part)] if part else []))


class Text(Tidy):
    def test_blanks_and_line_ends(self):
        for text, part in ((b"a\tb\n", "a tab"), (b"a \n", "blanks at the end"),
                           (b"a\r\n", "carriage"),
                           (b"a", "no line feed"),
                           (b"\xef\xbb\xbfa\n", "byte order mark")):
            with self.subTest(text):
                self.check({"docs/a.md": text}, ("docs/a.md:1", part))
        self.check({"docs/a.md": "a\n\n"}, ("docs/a.md:2", "empty lines"))
        self.check({"docs/a.md": b"a\n\nb\n", "docs/b.bin": b"\0\t \r\n", "docs/c.md": b""})

    def test_line_length(self):
        self.code("// " + "x" * 98, "101 columns")
        self.code("// " + "x" * 97)
        self.code("// " + "\u00e4" * 97)
        self.code("// https://" + "x" * 100)
        self.check({"docs/a.md": "x" * 200 + "\n"})
        self.check({"tools/a": "#!/bin/sh\n" + "x" * 101 + "\n"}, ("tools/a:2", "101 columns"))

    def test_open_ends_name_an_issue(self):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            self.code(f"// {word}: later", f"{word} without an issue")
            self.code(f"// {word}(#12): later")

    def test_forbidden_words(self):
        hosts = ("deb.debi" + "an.org", "ftp.de.debi" + "an.org", "security.debi" + "an.org",
                 "archive.ubun" + "tu.com", "py" + "pi.org")
        for host in hosts:
            self.check({"tools/a": f"#!/bin/sh\ncurl http://{host}/x\n"},
                       ("tools/a:2", "package host"))
        for words in ("chat" + "GPT", "AI-gener" + "ated", "Co-auth" + "ored-by: x"):
            self.check({"README.md": f"by {words}\n"}, ("README.md:1", "who wrote this"))
        self.check({"README.md": "see /work" + "/shared/x\n"},
                   ("README.md:1", "path of one machine"))
        self.check({"README.md": "www.debi" + "an.org, a TCP session, an issue, promptly\n"})


class Budgets(Tidy):
    def test_files(self):
        for path, limit in (("include/troupe/core/x.hpp", 250), ("actors/x.cpp", 400),
                            ("tests/unit/x.test.cpp", 300)):
            head = f"// {path.split('/')[-1]} - does.\n#pragma once\n"
            body = "int x;\n" * (limit - 2)
            self.check({path: head + body})
            self.check({path: head + body + "int y;\n"}, (f"{path}:{limit + 1}", "the budget is"))
            lifted = head.replace("#", "// budget: a table of all codes.\n#")
            self.check({path: lifted + body})

    def test_functions(self):
        def function(lines, above=""):
            return HEAD + "\n" + above + "template <class T>\nvoid f(T x) {\n" + "  g();\n" * (
                lines - 3) + "}\n"
        self.check({"actors/x.cpp": function(60)})
        self.check({"actors/x.cpp": function(61)}, ("actors/x.cpp:3", "a function of 61 lines"))
        self.check({"actors/x.cpp": function(61, "// budget: one table.\n")})
        self.check({"actors/x.cpp": function(61, "// budget: one table.\n// Lists all.\n")})
        self.check({"actors/x.cpp": function(61, "// Lists all.\n")},
                   ("actors/x.cpp:4", "61 lines"))

    def test_folders(self):
        files = {f"docs/{i:02}.md": "a\n" for i in range(20)}
        self.check(files)
        self.check(files | {"docs/20.md": "a\n"}, ("docs/20.md:1", "docs has 21 files"))
        self.check({f"tests/unit/{i}.md": "a\n" for i in range(21)})

    def test_links(self):
        text = "# A\n[b](b.md), [up](../README.md), [part](b.md#part)\n```\n[x](none.md)\n```\n"
        files = {"docs/a.md": text, "docs/b.md": "a\n", "README.md": "[d](docs/a.md)\n"}
        self.check(files)
        self.check(files | {"docs/b.md": "a\n\n[c](c.md)\n"},
                   ("docs/b.md:3", "nothing is at c.md"))
        self.check(files | {"docs/b.md": "    f[i](c.md)\n[site](https://x.org/c.md)\n"})


class Bans(Tidy):
    banned = (("std::thread t(f);", "pool_size"), ("std::jthread t(f);", "pool_size"),
              ("auto r = std::async(f);", "async_run"),
              ("std::this_thread::sleep_for(d);", "sleep_for(delay)"),
              ("auto n = std::chrono::steady_clock::now();", "take the time"),
              ("auto n = std::chrono::system_clock :: now();", "take the time"),
              ("using c = std::chrono::high_resolution_clock;", "take the time"),
              ("std::random_device d;", "from the scheduler"),
              ("std::mt19937_64 d;", "from the scheduler"),
              ("int r = rand();", "from the scheduler"),
              ("auto n = std::time(nullptr);", "take the time"),
              ("int f() { return time(0); }", "take the time"),
              ("asio::steady_timer t(x);", "troupe::timer"))

    def test_bans_with_replacements(self):
        for line, part in self.banned:
            self.code(line, part)
            self.code(line, part, "tests/sim/x.test.cpp")

    def test_where_the_bans_do_not_hold(self):
        for line, _ in self.banned:
            for path in ("runtime/x.cpp", "include/troupe/runtime/x.hpp", "tests/stress/x.cpp",
                         "samples/x.cpp"):
                self.code(line, None, path)

    def test_what_only_looks_banned(self):
        for line in ("// std::thread t(f);", 'auto s = "std::thread";', "std::thread::id id;",
                     "nanoseconds time() const;", "auto n = world.time();",
                     "co_await sleep_for(d);",
                     "std::chrono::steady_clock::time_point t;", "int operand(int x);"):
            self.code(line)

    def test_assert(self):
        for path in ("actors/x.cpp", "runtime/x.cpp"):
            self.code("void f() { assert(x); }", "TROUPE_ASSERT", path)
            self.code("#include <cassert>", "TROUPE_ASSERT", path)
            self.code("static_assert(x); TROUPE_ASSERT(x);", None, path)
        self.code("void f() { assert(x); }", None, "tests/unit/x.test.cpp")

    def test_resume(self):
        for line in ("void f() { h.resume(); }", "void f() { p->resume( ); }"):
            self.code(line, "post it")
            self.code(line, None, "runtime/x.cpp")
            self.code(line, None, "tests/unit/x.test.cpp")
        self.code("void f() { h.await_resume(); resume(); }")

    def test_using_namespace_in_headers(self):
        self.code("using namespace std;", "using namespace in a header",
                  "include/troupe/core/x.hpp")
        self.code("using namespace std;")

    def test_unordered_iteration(self):
        wrong = ("std::unordered_map<int, std::vector<int>> m_;\nvoid f() {\n"
                 " for (auto& x : m_) g(x); }\n")
        self.check({"actors/x.cpp": HEAD + wrong}, ("actors/x.cpp:4", "the order of 'm_'"))
        self.check({"actors/x.cpp": HEAD + wrong.replace("unordered_", "")})
        self.check({"actors/x.cpp": HEAD + wrong.replace(": m_", ": other")})
        self.check({"tests/unit/x.cpp": wrong})


class Files(Tidy):
    def test_head_comment(self):
        for path in ("actors/x.cpp", "include/troupe/core/x.hpp", "samples/x.cpp"):
            name, pragma = path.split("/")[-1], "#pragma once\n"
            self.check({path: f"// {name} - does it.\n{pragma}"})
            self.check({path: f"// y.cpp - does it.\n{pragma}"}, (f"{path}:1", "no head comment"))
            self.check({path: f"// {name} - does it\n\n{pragma}"}, (f"{path}:1", "no head comment"))
            self.check({path: pragma}, (f"{path}:1", "no head comment"))
        self.check({"actors/x.cpp": "// x.cpp - does it, and\n// so on.\n"})
        self.check({"samples/x.cpp": "// x.cpp - does it, and\n// so on.\n"},
                   ("samples/x.cpp:1", "in one line"))
        self.check({"tests/unit/x.test.cpp": "// What x promises.\n"})

    def test_pragma_once(self):
        self.check({"actors/x.hpp": "// x.hpp - does it.\n"}, ("actors/x.hpp:1", "#pragma once"))
        self.check({"actors/x.hpp": "// x.hpp - does it.\n#pragma once\n"})

    def test_dead_files(self):
        self.check({"actors/y.cpp": "// y.cpp - does it.\n"}, ("actors/y.cpp:1", "a dead file"))
        self.check({"actors/x.cpp": HEAD}, ("actors/x.cpp:1", "a dead file"), lists=False)
        self.check({"tests/unit/y.test.cpp": "// y\n"}, ("tests/unit/y.test.cpp:1", "dead"))
        self.check({"tests/unit/y.test.cpp": "// y\n", "tests/unit/CMakeLists.txt": "unit/y\n"})
        self.check({"samples/y.cpp": "// y.cpp - shows it.\n"})
        helper = {"tests/support/h.hpp": "#pragma once\n"}
        self.check(helper, ("tests/support/h.hpp:1", "a dead file"))
        self.check(helper | {"tests/unit/x.test.cpp": '#include "tests/support/h.hpp"\n'})

    def test_headers_nobody_installs(self):
        header = "// y.hpp - does it.\n#pragma once\n"
        self.check({"include/troupe/core/y.hpp": header},
                   ("include/troupe/core/y.hpp:1", "a header nobody installs"))
        self.check({"include/troupe/core/x.hpp": header.replace("y", "x")})

    def test_brackets_that_do_not_match(self):
        self.check({"actors/x.cpp": HEAD + "void f() {\n"}, ("actors/x.cpp:2", "has no partner"))

    def test_the_project_without_git_skips_what_is_built(self):
        self.check({"build/x.cpp": "\t\n", "docs/__pycache__/x.pyc": "\t\n"})

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_the_project_with_git_is_what_would_be_committed(self):
        self.plant({".gitignore": "/out/\n", "out/x.md": "\t\n", "new.md": "\ta\n"})
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.expect(tidy.breaches(self.root), ("new.md:1", "a tab"))
