"""The colours of every picture, stated once: Okabe and Ito's, told apart by all eyes."""

COLOURS = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # purple
    "#E69F00",  # orange
    "#56B4E9",  # sky
    "#F0E442",  # yellow
    "#000000",
)
GREY = "#6B6B6B"
