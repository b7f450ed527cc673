"""What it takes to tell systems apart, to order several, and how greedy decoding compares with sampling."""
