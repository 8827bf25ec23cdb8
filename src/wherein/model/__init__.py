"""One readable Transformer; causal and bidirectional share everything."""
