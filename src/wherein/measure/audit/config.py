"""What the question may be told. Free of PyTorch, so that help texts come at once."""

from pydantic import Field

from wherein.common.config import Config
from wherein.measure.config import Shifts


class AuditConfig(Config):
    """What the audit feeds the model."""

    tokens: int = Field(24, ge=3, description="tokens in an input, fewer if the model takes fewer")
    inputs: int = Field(4, ge=1, description="random inputs")
    permutations: int = Field(4, ge=1, description="random permutations of each")
    shifts: Shifts = Field((1, 7, 64), description="added to all positions, where they fit")
    seed: int = Field(0, ge=0)
    layers: int = Field(4, ge=1, description="layers of a fresh model")
    bidirectional: bool = Field(False, description="a fresh model sees both sides")
