"""Is A better than B? Differences of two systems, ranks of many, and what shared noise of generations brings."""
