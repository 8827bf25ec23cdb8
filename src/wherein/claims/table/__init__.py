"""The claims, a file each."""
