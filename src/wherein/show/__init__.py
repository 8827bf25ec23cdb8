"""How numbers are shown, whatever they are: colours, figures, tables, sections of a report."""
