"""A temporary tree for the tests of the checks, and the checks' modules on the path."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))


class PlantedTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def plant(self, files):
        """Writes {path: text} into an otherwise empty tree."""
        for path in sorted(self.root.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def expect(self, found, *wanted):
        """Each of `wanted` is (file:line, part of the message); nothing else may be found."""
        for place, part in wanted:
            hits = [line for line in found if line.startswith(f"{place}: ") and part in line]
            self.assertTrue(hits, f"no '{part}' at {place} in:\n" + "\n".join(found))
        self.assertEqual(len(found), len(wanted), "\n".join(found))
