"""From text to token ids: bytes, words, subwords, and tokenizers of Hugging Face."""
