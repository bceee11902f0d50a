"""Plants each coroutine form that is wrong, and beside it the form to write instead."""
from planted import PlantedTree

import check_coroutines


class Forms(PlantedTree):
    def found(self, code, name="actors/x.cpp"):
        self.plant({name: code})
        return check_coroutines.breaches([self.root / name], self.root)

    def body(self, statements):
        return f"task<int> f(bool a) {{\n  int k = 0;\n  {statements}\n  co_return k;\n}}\n"

    def wrong(self, part, *statements):
        for text in statements:
            with self.subTest(text):
                self.expect(self.found(self.body(text)), ("actors/x.cpp:3", part))

    def right(self, *statements):
        for text in statements:
            with self.subTest(text):
                self.expect(self.found(self.body(text)))

    def test_operand_of_and_or(self):
        self.wrong("operand of &&", "while (a && co_await g()) h();",
                   "co_return a && co_await g();",
                   "for (; a && co_await g();) h();", "k = h(a && co_await g());",
                   "bool r = a && (k == co_await g());", "if (!(co_await g() && a)) h();",
                   "auto r = (co_await g(i) && ...);", "auto b = a && co_await g();")
        self.wrong("operand of ||", "if (!a || co_await g()) h();")
        self.wrong("operand of or", "if (a or co_await g()) h();")
        self.right("if (a) { bool r = co_await g(); h(r); }", "k = co_await g(a && b);",
                   "auto&& r = co_await g();", "k = co_await g(static_cast<T&&>(t));",
                   "auto r = co_await g<T&&>(t);", "for (auto&& x : co_await g()) h(x);",
                   "k = h(a, co_await g()); if (a && b) h();", "bool r = a && b; co_await g(r);",
                   "auto l = [](T&& x) -> task<> { co_await g(x); };",
                   "auto s = \"a && co_await b\"; // a && co_await b")

    def test_ternary(self):
        self.wrong("?: in one", "k = a ? co_await g() : 0;", "k = co_await g(a ? x : y);",
                   "co_return co_await g() ? 1 : 2;", "if (a ? co_await g() : 0) h();",
                   "for (int x : a ? co_await g() : y) h(x);", "throw h(a ? co_await g() : 0);")
        self.right("int r = a ? 1 : 2; k = co_await g(r);", "k = co_await g('?');",
                   "auto l = [](int x) { return x ? 1 : 2; }; k = co_await g(l);")

    def test_braces(self):
        self.wrong("braces in one", "co_await g(T{1});", "co_await g({1, 2});",
                   "T x{co_await g()};",
                   "k = h(T{}, co_await g());", "std::vector<int> v{co_await g(), 2};",
                   "co_await T{1};", "co_yield T{1};", "v = {co_await g()};",
                   "co_return T{co_await g(), 1};", "if (k = 1; co_await g(T{1})) h();")
        self.right("T x{1}; co_await g(std::move(x));", "co_return T{1};", "k = co_await g(T(1));",
                   "if (a) { k = co_await g(); }", "auto l = [] { return T{1}; }; co_await g(l);",
                   "co_await g([] { return T{1}; });", "struct local { int x{1}; }; co_await g();",
                   "for (int x : {1, 2}) { k = co_await g(x); }",
                   "switch (k) { case 1: { co_await g(); } default: { h(T{1}); } }")

    def test_capturing_lambda_beside(self):
        self.wrong("a capturing lambda in one", "co_await g([k] { return k; });",
                   "k = h([&] { return 1; }, co_await g());", "co_await g(h([this] { m(); }));",
                   "co_await g([x = std::move(y)](auto z) mutable noexcept -> int { return z; });")
        self.right("auto l = [k] { return k; }; co_await g(std::move(l));",
                   "co_await g([] { return 1; });", "co_await g(v[k]);",
                   "auto [x, y] = co_await g();",
                   "[[maybe_unused]] auto r = co_await g();", "delete[] p; co_await g();")

    def test_capturing_lambda_is_a_coroutine(self):
        self.wrong("a capturing lambda is a coroutine",
                   "auto l = [k]() -> task<int> { co_return k; };",
                   "auto l = [&] { return [x = 1]() -> task<> { co_await g(x); }; };")
        self.right("auto l = [](int k) -> task<int> { co_return k; };",
                   "auto l = [k] { return [](int x) -> task<int> { co_return x; }(k); };")

    def test_macro_argument(self):
        self.wrong("argument of macro CHECK", "CHECK(co_await g() == 1);")
        self.wrong("argument of macro assert", "assert(co_await g());")
        self.right("k = co_await g(); CHECK(k == 1);",
                   "CHECK(h([](int x) -> task<> { co_await g(x); }));")

    def test_condition_of_a_coroutine_without_a_variable(self):
        for text in ("if (co_await g()) co_return 1;", "while (co_await g()) h();",
                     "switch (co_await g()) { case 1: h(); }", "for (; co_await g();) h();",
                     "h(1); { if (!co_await g()) co_return 1; }"):
            with self.subTest(text):
                self.expect(self.found(f"task<int> f() {{\n{text}\nco_return 0; }}\n"),
                            ("actors/x.cpp:2", "declares no variable"))
        for text in ("const bool r = co_await g(); if (r) co_return 1;",
                     "if (bool r = co_await g()) h();", "int k; if (co_await g()) h();",
                     "for (auto& x : y) { if (co_await g(x)) h(); }",
                     "if (co_await g()) { std::vector<int> v; }",
                     "using T = int; while (co_await g()) h();",
                     "try { if (co_await g()) h(); } catch (const error& e) { }"):
            with self.subTest(text):
                self.expect(self.found(f"task<int> f() {{\n{text}\nco_return 0; }}\n"))
        self.expect(self.found("auto l = [](bool a) -> task<> { if (co_await g(a)) h(); };\n"))

    def test_condition_of_do_while(self):
        self.wrong("condition of do-while", "do { h(); } while (co_await g());")
        self.right("while (true) { h(); const bool more = co_await g(); if (!more) break; }",
                   "do { k = co_await g(); } while (k > 0);")

    def test_catch(self):
        self.wrong("in a catch handler", "try { h(); } catch (...) { co_await g(); }",
                   "try { h(); } catch (const error& e) { if (a) { k = co_await g(); } }")
        self.right("std::exception_ptr e; try { h(); } catch (...) { e = now(); }"
                   " if (e) { co_await g(); }", "try { h(); } catch (...) { co_return 1; }")

    def test_lock(self):
        self.wrong("'l' (line 3) is held", "std::lock_guard<std::mutex> l(m); co_await g();",
                   "std::unique_lock l(m); if (a) { co_await g(); }",
                   "{ std::scoped_lock l(m, n); while (a) { k = co_await g(); } }",
                   "if (std::unique_lock l(m); a) { co_await g(); }",
                   "std::unique_lock l(m); l.unlock(); l.lock(); co_await g();")
        self.right("{ std::scoped_lock l(m); h(); } co_await g();",
                   "std::unique_lock l(m); h(); l.unlock(); co_await g();",
                   "auto l = co_await m.lock(); co_await g();",
                   "std::scoped_lock l(m); auto c = [](int x) -> task<> { co_await g(x); };")

    def test_aggregates(self):
        held = "struct m { std::string s; int n; };\n"
        made = "struct m { m(std::string a) : s(a) {} std::string s; };\n"
        flat = "enum class e { a };\nstruct m { int* p; e n = e::a; };\n"
        use = "task<int> f() { int k = co_await g(m(t, 1)); co_return k; }\n"
        self.expect(self.found(held + use), ("actors/x.cpp:2", "'m' has no constructor"))
        self.expect(self.found(made + use))
        self.expect(self.found(flat + use))
        default = "task<int> f(m options = {});\n"
        self.expect(self.found(held + default), ("actors/x.cpp:2", "a default argument in braces"))
        self.expect(self.found(held + "task<int> f(m options = m());\n"))
        self.expect(self.found(held + "task<int> f(int m = {});\n"))
        self.expect(self.found(flat + default))
        self.expect(self.found("task<int> f(std::vector<int> v = {1});\n"),
                    ("actors/x.cpp:1", "a default argument in braces"))
        awaiter = "bool await_ready(); void await_suspend(handle); int await_resume(); };\n"
        self.expect(self.found("struct w {\n std::string s;\n" + awaiter),
                    ("actors/x.cpp:1", "'w' is awaited"))
        self.expect(self.found("struct w { explicit w(int n);\n std::string s;\n" + awaiter))
        self.expect(self.found("struct w {\n std::coroutine_handle<> h;\n" + awaiter))


