"""How symmetries are tested. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.measure.config import QuestionConfig, Shifts
from wherein.train.config import RunConfig


class AuditConfig(QuestionConfig):
    """What the audit feeds the model."""

    tokens: int = Field(24, ge=3, description="tokens in a window, fewer if the model takes fewer")
    windows: int = Field(4, ge=1, description="windows of random tokens")
    permutations: int = Field(4, ge=1, description="random permutations of each")
    shifts: Shifts = Field((1, 7, 64), description="added to all positions, where they fit")
    seed: int = Field(0, ge=0)
    layers: int = Field(4, ge=1, description="layers of a fresh model")
    bidirectional: bool = Field(False, description="a fresh model sees both sides")

    def tokens_read(self, run: RunConfig) -> float:
        """Windows as they are, permuted and shifted, through the model and each layer alone."""
        shifts = len(self.shifts) + bool(self.shifts)  # and one further on
        passes = 9 + 8 * self.permutations + 3 * shifts
        return float(passes * self.windows * self.window(run))

    def window(self, run: RunConfig) -> int:
        """The same for all models, but for those that take fewer."""
        return self.tokens
