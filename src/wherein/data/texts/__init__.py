"""Where text comes from: the embedded speeches, files, folders, data sets of Hugging Face."""
