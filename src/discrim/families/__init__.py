"""From a statistic to a rule: recipes of models, family by family."""
