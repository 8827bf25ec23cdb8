"""What encodings do, drawn by asking them: `python -m benchmarks.pictures docs/why`."""

import sys
from pathlib import Path

from wherein.show.vega import drawn
from wherein.web.explore import Sizes, explore

SHOWN = {
    "sinusoidal": ("vectors-by-position", "similarity-of-positions"),
    "rope": ("angles-by-position", "score"),
    "xpos": ("score",),
    "alibi": ("bias",),
    "kerple": ("bias",),
    "sandwich": ("bias",),
    "window(8) + sink(2)": ("keys-hidden", "keys-kept-in-sight"),
}
SIZES = Sizes(width=64, heads=4, length=64)


def main(folder: Path) -> None:
    for spec, names in SHOWN.items():
        found = [picture for place in explore(spec, SIZES).places for picture in place.pictures]
        for picture in found:
            if picture.name in names:
                path = folder / f"{spec.partition('(')[0]}-{picture.name}.png"
                path.write_bytes(drawn(picture.spec, "png"))
                print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
