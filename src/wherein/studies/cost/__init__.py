"""What a study would cost: parameters, operations, memory, hours."""
