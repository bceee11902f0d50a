"""Plants catalogues, tests and documents that disagree, and expects that said, or mended."""
from planted import PlantedTree

import errors

HEADER = ("enum class errc {\n  deadlock = 106,  ///< Nothing can run.\n"
          "  too_long = 403,  ///< Too many steps.\n};\n  other = 7,\n")
CATALOGUE = {"TR-106": "deadlock", "TR-403": "too_long"}
SHOWN = {"TR-106": ["TR-106: nothing can run", "  fix: look"], "TR-403": ["TR-403: too many"]}
DOCUMENT = ("# Errors\n\n### TR-106 `deadlock`\n\nProse.\n\n    TR-106: nothing can run\n"
            "      fix: look\n\nMore.\n\n## Simulation\n\n### TR-403 `too_long`\n\n"
            "```cpp\n# 1 no heading\n    int x;\n```\n\n    TR-403: too many\n")


class Errors(PlantedTree):
    def document(self, text, *wanted, catalogue=None, shown=None):
        found = errors.check_document(text, catalogue or CATALOGUE, shown or SHOWN)
        self.expect(list(found), *wanted)

    def test_the_catalogue_is_the_enumeration(self):
        self.assertEqual(errors.codes(HEADER), CATALOGUE)

    def test_a_document_shows_what_the_tests_print(self):
        self.document(DOCUMENT)
        self.document(DOCUMENT.replace("can run", "runs"), ("docs/errors.md:3", "--write"))
        self.document(DOCUMENT.replace("      fix: look\n", ""), ("docs/errors.md:3", "--write"))
        self.document(DOCUMENT.replace("    TR-403: too many\n", ""),
                      ("docs/errors.md:14", "--write"))

    def test_every_code_has_one_section_and_one_example(self):
        self.document(DOCUMENT, ("docs/errors.md", "### TR-501 `would_block`"),
                      catalogue={**CATALOGUE, "TR-501": "would_block"})
        self.document(DOCUMENT, ("docs/errors.md:3", "no test of TR-106 shows"),
                      shown={"TR-403": SHOWN["TR-403"]})
        self.document(DOCUMENT.replace("`deadlock`", "`hang`"),
                      ("docs/errors.md:3", "there is no TR-106 hang"))
        self.document(DOCUMENT + DOCUMENT[DOCUMENT.index("### TR-403"):],
                      ("docs/errors.md:22", "has a section already, at line 14"))

    def test_every_code_has_a_test(self):
        test = 'TEST_CASE("TR-106 deadlock: nobody answers") {}\n'
        self.plant({"tests/catalogue/runs.test.cpp": test})
        self.expect(list(errors.check_tests(self.root, CATALOGUE)),
                    ("tests/catalogue", 'TEST_CASE("TR-403 too_long: ...")'))
        self.expect(list(errors.check_tests(self.root, {"TR-106": "hang"})),
                    ("tests/catalogue/runs.test.cpp:1", "there is no TR-106 deadlock"))

    def test_write_mends(self):
        torn = DOCUMENT.replace("can run", "runs").replace("\n    TR-403: too many\n", "")
        self.assertEqual(errors.rewritten(torn, SHOWN), DOCUMENT)
        self.assertEqual(errors.rewritten(DOCUMENT, SHOWN), DOCUMENT)
