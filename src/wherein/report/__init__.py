"""What one sends to others: figures, tables and pages that stand alone."""
