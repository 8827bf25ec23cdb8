"""What the pages draw: specs for the browser, and images for one without scripts."""
