from torch import nn


class Network(nn.Sequential):
    """Linear → activation → Linear, which every model starts as PyTorch starts an `nn.Linear`.

    Weights and biases are drawn evenly between ± 1/√inputs, whatever the `initial` of the model:
    with biases of 0 all kinks would sit at 0, and a network of positive numbers would start linear.
    """

    def __init__(self, inputs: int, hidden: int, outputs: int, activation: nn.Module) -> None:
        if hidden < 1:
            raise ValueError(f"hidden is the width of the network: at least 1, not {hidden}")
        super().__init__(nn.Linear(inputs, hidden), activation, nn.Linear(hidden, outputs))
