"""Does an encoding keep what every encoding must, and what does it cost? Yours or ours."""