class Reading(PlantedTree):
    def found(self, code, name="actors/x.cpp"):
        self.plant({name: code})
        return check_coroutines.breaches([self.root / name], self.root)

    def test_comment_allows_one_statement(self):
        planted = "task<> f() {{\n  int k;\n{}\n  k = a ? co_await g() : 0;{}\n}}\n"
        self.expect(self.found(planted.format("  // coroutine-form: the test is about it.", "")))
        self.expect(self.found(planted.format("", "  // coroutine-form: the test is about it.")))
        self.expect(self.found(planted.format("  // coroutine-form:", "")),
                    ("actors/x.cpp:3", "without a reason"), ("actors/x.cpp:4", "?: in one"))
        early = planted.format("", "").replace("k;", "k;  // coroutine-form: early")
        self.expect(self.found(early),
                    ("actors/x.cpp:2", "allows nothing"), ("actors/x.cpp:4", "?: in one"))
        twice = "  // coroutine-form: once.\n  co_await T{1}; co_await T{2};"
        self.expect(self.found(f"task<> f() {{\n{twice}\n}}\n"), ("actors/x.cpp:3", "braces"))

    def test_lines_stay_right_through_everything_that_is_no_code(self):
        code = ('R"x(\n a ? co_await b : c )" )x";\n#define X a ? \\\n  co_await b : c\n'
                "/* a\n && co_await b */ int n = 1'000'000; char c = '\"';\n"
                "task<> f() { T x{co_await g()}; }\n")
        self.expect(self.found("auto s = " + code), ("actors/x.cpp:7", "braces"))

    def test_operator_co_await_is_no_await(self):
        code = "struct s { auto operator co_await() && { return a ? T{1} : T{2}; } };"
        self.expect(self.found(code))

    def test_templates_classes_and_initialisers_around(self):
        code = ("template <class T = int, auto N = 3>\n  requires requires(T t) { t.x; }\n"
                "class [[nodiscard(\"x\")]] c : public b<T> {\n public:\n"
                "  c(int n) noexcept : b<T>{n}, x_{n} { h(); }\n"
                "  task<> m() const && requires (N > 2) { T x{co_await g()}; }\n"
                "  auto n() -> std::vector<T> try { co_return; } catch (...) { co_await g(); }\n"
                "  int x_{3};\n};\n")
        self.expect(self.found(code), ("actors/x.cpp:6", "braces"), ("actors/x.cpp:7", "catch"))

    def test_branches_of_an_if_that_share_a_bracket(self):
        code = "#if A\ntask<> f() {\n#else\ntask<> f(int) {\n#endif\n  T x{co_await g()};\n}\n"
        self.expect(self.found(code), ("actors/x.cpp:6", "braces"))
        self.expect(self.found("void f() {\n  g(;\n}\n"), ("actors/x.cpp:2", "has no partner"))

    def test_documents(self):
        block = "```cpp\nint r = a ? co_await g() : 0;\n```\n"
        self.expect(self.found("# A\n\n" + block, "docs/a.md"), ("docs/a.md:4", "?: in one"))
        self.expect(self.found("# A\n\n<!-- wrong -->\n" + block, "docs/a.md"))
        self.expect(self.found("# A\n\n" + block.replace("cpp", "text"), "docs/a.md"))

    def test_files_of_the_project(self):
        planted = "task<> f() { T x{co_await g()}; }\n"
        folders = ("include/troupe/core", "runtime", "actors", "strategy", "samples", "tests/unit",
                   "bench")
        self.plant({f"{folder}/x.cpp": planted for folder in folders}
                   | {"README.md": f"```cpp\n{planted}```\n", "build/x.cpp": planted})
        found = check_coroutines.breaches(check_coroutines.project_files(self.root), self.root)
        self.expect(found, ("README.md:2", "braces"),
                    *((f"{folder}/x.cpp:1", "braces") for folder in folders))

    def test_paths_of_a_user(self):
        self.plant({"mine/a.cc": "task<> f() { T x{co_await g()}; }\n",
                    "mine/b.txt": "co_await {}"})
        files = check_coroutines.user_files([self.root / "mine"])
        self.expect(check_coroutines.breaches(files, None), (f"{self.root}/mine/a.cc:1", "braces"))
        with self.assertRaises(SystemExit):
            list(check_coroutines.user_files([self.root / "none"]))
