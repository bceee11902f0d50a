"""Plants documents that differ from their code, and expects them found, or mended."""
import contextlib
import io

from planted import PlantedTree

import snippets

CODE = ("int before;\n  // [step]\n  int a = 1;\n  // [inner]\n    int b = 2;\n  // [/inner]\n"
        "  // [/step]\nint after;\n")


class Snippets(PlantedTree):
    def check(self, document, *wanted, code=CODE, name="docs/a.md"):
        self.plant({"samples/a.cpp": code, name: document})
        text = (self.root / name).read_text()
        self.expect(list(snippets.check(self.root, name, text)), *wanted)

    def fence(self, body, marker="snippet: samples/a.cpp#step", language="cpp"):
        return f"# A\n\n<!-- {marker} -->\n```{language}\n{body}```\n"

    def test_a_fence_equals_its_region(self):
        self.check(self.fence("int a = 1;\n  int b = 2;\n"))
        self.check(self.fence("int b = 2;\n", "snippet: samples/a.cpp#inner"))
        self.check(self.fence("int a = 2;\n  int b = 2;\n"), ("docs/a.md:4", "--write"))
        self.check(self.fence(""), ("docs/a.md:4", "+int a = 1;"))

    def test_a_whole_file(self):
        self.check(self.fence("int x;\n", "snippet: samples/a.cpp"), code="int x;\n")
        self.check(self.fence("int x;\n", "snippet: samples/a.cpp"), ("docs/a.md:4", "differs"))

    def test_regions_that_are_not_there(self):
        self.check(self.fence("", "snippet: samples/b.cpp#x"), ("docs/a.md:4", "there is no file"))
        self.check(self.fence("", "snippet: samples/a.cpp#x"), ("docs/a.md:4", "has no region 'x'"))
        self.check(self.fence(""), ("docs/a.md:4", "has no region 'step'"), code=CODE + CODE)

    def test_cpp_that_nothing_compiles(self):
        self.check("```cpp\nint a;\n```\n", ("README.md:1", "C++ that nothing compiles"),
                   name="README.md")
        self.check("```c++\nint a;\n```\n", ("docs/a.md:1", "C++ that nothing compiles"))
        self.check(self.fence("int a;\n", "wrong"))
        self.check(self.fence("int a;\n", "sketch: needs a cluster"))
        self.check(self.fence("int a;\n", "sketch"), ("docs/a.md:4", "a sketch without a reason"))

    def test_other_languages_are_ignored(self):
        self.check("```sh\n./tests/run\n```\n\n```\n10, 11\n```\n~~~text\n```cpp\n~~~\n")

    def test_fences_in_lists_keep_their_indent(self):
        self.check("1. A\n   <!-- snippet: samples/a.cpp#inner -->\n"
                   "   ```cpp\n   int b = 2;\n   ```\n")

    def run_main(self, *arguments):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = snippets.main(["--root", str(self.root), *arguments])
        return status, output.getvalue()

    def test_write_mends_and_check_agrees(self):
        self.plant({"samples/a.cpp": CODE, "README.md": self.fence("old\n") + "\nrest\n",
                    "docs/b.md": "- x\n  <!-- snippet: samples/a.cpp#inner -->\n  ```cpp\n  ```\n"})
        self.assertEqual(self.run_main()[0], 1)
        self.assertEqual(self.run_main("--write"), (0, "updated README.md\nupdated docs/b.md\n"))
        self.assertEqual(self.run_main("--check"), (0, ""))
        self.assertEqual((self.root / "README.md").read_text(),
                         self.fence("int a = 1;\n  int b = 2;\n") + "\nrest\n")
        self.assertEqual((self.root / "docs/b.md").read_text().splitlines()[3], "  int b = 2;")
        self.assertEqual(self.run_main("--write"), (0, ""))
