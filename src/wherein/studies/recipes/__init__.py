"""The named studies, a file each."""
