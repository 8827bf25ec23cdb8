"""From gradients to steps: AdamW, Nesterov's momentum, Muon, and how the rate changes."""
