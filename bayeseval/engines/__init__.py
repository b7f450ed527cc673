"""From counts and a model to a posterior: NUTS on JAX for every model, exact quadrature for two-parameter ones."""
