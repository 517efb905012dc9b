"""Recipes: operations with their options under one name, run one after the other on any chain.

In reading order: `recipe` (the value, and which operations it takes), `recipe_file` (JSON and TOML), `follow` (runs it).
"""

from __future__ import annotations

from chainviz.core.recipes.follow import follow
from chainviz.core.recipes.recipe import ALLOWED, Recipe, Step, make_step, new_step
from chainviz.core.recipes.recipe_file import read_recipe, write_recipe

__all__ = ["ALLOWED", "Recipe", "Step", "follow", "make_step", "new_step", "read_recipe", "write_recipe"]
